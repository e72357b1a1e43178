/* Random numbers: the known answers of Philox 4x32-10 (its authors' kat_vectors), and the distributions. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"

#define COUNT 100000

static void zeros_give_the_published_words(void **state)
{
    ingot_random_bits x = ingot_random_draw(0, 0);
    assert_int_equal(x.word[0], 0x6627e8d5u);
    assert_int_equal(x.word[1], 0xe169c58du);
    assert_int_equal(x.word[2], 0xbc57ac4cu);
    assert_int_equal(x.word[3], 0x9b00dbd8u);
}

/* Mean, variance and fourth moment about the mean. */
static void moments(double (*draw)(uint64_t), double result[3])
{
    double sum = 0, second = 0, fourth = 0;
    for (uint64_t i = 0; i < COUNT; i++)
        sum += draw(i);
    result[0] = sum / COUNT;
    for (uint64_t i = 0; i < COUNT; i++) {
        double square = (draw(i) - result[0]) * (draw(i) - result[0]);
        second += square;
        fourth += square * square;
    }
    result[1] = second / COUNT;
    result[2] = fourth / COUNT;
}

static double uniform(uint64_t place)
{
    double x = ingot_random_uniform(1, place, 53);
    assert_true(x >= 0 && x < 1);
    return x;
}

static double normal(uint64_t place)
{
    return ingot_random_normal(1, place);
}

static void uniform_numbers_have_the_moments_of_their_distribution(void **state)
{
    double m[3];
    moments(uniform, m);
    assert_true(fabs(m[0] - .5) < .005 && fabs(m[1] - 1 / 12.) < .002 && fabs(m[2] - 1 / 80.) < .0005);
}

static void normal_numbers_have_the_moments_of_their_distribution(void **state)
{
    double m[3];
    moments(normal, m);
    assert_true(fabs(m[0]) < .015 && fabs(m[1] - 1) < .02 && fabs(m[2] - 3) < .15);
}

static void few_digits_never_round_up_to_one(void **state)
{
    for (uint64_t i = 0; i < COUNT; i++) {
        double x = ingot_random_uniform(2, i, 8);
        assert_true(x >= 0 && x <= 255 / 256. && x * 256 == floor(x * 256));
    }
}

static void new_keys_differ(void **state)
{
    uint64_t one = ingot_random_new_key(), two = ingot_random_new_key(), three = ingot_random_new_key();
    assert_true(one != two && two != three && one != three);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zeros_give_the_published_words),
        cmocka_unit_test(uniform_numbers_have_the_moments_of_their_distribution),
        cmocka_unit_test(normal_numbers_have_the_moments_of_their_distribution),
        cmocka_unit_test(few_digits_never_round_up_to_one),
        cmocka_unit_test(new_keys_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

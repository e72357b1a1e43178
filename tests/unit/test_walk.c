/* Walks over strided data: order, merging, broadcasting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cpu/ref/ref_iterate.h"

/* Collects the offsets of one operand, element by element; returns how many. */
static size_t collect(ingot_walk *walk, int operand, int64_t *offsets, size_t *runs)
{
    size_t count = 0;
    *runs = 0;
    for (bool more = ingot_walk_begin(walk); more; more = ingot_walk_next(walk), ++*runs)
        for (size_t i = 0; i < walk->run; i++)
            offsets[count++] = walk->offset[operand] + (int64_t)i * walk->step[operand];
    return count;
}

static void plain_data_is_one_run(void **state)
{
    const int64_t dims[] = {2, 3, 4};
    int64_t offsets[24];
    size_t runs;
    ingot_walk walk;
    ingot_walk_init(&walk, 3, dims);
    ingot_walk_add_broadcast(&walk, 3, dims);
    assert_int_equal(collect(&walk, 1, offsets, &runs), 24);
    assert_int_equal(runs, 1);
    for (int i = 0; i < 24; i++)
        assert_int_equal(offsets[i], i);
}

static void broadcast_axes_repeat_elements(void **state)
{
    const int64_t dims[] = {2, 3, 2}, own[] = {3, 1};
    const int64_t want[] = {0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2};
    int64_t offsets[12];
    size_t runs;
    ingot_walk walk;
    ingot_walk_init(&walk, 3, dims);
    ingot_walk_add_broadcast(&walk, 2, own);
    assert_int_equal(collect(&walk, 1, offsets, &runs), 12);
    for (int i = 0; i < 12; i++)
        assert_int_equal(offsets[i], want[i]);
}

static void strides_may_be_negative(void **state)
{
    const int64_t dims[] = {2, 2}, strides[] = {1, -2}, want[] = {2, 0, 3, 1};
    int64_t offsets[4];
    size_t runs;
    ingot_walk walk;
    ingot_walk_init_bare(&walk, 2, dims);
    ingot_walk_add_strided(&walk, strides, 2);
    assert_int_equal(collect(&walk, 0, offsets, &runs), 4);
    for (int i = 0; i < 4; i++)
        assert_int_equal(offsets[i], want[i]);
}

static void a_scalar_is_one_element(void **state)
{
    int64_t offsets[1];
    size_t runs;
    ingot_walk walk;
    ingot_walk_init(&walk, 0, NULL);
    assert_int_equal(collect(&walk, 0, offsets, &runs), 1);
    assert_int_equal(offsets[0], 0);
}

static void an_empty_shape_has_no_run_whatever_the_other_sizes(void **state)
{
    const int64_t dims[] = {INT64_MAX / 2, INT64_MAX / 2, 0};
    ingot_walk walk;
    ingot_walk_init(&walk, 3, dims);
    assert_false(ingot_walk_begin(&walk));
}

static void a_split_has_outer_size_and_inner(void **state)
{
    const int64_t dims[] = {2, 3, 4, 5};
    ingot_split split = ingot_split_at(4, dims, 2);
    assert_int_equal(split.outer, 6);
    assert_int_equal(split.size, 4);
    assert_int_equal(split.inner, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_data_is_one_run),
        cmocka_unit_test(broadcast_axes_repeat_elements),
        cmocka_unit_test(strides_may_be_negative),
        cmocka_unit_test(a_scalar_is_one_element),
        cmocka_unit_test(an_empty_shape_has_no_run_whatever_the_other_sizes),
        cmocka_unit_test(a_split_has_outer_size_and_inner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

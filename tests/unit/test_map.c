/* The map of names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>

#include "base/map.h"

static void an_empty_map_holds_nothing(void **state)
{
    ingot_map map = {0};
    assert_null(ingot_map_get(&map, "a", 1));
    ingot_map_remove(&map, "a", 1);
    ingot_map_clear(&map);
}

static void names_are_told_apart_by_length_and_bytes(void **state)
{
    ingot_map map = {0};
    int values[5];
    void *previous = &map;
    assert_int_equal(ingot_map_put(&map, "ab", 2, &values[0], &previous, NULL), INGOT_OK);
    assert_null(previous);
    assert_int_equal(ingot_map_put(&map, "ab", 1, &values[1], NULL, NULL), INGOT_OK);
    assert_int_equal(ingot_map_put(&map, "a\0b", 3, &values[2], NULL, NULL), INGOT_OK);
    assert_int_equal(ingot_map_put(&map, NULL, 0, &values[3], NULL, NULL), INGOT_OK);
    assert_ptr_equal(ingot_map_get(&map, "ab", 2), &values[0]);
    assert_ptr_equal(ingot_map_get(&map, "a", 1), &values[1]);
    assert_ptr_equal(ingot_map_get(&map, "a\0b", 3), &values[2]);
    assert_ptr_equal(ingot_map_get(&map, "", 0), &values[3]);
    assert_null(ingot_map_get(&map, "b", 1));
    assert_int_equal(ingot_map_put(&map, "ab", 2, &values[4], &previous, NULL), INGOT_OK);
    assert_ptr_equal(previous, &values[0]);
    assert_int_equal(map.count, 4);
    ingot_map_clear(&map);
}

static void a_thousand_names_survive_growth_and_removal(void **state)
{
    static char names[1000][32];
    ingot_map map = {0};
    for (int i = 0; i < 1000; i++) {
        snprintf(names[i], sizeof names[i], "node_%d", i);
        assert_int_equal(ingot_map_put(&map, names[i], strlen(names[i]), names[i], NULL, NULL), INGOT_OK);
    }
    for (int i = 0; i < 1000; i += 3)
        ingot_map_remove(&map, names[i], strlen(names[i]));
    ingot_map_remove(&map, "node_0", 6);
    for (int i = 0; i < 1000; i++)
        assert_ptr_equal(ingot_map_get(&map, names[i], strlen(names[i])), i % 3 ? names[i] : NULL);
    assert_int_equal(map.count, 666);
    ingot_map_clear(&map);
}

static bool refuse(size_t size)
{
    return false;
}

static void a_failed_growth_changes_nothing(void **state)
{
    ingot_map map = {0};
    ingot_error error = {0};
    ingot_set_allocation_hook(refuse);
    assert_int_equal(ingot_map_put(&map, "a", 1, &map, NULL, &error), INGOT_OUT_OF_MEMORY);
    ingot_set_allocation_hook(NULL);
    assert_int_equal(map.count, 0);
    ingot_map_clear(&map);
}

static void the_hash_depends_on_every_byte_the_length_and_the_seed(void **state)
{
    unsigned char bytes[70] = {0};
    for (size_t size = 0; size < sizeof bytes; size++) {
        const uint64_t hash = ingot_hash_bytes(bytes, size, 1);
        assert_true(hash == ingot_hash_bytes(bytes, size, 1));
        assert_true(hash != ingot_hash_bytes(bytes, size, 2));
        assert_true(hash != ingot_hash_bytes(bytes, size + 1, 1));
        for (size_t i = 0; i < size; i++) {
            bytes[i] ^= 0x80;
            assert_true(hash != ingot_hash_bytes(bytes, size, 1));
            bytes[i] ^= 0x80;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_map_holds_nothing),
        cmocka_unit_test(names_are_told_apart_by_length_and_bytes),
        cmocka_unit_test(a_thousand_names_survive_growth_and_removal),
        cmocka_unit_test(a_failed_growth_changes_nothing),
        cmocka_unit_test(the_hash_depends_on_every_byte_the_length_and_the_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

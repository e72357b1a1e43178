/* Values: reuse of memory, strings, lists, copies, text, and the public functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/value.h"

static size_t allocations;

static bool count_allocations(size_t size)
{
    allocations++;
    return true;
}

static void a_warm_tensor_keeps_its_memory(void **state)
{
    ingot_value v;
    ingot_value_init(&v);
    assert_int_equal(v.kind, INGOT_KIND_NONE);
    assert_int_equal(ingot_value_set_tensor(&v, INGOT_FLOAT, 2, (int64_t[]){30, 50}, NULL), INGOT_OK);
    assert_int_equal((uintptr_t)v.data % INGOT_ALIGNMENT, 0);
    void *data = v.data;
    allocations = 0;
    ingot_set_allocation_hook(count_allocations);
    assert_int_equal(ingot_value_set_tensor(&v, INGOT_INT8, 1, (int64_t[]){7}, NULL), INGOT_OK);
    assert_int_equal(ingot_value_set_tensor(&v, INGOT_DOUBLE, 2, (int64_t[]){15, 50}, NULL), INGOT_OK);
    assert_int_equal(allocations, 0);
    ingot_set_allocation_hook(NULL);
    assert_ptr_equal(v.data, data);
    assert_int_equal(ingot_value_bytes(&v), 6000);
    assert_int_equal(ingot_value_set_tensor(&v, INGOT_DOUBLE, 2, (int64_t[]){16, 50}, NULL), INGOT_OK);
    assert_true(v.capacity >= 6400);
    ingot_value_clear(&v);
    assert_null(v.data);
}

static bool refuse(size_t size)
{
    return false;
}

static void impossible_shapes_change_nothing(void **state)
{
    ingot_value v;
    ingot_value_init(&v);
    assert_int_equal(ingot_value_set_tensor(&v, INGOT_FLOAT, 1, (int64_t[]){3}, NULL), INGOT_OK);
    ingot_error error = {0};
    assert_int_equal(ingot_value_set_tensor(&v, INGOT_FLOAT, 1, (int64_t[]){-3}, &error), INGOT_INVALID_ARGUMENT);
    assert_int_equal(ingot_value_set_tensor(&v, INGOT_FLOAT, 2, (int64_t[]){INT64_MAX, 2}, NULL),
                     INGOT_INVALID_ARGUMENT);
    assert_int_equal(ingot_value_set_tensor(&v, INGOT_FLOAT, 17, v.dims, NULL), INGOT_INVALID_ARGUMENT);
    assert_int_equal(ingot_value_set_tensor(&v, INGOT_UNDEFINED, 0, NULL, NULL), INGOT_INVALID_ARGUMENT);
    ingot_set_allocation_hook(refuse);
    assert_int_equal(ingot_value_set_tensor(&v, INGOT_FLOAT, 1, (int64_t[]){4}, NULL), INGOT_OUT_OF_MEMORY);
    ingot_set_allocation_hook(NULL);
    assert_int_equal(v.dims[0], 3);
    assert_int_equal(v.element, INGOT_FLOAT);
    ingot_value_clear(&v);
}

static void fixed_memory_is_never_replaced(void **state)
{
    float memory[8];
    ingot_value v;
    ingot_value_init(&v);
    ingot_value_set_view(&v, INGOT_FLOAT, 1, (int64_t[]){8}, memory, sizeof memory);
    v.fixed = true;
    assert_int_equal(ingot_value_set_tensor(&v, INGOT_FLOAT, 1, (int64_t[]){4}, NULL), INGOT_OK);
    assert_ptr_equal(v.data, memory);
    assert_int_equal(ingot_value_set_tensor(&v, INGOT_FLOAT, 1, (int64_t[]){9}, NULL), INGOT_INTERNAL);
    assert_ptr_equal(v.data, memory);
    ingot_value_clear(&v);
}

static void a_view_without_capacity_is_not_written(void **state)
{
    float memory[8];
    ingot_value v;
    ingot_value_init(&v);
    assert_int_equal(ingot_value_set_tensor(&v, INGOT_FLOAT, 1, (int64_t[]){4}, NULL), INGOT_OK);
    ingot_value_set_view(&v, INGOT_FLOAT, 1, (int64_t[]){8}, memory, 0); /* frees what v owned */
    assert_ptr_equal(ingot_value_data(&v), memory);
    assert_int_equal(ingot_value_set_tensor(&v, INGOT_FLOAT, 1, (int64_t[]){8}, NULL), INGOT_OK);
    assert_ptr_not_equal(v.data, memory);
    ingot_value_clear(&v);
}

static void expect_text(const ingot_value *v, size_t index, const char *text, size_t length)
{
    size_t found;
    const char *string = ingot_value_string(v, index, &found);
    assert_non_null(string);
    assert_int_equal(found, length);
    assert_memory_equal(string, text, length);
}

static void strings_live_in_the_heap_of_their_value(void **state)
{
    ingot_value v, copy;
    ingot_value_init(&v);
    ingot_value_init(&copy);
    assert_int_equal(ingot_value_set_tensor(&v, INGOT_STRING, 1, (int64_t[]){3}, NULL), INGOT_OK);
    expect_text(&v, 2, "", 0);
    assert_int_equal(ingot_value_set_string(&v, 0, "with\0null", 9, NULL), INGOT_OK);
    for (int i = 0; i < 20; i++) { /* a string of the value itself, while its heap moves */
        size_t length;
        const char *text = ingot_value_string(&v, 0, &length);
        assert_int_equal(ingot_value_set_string(&v, 1, text, length, NULL), INGOT_OK);
    }
    expect_text(&v, 0, "with\0null", 9);
    expect_text(&v, 1, "with\0null", 9);
    assert_int_equal(ingot_value_bytes(&v), 18);
    assert_null(ingot_value_data(&v));
    assert_null(ingot_value_string(&v, 3, NULL));
    assert_int_equal(ingot_value_set_string(&v, 3, "x", 1, NULL), INGOT_INTERNAL);

    assert_int_equal(ingot_value_copy(&copy, &v, NULL), INGOT_OK);
    ingot_value_clear(&v);
    expect_text(&copy, 1, "with\0null", 9);
    allocations = 0;
    ingot_set_allocation_hook(count_allocations);
    assert_int_equal(ingot_value_set_tensor(&copy, INGOT_STRING, 1, (int64_t[]){2}, NULL), INGOT_OK);
    assert_int_equal(ingot_value_set_string(&copy, 1, "again", 5, NULL), INGOT_OK);
    ingot_set_allocation_hook(NULL);
    assert_int_equal(allocations, 0);
    expect_text(&copy, 0, "", 0);
    ingot_value_clear(&copy);
}

static void build_sequence(ingot_value *v, size_t count)
{
    assert_int_equal(ingot_value_set_list(v, INGOT_KIND_SEQUENCE, INGOT_FLOAT, NULL), INGOT_OK);
    for (size_t i = 0; i < count; i++) {
        ingot_value *item;
        assert_int_equal(ingot_value_add_item(v, &item, NULL), INGOT_OK);
        assert_int_equal(item->kind, INGOT_KIND_NONE);
        assert_int_equal(ingot_value_set_tensor(item, INGOT_FLOAT, 1, (int64_t[]){3}, NULL), INGOT_OK);
        ((float *)item->data)[0] = (float)i;
    }
}

static void a_warm_sequence_keeps_its_items(void **state)
{
    ingot_value v;
    ingot_value_init(&v);
    build_sequence(&v, 9);
    allocations = 0;
    ingot_set_allocation_hook(count_allocations);
    build_sequence(&v, 4);
    assert_int_equal(ingot_value_item_count(&v), 4);
    assert_int_equal(ingot_value_set_list(&v, INGOT_KIND_OPTIONAL, INGOT_FLOAT, NULL), INGOT_OK);
    assert_null(ingot_value_optional_item(&v));
    build_sequence(&v, 9);
    ingot_set_allocation_hook(NULL);
    assert_int_equal(allocations, 0);
    assert_true(((const float *)ingot_value_data(ingot_value_item(&v, 8)))[0] == 8);
    assert_null(ingot_value_item(&v, 9));
    ingot_value_clear(&v);
}

static void lists_hold_what_their_kind_allows(void **state)
{
    ingot_value v, *item;
    ingot_value_init(&v);
    assert_int_equal(ingot_value_add_item(&v, &item, NULL), INGOT_INTERNAL);
    assert_int_equal(ingot_value_set_list(&v, INGOT_KIND_TENSOR, INGOT_FLOAT, NULL), INGOT_INTERNAL);
    assert_int_equal(ingot_value_set_list(&v, INGOT_KIND_OPTIONAL, INGOT_FLOAT, NULL), INGOT_OK);
    assert_int_equal(ingot_value_add_item(&v, &item, NULL), INGOT_OK);
    assert_int_equal(ingot_value_add_item(&v, &item, NULL), INGOT_INTERNAL);
    ingot_value_clear(&v);
}

static void copies_are_deep(void **state)
{
    ingot_value v, copy;
    ingot_value_init(&v);
    ingot_value_init(&copy);
    build_sequence(&v, 3);
    assert_int_equal(ingot_value_copy(&copy, &v, NULL), INGOT_OK);
    assert_int_equal(ingot_value_copy(&copy, &copy, NULL), INGOT_OK);
    ingot_value_clear(&v);
    assert_int_equal(ingot_value_item_count(&copy), 3);
    assert_true(((const float *)ingot_value_data(ingot_value_item(&copy, 2)))[0] == 2);
    assert_int_equal(ingot_value_copy(&copy, &v, NULL), INGOT_OK);
    assert_int_equal(copy.kind, INGOT_KIND_NONE);
    ingot_value_clear(&copy);
}

static void values_are_described_for_messages(void **state)
{
    ingot_value v;
    char text[64], small[8];
    ingot_value_init(&v);
    assert_string_equal(ingot_value_describe(&v, text, sizeof text), "nothing");
    assert_int_equal(ingot_value_set_tensor(&v, INGOT_FLOAT, 2, (int64_t[]){2, 3}, NULL), INGOT_OK);
    assert_string_equal(ingot_value_describe(&v, text, sizeof text), "float[2,3]");
    assert_string_equal(ingot_value_describe(&v, small, sizeof small), "float[2");
    build_sequence(&v, 3);
    assert_string_equal(ingot_value_describe(&v, text, sizeof text), "sequence of 3");
    assert_string_equal(ingot_dims_describe(3, (int64_t[]){1, -1, 5}, text, sizeof text), "[1,?,5]");
    assert_string_equal(ingot_dims_describe(-1, NULL, text, sizeof text), "[...]");
    assert_string_equal(ingot_dims_describe(0, NULL, text, sizeof text), "[]");
    ingot_value_clear(&v);
}

static void a_tensor_of_the_caller_is_used_where_it_lies(void **state)
{
    float memory[6] = {1, 2, 3, 4, 5, 6};
    ingot_value *value = NULL;
    ingot_error error = {0};
    assert_int_equal(
        ingot_value_create_tensor(INGOT_FLOAT, 2, (int64_t[]){2, 3}, memory, sizeof memory, &value, &error), INGOT_OK);
    assert_ptr_equal(ingot_value_data(value), memory);
    assert_int_equal(ingot_value_kind(value), INGOT_KIND_TENSOR);
    assert_int_equal(ingot_value_element(value), INGOT_FLOAT);
    assert_int_equal(ingot_value_rank(value), 2);
    assert_int_equal(ingot_value_dims(value)[1], 3);
    assert_int_equal(ingot_value_count(value), 6);
    assert_int_equal(ingot_value_bytes(value), 24);
    ingot_value_release(value);
    assert_int_equal(ingot_value_create_tensor(INGOT_FLOAT, 2, (int64_t[]){2, 3}, memory, 23, &value, &error),
                     INGOT_INVALID_ARGUMENT);
    assert_null(value);
    assert_string_equal(error.message, "a tensor float[2,3] needs 24 bytes, but 23 were given");
}

static void a_tensor_without_memory_gets_zeros(void **state)
{
    ingot_value *value = NULL;
    assert_int_equal(ingot_value_create_tensor(INGOT_INT64, 1, (int64_t[]){5}, NULL, 0, &value, NULL), INGOT_OK);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(((int64_t *)ingot_value_data(value))[i], 0);
    ingot_value_release(value);
    assert_int_equal(ingot_value_create_tensor(INGOT_INT64, 1, (int64_t[]){0}, NULL, 0, &value, NULL), INGOT_OK);
    assert_int_equal(ingot_value_count(value), 0);
    ingot_value_release(value);
}

static void wrong_arguments_are_refused(void **state)
{
    ingot_value *value = NULL;
    int64_t dims[] = {-1};
    char memory[64];
    assert_int_equal(ingot_value_create_tensor(INGOT_FLOAT, 0, NULL, NULL, 0, NULL, NULL), INGOT_INVALID_ARGUMENT);
    assert_int_equal(ingot_value_create_tensor(INGOT_FLOAT, 1, dims, NULL, 0, &value, NULL), INGOT_INVALID_ARGUMENT);
    assert_int_equal(ingot_value_create_tensor(INGOT_FLOAT, 1, NULL, NULL, 0, &value, NULL), INGOT_INVALID_ARGUMENT);
    assert_int_equal(ingot_value_create_tensor((ingot_element)99, 0, NULL, NULL, 0, &value, NULL),
                     INGOT_INVALID_ARGUMENT);
    assert_int_equal(ingot_value_create_tensor(INGOT_STRING, 0, NULL, memory, 64, &value, NULL),
                     INGOT_INVALID_ARGUMENT);
    dims[0] = 2;
    assert_int_equal(ingot_value_create_strings(1, dims, NULL, NULL, &value, NULL), INGOT_INVALID_ARGUMENT);
    assert_int_equal(ingot_value_create_strings(1, dims, (const char *[]){"a", NULL}, NULL, &value, NULL),
                     INGOT_INVALID_ARGUMENT);
    assert_int_equal(ingot_value_create_sequence(NULL, 0, INGOT_UNDEFINED, &value, NULL), INGOT_INVALID_ARGUMENT);
    assert_int_equal(ingot_value_create_sequence(NULL, 2, INGOT_FLOAT, &value, NULL), INGOT_INVALID_ARGUMENT);
    assert_int_equal(ingot_value_create_map(NULL, NULL, &value, NULL), INGOT_INVALID_ARGUMENT);
    assert_null(value);
    assert_int_equal(ingot_value_kind(NULL), INGOT_KIND_NONE);
    assert_null(ingot_value_data(NULL));
    assert_null(ingot_value_item(NULL, 0));
    ingot_value_release(NULL);
}

static ingot_value *new_tensor(ingot_element element, int64_t count)
{
    ingot_value *value = NULL;
    assert_int_equal(ingot_value_create_tensor(element, 1, &count, NULL, 0, &value, NULL), INGOT_OK);
    return value;
}

static void a_sequence_takes_items_of_one_type_once(void **state)
{
    ingot_value *items[] = {new_tensor(INGOT_FLOAT, 1), new_tensor(INGOT_FLOAT, 2), new_tensor(INGOT_INT8, 1)};
    ingot_value *value = NULL;
    ingot_error error = {0};
    assert_int_equal(ingot_value_create_sequence(items, 3, INGOT_UNDEFINED, &value, &error), INGOT_INVALID_ARGUMENT);
    assert_string_equal(error.message,
                        "items of a sequence must be of one type, but item 0 is float[1] and item 2 is int8[1]");
    assert_int_equal(ingot_value_create_sequence((ingot_value *[]){items[0], items[0]}, 2, INGOT_FLOAT, &value, NULL),
                     INGOT_INVALID_ARGUMENT);
    assert_null(value);
    assert_int_equal(ingot_value_create_sequence(items, 2, INGOT_UNDEFINED, &value, NULL), INGOT_OK);
    assert_int_equal(ingot_value_item_count(value), 2);
    assert_ptr_equal(ingot_value_item(value, 1), items[1]);
    assert_int_equal(ingot_value_element(value), INGOT_FLOAT);
    ingot_value_release(value);
    ingot_value_release(items[2]);
}

static void a_map_needs_keys_that_fit_its_values(void **state)
{
    ingot_value *keys = NULL, *values = new_tensor(INGOT_FLOAT, 2), *map = NULL, *floats = new_tensor(INGOT_FLOAT, 2);
    const char *names[] = {"cat", "dog"};
    assert_int_equal(ingot_value_create_strings(1, (int64_t[]){2}, names, NULL, &keys, NULL), INGOT_OK);
    ingot_value *three = new_tensor(INGOT_FLOAT, 3);
    assert_int_equal(ingot_value_create_map(keys, three, &map, NULL), INGOT_INVALID_ARGUMENT);
    assert_int_equal(ingot_value_create_map(floats, values, &map, NULL), INGOT_INVALID_ARGUMENT);
    assert_int_equal(ingot_value_create_map(keys, values, &map, NULL), INGOT_OK);
    assert_ptr_equal(ingot_value_map_keys(map), keys);
    assert_ptr_equal(ingot_value_map_values(map), values);
    expect_text(ingot_value_map_keys(map), 1, "dog", 3);
    char text[32];
    assert_string_equal(ingot_value_describe(map, text, sizeof text), "map of 2");
    ingot_value_release(map);
    ingot_value_release(three);
    ingot_value_release(floats);
}

static void an_optional_holds_a_value_or_nothing(void **state)
{
    ingot_value *item = new_tensor(INGOT_FLOAT, 2), *value = NULL;
    char text[32];
    assert_int_equal(ingot_value_create_optional(NULL, &value, NULL), INGOT_OK);
    assert_null(ingot_value_optional_item(value));
    assert_string_equal(ingot_value_describe(value, text, sizeof text), "empty optional");
    ingot_value_release(value);
    assert_int_equal(ingot_value_create_optional(item, &value, NULL), INGOT_OK);
    assert_ptr_equal(ingot_value_optional_item(value), item);
    assert_string_equal(ingot_value_describe(value, text, sizeof text), "optional of float[2]");
    ingot_value_release(value);
}

static void a_sparse_tensor_needs_ascending_places_inside_its_shape(void **state)
{
    float numbers[] = {1, 2, 3};
    int64_t good[] = {0, 1, 1, 0, 1, 2}, twice[] = {0, 1, 0, 1, 1, 2}, outside[] = {0, 1, 1, 0, 2, 0};
    const int64_t dims[] = {2, 3};
    ingot_value *values, *indices, *sparse;
    assert_int_equal(ingot_value_create_tensor(INGOT_FLOAT, 1, (int64_t[]){3}, numbers, sizeof numbers, &values, NULL),
                     INGOT_OK);
    int64_t *refused[] = {twice, outside};
    for (size_t i = 0; i < 2; i++) {
        ingot_value_create_tensor(INGOT_INT64, 2, (int64_t[]){3, 2}, refused[i], sizeof good, &indices, NULL);
        assert_int_equal(ingot_value_create_sparse(2, dims, values, indices, &sparse, NULL), INGOT_INVALID_ARGUMENT);
        assert_null(sparse);
        ingot_value_release(indices);
    }
    assert_int_equal(ingot_value_create_sparse(2, dims, values, values, &sparse, NULL), INGOT_INVALID_ARGUMENT);
    assert_int_equal(ingot_value_create_sparse(2, dims, values, NULL, &sparse, NULL), INGOT_INVALID_ARGUMENT);
    ingot_value_create_tensor(INGOT_INT64, 2, (int64_t[]){3, 2}, good, sizeof good, &indices, NULL);
    assert_int_equal(ingot_value_create_sparse(0, NULL, values, indices, &sparse, NULL), INGOT_INVALID_ARGUMENT);
    assert_int_equal(ingot_value_create_sparse(2, (int64_t[]){2, -3}, values, indices, &sparse, NULL),
                     INGOT_INVALID_ARGUMENT);
    assert_int_equal(ingot_value_create_sparse(2, dims, values, indices, &sparse, NULL), INGOT_OK);
    assert_int_equal(ingot_value_kind(sparse), INGOT_KIND_SPARSE);
    assert_int_equal(ingot_value_element(sparse), INGOT_FLOAT);
    assert_int_equal(ingot_value_rank(sparse), 2);
    assert_int_equal(ingot_value_dims(sparse)[1], 3);
    assert_ptr_equal(ingot_value_sparse_values(sparse), values);
    assert_ptr_equal(ingot_value_sparse_indices(sparse), indices);
    assert_null(ingot_value_sparse_values(values));
    ingot_value_release(sparse);
}

static void values_nest_only_so_deep(void **state)
{
    ingot_value *value = new_tensor(INGOT_FLOAT, 1), *outer = NULL;
    int depth = 1;
    while (ingot_value_create_optional(value, &outer, NULL) == INGOT_OK) {
        value = outer;
        depth++;
        assert_true(depth < 100);
    }
    assert_int_equal(depth, 16);
    ingot_value_release(value);
}

static size_t allowed;

static bool allow_some(size_t size)
{
    return allowed-- > 0;
}

static void every_allocation_may_fail(void **state)
{
    const char *names[] = {"a", "b"};
    ingot_value *value = NULL;
    for (size_t some = 0; value == NULL; some++) {
        allowed = some;
        ingot_set_allocation_hook(allow_some);
        const ingot_status status = ingot_value_create_strings(1, (int64_t[]){2}, names, NULL, &value, NULL);
        ingot_set_allocation_hook(NULL);
        assert_int_equal(status, value ? INGOT_OK : INGOT_OUT_OF_MEMORY);
        assert_true(some < 10);
    }
    ingot_value copy;
    ingot_status status = INGOT_OUT_OF_MEMORY;
    for (size_t some = 0; status != INGOT_OK; some++) {
        ingot_value_init(&copy);
        allowed = some;
        ingot_set_allocation_hook(allow_some);
        status = ingot_value_copy(&copy, value, NULL);
        ingot_set_allocation_hook(NULL);
        ingot_value_clear(&copy);
        assert_true(some < 10);
    }
    ingot_value_release(value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_warm_tensor_keeps_its_memory),
        cmocka_unit_test(impossible_shapes_change_nothing),
        cmocka_unit_test(fixed_memory_is_never_replaced),
        cmocka_unit_test(a_view_without_capacity_is_not_written),
        cmocka_unit_test(strings_live_in_the_heap_of_their_value),
        cmocka_unit_test(a_warm_sequence_keeps_its_items),
        cmocka_unit_test(lists_hold_what_their_kind_allows),
        cmocka_unit_test(copies_are_deep),
        cmocka_unit_test(values_are_described_for_messages),
        cmocka_unit_test(a_tensor_of_the_caller_is_used_where_it_lies),
        cmocka_unit_test(a_tensor_without_memory_gets_zeros),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(a_sequence_takes_items_of_one_type_once),
        cmocka_unit_test(a_map_needs_keys_that_fit_its_values),
        cmocka_unit_test(an_optional_holds_a_value_or_nothing),
        cmocka_unit_test(a_sparse_tensor_needs_ascending_places_inside_its_shape),
        cmocka_unit_test(values_nest_only_so_deep),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

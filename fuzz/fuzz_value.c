/* Any bytes as the message of a value: read, written and read again it is the same. */
#include <string.h>

#include "fuzz.h"

static const ingot_type_info tensor = {.kind = INGOT_KIND_TENSOR, .rank = -1};
static const ingot_type_info sparse = {.kind = INGOT_KIND_SPARSE, .rank = -1};
static const ingot_type_info map = {.kind = INGOT_KIND_MAP, .element = INGOT_INT64, .item = &tensor, .rank = -1};
static const ingot_type_info tensors = {.kind = INGOT_KIND_SEQUENCE, .item = &tensor, .rank = -1};
static const ingot_type_info maps = {.kind = INGOT_KIND_SEQUENCE, .item = &map, .rank = -1};
static const ingot_type_info lists = {.kind = INGOT_KIND_SEQUENCE, .item = &tensors, .rank = -1};
static const ingot_type_info optional = {.kind = INGOT_KIND_OPTIONAL, .item = &tensor, .rank = -1};
static const ingot_type_info optional_list = {.kind = INGOT_KIND_OPTIONAL, .item = &tensors, .rank = -1};

static const ingot_type_info *const types[] = {&tensor, &sparse, &map,      &tensors,
                                               &maps,   &lists,  &optional, &optional_list};

static void write_and_read(const ingot_value *value, const ingot_type_info *type)
{
    void *first = NULL, *second = NULL;
    size_t first_size = 0, second_size = 0;
    ingot_value *again = NULL;
    ingot_error error = {0};
    ingot_status status = ingot_value_to_proto(value, "name", &first, &first_size, &error);
    fuzz_expect_error(status, &error);
    if (status == INGOT_OK) {
        status = ingot_value_from_proto(first, first_size, type, &again, &error);
        fuzz_expect_error(status, &error);
        FUZZ_EXPECT(status == INGOT_OK);
        FUZZ_EXPECT(ingot_value_to_proto(again, "name", &second, &second_size, NULL) == INGOT_OK);
        FUZZ_EXPECT(first_size == second_size && memcmp(first, second, first_size) == 0);
    }
    ingot_memory_free(first);
    ingot_memory_free(second);
    ingot_value_release(again);
}

/* The first byte is the type, the rest the message. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ingot_value *value = NULL;
    ingot_error error = {0};
    if (size == 0)
        return 0;
    const ingot_type_info *type = types[data[0] % (sizeof types / sizeof *types)];
    ingot_status status = ingot_value_from_proto(data + 1, size - 1, type, &value, &error);
    fuzz_expect_error(status, &error);
    FUZZ_EXPECT((value != NULL) == (status == INGOT_OK));
    if (value)
        write_and_read(value, type);
    ingot_value_release(value);
    return 0;
}

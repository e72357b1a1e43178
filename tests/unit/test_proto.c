/* The reader of ONNX messages. The model's bytes were written by the onnx Python package:
 * Conv(x, w, "") -> y with pads=[1,1], alpha=0.5, mode="SAME"; x float[N,3,?]; w int64 [7,-1]; opsets 17 and a.b 1. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "graph/graph.h"
#include "onnx/proto.h"

static const char model_bytes[] =
    "\x08\x08\x12\x01\x70\x3a\x87\x01\x0a\x46\x0a\x01\x78\x0a\x01\x77\x0a\x00\x12\x01\x79\x1a\x02\x63\x30\x22\x04\x43"
    "\x6f\x6e\x76\x2a\x0f\x0a\x05\x61\x6c\x70\x68\x61\x15\x00\x00\x00\x3f\xa0\x01\x01\x2a\x0f\x0a\x04\x6d\x6f\x64\x65"
    "\x22\x04\x53\x41\x4d\x45\xa0\x01\x03\x2a\x0d\x0a\x04\x70\x61\x64\x73\x40\x01\x40\x01\xa0\x01\x07\x12\x01\x67\x2a"
    "\x14\x08\x02\x10\x07\x3a\x0b\x07\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x42\x01\x77\x52\x01\x64\x5a\x16\x0a\x01"
    "\x78\x12\x11\x0a\x0f\x08\x01\x12\x0b\x0a\x03\x12\x01\x4e\x0a\x02\x08\x03\x0a\x00\x62\x09\x0a\x01\x79\x12\x04\x0a"
    "\x02\x08\x01\x42\x04\x0a\x00\x10\x11\x42\x07\x0a\x03\x61\x2e\x62\x10\x01\x72\x06\x0a\x01\x6b\x12\x01\x76";
#define MODEL_SIZE (sizeof model_bytes - 1)

typedef struct fixture {
    ingot_arena *arena;
    ingot_budget budget;
    ingot_error error;
} fixture;

static int set_up(void **state)
{
    static fixture f;
    f = (fixture){.arena = ingot_arena_create()};
    ingot_budget_init(&f.budget, 1 << 20);
    *state = &f;
    return f.arena == NULL;
}

static int tear_down(void **state)
{
    ingot_arena_release(((fixture *)*state)->arena);
    return 0;
}

static ingot_status read(fixture *f, const ingot_proto_message *message, const char *data, size_t size, void *result)
{
    f->error = (ingot_error){0};
    return ingot_proto_read(message, (ingot_span){data, size}, f->arena, &f->budget, result, &f->error);
}
#define READ(f, message, bytes, result) read(f, message, bytes, sizeof(bytes) - 1, result)

static void expect_message(const fixture *f, const char *words)
{
    if (strstr(f->error.message, words) == NULL)
        fail_msg("'%s' is not in '%s'", words, f->error.message);
}

static const ingot_attribute_proto *attribute(const ingot_node_proto *node, size_t index, const char *name)
{
    const ingot_attribute_proto *attributes = node->attributes.items;
    assert_true(ingot_span_is(attributes[index].name, name));
    return &attributes[index];
}

static void a_model_is_read_as_it_was_written(void **state)
{
    ingot_model_proto model = {0};
    assert_int_equal(read(*state, &ingot_proto_model, model_bytes, MODEL_SIZE, &model), INGOT_OK);
    assert_true(model.ir_version == 8);
    assert_true(ingot_span_is(model.producer_name, "p"));
    assert_int_equal(model.opsets.count, 2);
    const ingot_opset_proto *opsets = model.opsets.items;
    assert_true(opsets[0].version == 17 && ingot_span_is(opsets[0].domain, ""));
    assert_true(opsets[1].version == 1 && ingot_span_is(opsets[1].domain, "a.b"));
    const ingot_entry_proto *entry = model.metadata.items;
    assert_true(ingot_span_is(entry->key, "k") && ingot_span_is(entry->value, "v"));
    assert_true(ingot_span_is(model.graph->name, "g") && ingot_span_is(model.graph->doc_string, "d"));
}

static void a_node_has_its_inputs_and_attributes(void **state)
{
    ingot_model_proto model = {0};
    assert_int_equal(read(*state, &ingot_proto_model, model_bytes, MODEL_SIZE, &model), INGOT_OK);
    assert_int_equal(model.graph->nodes.count, 1);
    const ingot_node_proto *node = model.graph->nodes.items;
    assert_true(ingot_span_is(node->op_type, "Conv") && ingot_span_is(node->name, "c0"));
    const ingot_span *inputs = node->inputs.items;
    assert_int_equal(node->inputs.count, 3);
    assert_true(ingot_span_is(inputs[1], "w") && inputs[2].size == 0);
    assert_int_equal(node->attributes.count, 3);
    const ingot_attribute_proto *alpha = attribute(node, 0, "alpha");
    assert_true(alpha->type == INGOT_ATTRIBUTE_FLOAT && alpha->f == 0.5f);
    assert_true(ingot_span_is(attribute(node, 1, "mode")->s, "SAME"));
    const ingot_attribute_proto *pads = attribute(node, 2, "pads");
    int64_t values[2] = {0};
    assert_int_equal(pads->ints.count, 2); /* not packed: a tag before each */
    assert_int_equal(ingot_proto_get_integers(&pads->ints, 8, values, NULL), INGOT_OK);
    assert_true(values[0] == 1 && values[1] == 1);
}

static void types_and_tensors_point_into_the_file(void **state)
{
    ingot_model_proto model = {0};
    assert_int_equal(read(*state, &ingot_proto_model, model_bytes, MODEL_SIZE, &model), INGOT_OK);
    const ingot_value_info_proto *x = model.graph->inputs.items, *y = model.graph->outputs.items;
    const ingot_dimension_proto *dims = x->type->tensor->shape->dims.items;
    assert_int_equal(x->type->tensor->shape->dims.count, 3);
    assert_true(ingot_span_is(dims[0].dim_param, "N"));
    assert_true(dims[0].dim_param.data > model_bytes && dims[0].dim_param.data < model_bytes + MODEL_SIZE);
    assert_true(dims[1].dim_value == 3 && (dims[1].seen & INGOT_DIMENSION_HAS_VALUE));
    assert_int_equal(dims[2].seen, 0);
    assert_null(y->type->tensor->shape);
    const ingot_tensor_proto *w = model.graph->initializers.items;
    int64_t values[2] = {0};
    assert_true(ingot_span_is(w->name, "w") && w->data_type == INGOT_INT64);
    assert_int_equal(w->int64_data.count, 2); /* packed */
    assert_int_equal(ingot_proto_get_integers(&w->int64_data, 8, values, NULL), INGOT_OK);
    assert_true(values[0] == 7 && values[1] == -1);
}

static void a_model_cut_anywhere_is_refused_or_smaller_but_never_misread(void **state)
{
    for (size_t size = 0; size < MODEL_SIZE; size++) {
        char *copy = ingot_malloc(size); /* of its own, so that a sanitizer sees a read past the end */
        memcpy(copy, model_bytes, size);
        ingot_model_proto model = {0};
        ingot_status status = read(*state, &ingot_proto_model, copy, size, &model);
        assert_true(status == INGOT_OK || status == INGOT_INVALID_MODEL);
        ingot_free(copy);
    }
}

static void packed_and_single_numbers_of_one_field_mix(void **state)
{
    ingot_tensor_proto tensor = {0};
    int32_t values[4] = {0};
    assert_int_equal(READ(*state, &ingot_proto_tensor, "\x28\x01\x2a\x02\x02\x03\x10\x06\x28\x04", &tensor), INGOT_OK);
    assert_int_equal(tensor.int32_data.count, 4);
    assert_int_equal(ingot_proto_get_integers(&tensor.int32_data, 4, values, NULL), INGOT_OK);
    for (int i = 0; i < 4; i++)
        assert_int_equal(values[i], i + 1);
}

static void floats_and_doubles_are_read_at_any_address(void **state)
{
    ingot_tensor_proto tensor = {0};
    float f = 0;
    double d[2] = {0};
    assert_int_equal(READ(*state, &ingot_proto_tensor,
                          "\x22\x04\x00\x00\xc0\x3f"
                          "\x52\x10\x00\x00\x00\x00\x00\x00\xf8\x3f\x00\x00\x00\x00\x00\x00\x00\xc0",
                          &tensor),
                     INGOT_OK);
    assert_int_equal(ingot_proto_get_floats(&tensor.float_data, &f, NULL), INGOT_OK);
    assert_int_equal(ingot_proto_get_doubles(&tensor.double_data, d, NULL), INGOT_OK);
    assert_true(f == 1.5f && d[0] == 1.5 && d[1] == -2.0);
}

static void the_last_scalar_counts_and_a_message_given_twice_is_refused(void **state)
{
    ingot_model_proto model = {0};
    assert_int_equal(READ(*state, &ingot_proto_model, "\x08\x03\x08\x07", &model), INGOT_OK);
    assert_true(model.ir_version == 7);
    assert_int_equal(READ(*state, &ingot_proto_model, "\x3a\x00\x3a\x00", &model), INGOT_INVALID_MODEL);
    expect_message(*state, "ModelProto.graph is given twice");
}

static void a_wrong_wire_type_is_refused_by_field_and_message(void **state)
{
    ingot_model_proto model = {0};
    assert_int_equal(READ(*state, &ingot_proto_model, "\x38\x01", &model), INGOT_INVALID_MODEL);
    expect_message(*state, "field graph of ModelProto");
    ingot_tensor_proto tensor = {0};
    assert_int_equal(READ(*state, &ingot_proto_tensor, "\x22\x03\x00\x00\x00", &tensor), INGOT_INVALID_MODEL);
    expect_message(*state, "TensorProto.float_data");
}

static void unknown_fields_of_every_wire_type_are_skipped(void **state)
{
    ingot_model_proto model = {0};
    assert_int_equal(READ(*state, &ingot_proto_model,
                          "\xc0\x3e\x01\xc9\x3e\x01\x02\x03\x04\x05\x06\x07\x08\xd2\x3e\x01x\xdb\x3e\xdc\x3e"
                          "\xe5\x3e\x01\x02\x03\x04\x08\x08",
                          &model),
                     INGOT_OK);
    assert_true(model.ir_version == 8);
}

/* Wraps the content in nested AttributeProto.g, NodeProto.attribute, GraphProto.node; returns the bytes used. */
static size_t nest(char *to, size_t capacity, int levels)
{
    static const char tags[] = {0x32, 0x2a, 0x0a};
    size_t size = 0;
    for (int i = 0; i < levels * 3; i++) {
        char head[6] = {tags[i % 3]};
        size_t length = 1;
        for (size_t rest = size; length == 1 || rest > 0; rest >>= 7)
            head[length++] = (char)((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
        assert_true(size + length + 2 < capacity);
        memmove(to + length, to, size);
        memcpy(to, head, length);
        size += length;
        if (i % 3 == 0) { /* a name, so that the attribute is long enough */
            memmove(to + 3, to, size);
            memcpy(to, "\x0a\x01g", 3);
            size += 3;
        }
    }
    return size;
}

static void graphs_may_nest_as_deep_as_stated_and_no_deeper(void **state)
{
    static char inner[400000], outer[400010];
    static const struct {
        int levels;
        ingot_status status;
    } cases[] = {{20, INGOT_OK}, {63, INGOT_OK}, {64, INGOT_INVALID_MODEL}, {10000, INGOT_INVALID_MODEL}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t size = nest(inner, sizeof inner, cases[i].levels);
        char head[] = {0x3a, (char)(size | 0x80), (char)(size >> 7 | 0x80), (char)(size >> 14 & 0x7f)};
        memcpy(outer, head, sizeof head);
        memcpy(outer + sizeof head, inner, size);
        ingot_model_proto model = {0};
        assert_int_equal(read(*state, &ingot_proto_model, outer, size + sizeof head, &model), cases[i].status);
        if (cases[i].status != INGOT_OK)
            expect_message(*state, "deeper than 64");
    }
}

static void memory_is_counted_before_it_is_taken(void **state)
{
    static char entries[200000]; /* each of 2 bytes takes 16 as a string */
    memset(entries, 0, sizeof entries);
    for (size_t i = 0; i < sizeof entries; i += 2)
        entries[i] = 0x22; /* MapProto.string_keys */
    ingot_map_proto map = {0};
    assert_int_equal(read(*state, &ingot_proto_map, entries, sizeof entries, &map), INGOT_OUT_OF_MEMORY);
}

static void messages_too_short_to_be_valid_are_refused_before_memory_is_taken(void **state)
{
    ingot_sequence_proto sequence = {0};
    assert_int_equal(READ(*state, &ingot_proto_sequence, "\x1a\x00\x1a\x00", &sequence), INGOT_INVALID_MODEL);
    expect_message(*state, "a TensorProto of 0 bytes is too short");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_model_is_read_as_it_was_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_node_has_its_inputs_and_attributes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(types_and_tensors_point_into_the_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_model_cut_anywhere_is_refused_or_smaller_but_never_misread, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(packed_and_single_numbers_of_one_field_mix, set_up, tear_down),
        cmocka_unit_test_setup_teardown(floats_and_doubles_are_read_at_any_address, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_last_scalar_counts_and_a_message_given_twice_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_wrong_wire_type_is_refused_by_field_and_message, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unknown_fields_of_every_wire_type_are_skipped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(graphs_may_nest_as_deep_as_stated_and_no_deeper, set_up, tear_down),
        cmocka_unit_test_setup_teardown(memory_is_counted_before_it_is_taken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(messages_too_short_to_be_valid_are_refused_before_memory_is_taken, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

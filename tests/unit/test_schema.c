/* The table of operator schemas against facts typed in from the ONNX project's operator pages (Operators.md, Changelog.md,
 * Operators-ml.md, Changelog-ml.md). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ops/schema.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const ingot_schema *find(const char *name, int opset)
{
    const ingot_schema *schema = ingot_schema_find("", name, opset);
    assert_non_null(schema);
    return schema;
}

static ingot_element_set tensor_types(const ingot_schema *schema, size_t input)
{
    return ingot_schema_constraint_of(schema, ingot_schema_input(schema, input))->allowed[INGOT_FORM_TENSOR];
}

static ingot_schema_type tensor(ingot_element element)
{
    return (ingot_schema_type){INGOT_KIND_TENSOR, INGOT_KIND_NONE, element, INGOT_UNDEFINED};
}

static void version_in_force_is_the_greatest_that_is_not_newer(void **state)
{
    static const struct {
        const char *name;
        int opset, since;
    } facts[] = {
        {"Add", 1, 1},        {"Add", 6, 6},         {"Add", 7, 7},      {"Add", 12, 7},      {"Add", 13, 13},
        {"Add", 14, 14},      {"Add", 27, 14},       {"Gelu", 20, 20},   {"Softmax", 12, 11}, {"Softmax", 13, 13},
        {"Identity", 16, 16}, {"Shape", 15, 15},     {"If", 10, 1},      {"If", 11, 11},      {"Clip", 11, 11},
        {"Clip", 12, 12},     {"Attention", 23, 23}, {"Resize", 18, 18},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(facts); i++)
        assert_int_equal(find(facts[i].name, facts[i].opset)->since_version, facts[i].since);
    assert_null(ingot_schema_find("", "Gelu", 19));
    assert_null(ingot_schema_find("", "Add", 0));
    assert_null(ingot_schema_find("", "Add", -1));
    assert_null(ingot_schema_find("", "add", 14));
    assert_null(ingot_schema_find("", "", 14));
    assert_int_equal(ingot_schema_find("", "Add", INT64_MAX)->since_version, 14);
}

static void empty_and_full_name_of_the_default_domain_are_one(void **state)
{
    (void)state;
    assert_ptr_equal(ingot_schema_find("", "Conv", 11), ingot_schema_find("ai.onnx", "Conv", 11));
    assert_ptr_equal(ingot_schema_find(NULL, "Conv", 11), ingot_schema_find("ai.onnx", "Conv", 11));
    assert_string_equal(find("Conv", 11)->domain, "ai.onnx");
    assert_null(ingot_schema_find("ai.onnx.ml", "Conv", 11));
    assert_null(ingot_schema_find("ai.onn", "Conv", 11));
}

static void every_schema_is_found_by_its_own_name(void **state)
{
    const ingot_schema *previous = NULL;
    size_t count = 0;
    (void)state;
    for (const ingot_schema *schema; (schema = ingot_schema_at(count)); count++) {
        assert_ptr_equal(ingot_schema_find(schema->domain, schema->name, schema->since_version), schema);
        bool newer =
            previous && strcmp(previous->domain, schema->domain) == 0 && strcmp(previous->name, schema->name) == 0;
        if (newer)
            assert_ptr_equal(ingot_schema_next_version(previous), schema);
        else
            assert_ptr_equal(ingot_schema_first(schema->domain, schema->name), schema);
        assert_true(schema->since_version <= ingot_schema_max_opset(schema->domain));
        previous = schema;
    }
    assert_true(count > 600);
    assert_null(ingot_schema_next_version(previous));
}

static void versions_are_listed_oldest_first(void **state)
{
    static const int softmax[] = {1, 11, 13};
    const ingot_schema *schema = ingot_schema_first("", "Softmax");
    (void)state;
    for (size_t i = 0; i < COUNT(softmax); i++, schema = ingot_schema_next_version(schema))
        assert_int_equal(schema->since_version, softmax[i]);
    assert_null(schema);
    assert_null(ingot_schema_first("", "Frobnicate"));
}

static void domains_tell_their_opsets(void **state)
{
    (void)state;
    assert_true(ingot_schema_max_opset("") >= 27);
    assert_int_equal(ingot_schema_max_opset(""), ingot_schema_max_opset("ai.onnx"));
    assert_int_equal(ingot_schema_min_opset("ai.onnx"), 1);
    assert_int_equal(ingot_schema_max_opset("ai.onnx.ml"), 5);
    assert_int_equal(ingot_schema_max_opset("ai.onnx.preview.training"), 1);
    assert_int_equal(ingot_schema_max_opset("com.example"), 0);
    assert_int_equal(ingot_schema_min_opset("com.example"), 0);
}

static void defaults_are_those_of_the_standard(void **state)
{
    static const struct {
        const char *name;
        int opset;
        const char *attribute;
        int64_t value;
    } facts[] = {
        {"Softmax", 13, "axis", -1},
        {"Softmax", 11, "axis", 1},
        {"Flatten", 13, "axis", 1},
        {"Gather", 13, "axis", 0},
        {"Conv", 11, "group", 1},
        {"Gemm", 13, "transB", 0},
        {"ArgMax", 13, "keepdims", 1},
        {"Split", 13, "axis", 0},
        {"TopK", 11, "axis", -1},
        {"Shape", 15, "start", 0},
        {"LayerNormalization", 17, "axis", -1},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(facts); i++) {
        const ingot_schema_attribute *attribute =
            ingot_schema_attribute_find(find(facts[i].name, facts[i].opset), facts[i].attribute);
        assert_non_null(attribute);
        assert_int_equal(attribute->type, INGOT_ATTRIBUTE_INT);
        assert_int_equal(attribute->default_count, 1);
        assert_true(ingot_schema_default_ints(attribute)[0] == facts[i].value);
        assert_null(ingot_schema_default_floats(attribute));
        assert_null(ingot_schema_default_strings(attribute));
    }
    const ingot_schema_attribute *epsilon = ingot_schema_attribute_find(find("BatchNormalization", 15), "epsilon");
    assert_true(ingot_schema_default_floats(epsilon)[0] == 1e-05f);
    const ingot_schema_attribute *mode = ingot_schema_attribute_find(find("Resize", 13), "mode");
    assert_string_equal(ingot_schema_default_strings(mode)[0], "nearest");
    assert_null(ingot_schema_default_ints(mode));
}

static void lists_have_list_defaults(void **state)
{
    (void)state;
    const ingot_schema_attribute *activations = ingot_schema_attribute_find(find("RNN", 14), "activations");
    assert_int_equal(activations->type, INGOT_ATTRIBUTE_STRINGS);
    assert_int_equal(activations->default_count, 2);
    assert_string_equal(ingot_schema_default_strings(activations)[0], "Tanh");
    assert_string_equal(ingot_schema_default_strings(activations)[1], "Tanh");
    const ingot_schema_attribute *direction = ingot_schema_attribute_find(find("GRU", 1), "direction");
    assert_string_equal(ingot_schema_default_strings(direction)[0], "forward");
}

static void required_attributes_are_marked_and_have_no_default(void **state)
{
    (void)state;
    const ingot_schema_attribute *axis = ingot_schema_attribute_find(find("Concat", 13), "axis");
    assert_true(axis->required);
    assert_false(axis->has_default);
    assert_null(ingot_schema_default_ints(axis));
    assert_true(ingot_schema_attribute_find(find("Cast", 13), "to")->required);
    assert_int_equal(ingot_schema_attribute_find(find("If", 16), "then_branch")->type, INGOT_ATTRIBUTE_GRAPH);
    const ingot_schema_attribute *strides = ingot_schema_attribute_find(find("Conv", 11), "strides");
    assert_int_equal(strides->type, INGOT_ATTRIBUTE_INTS);
    assert_false(strides->required);
    assert_false(strides->has_default);
    assert_null(ingot_schema_attribute_find(find("Concat", 13), "axes"));
    assert_null(ingot_schema_attribute_at(find("Concat", 13), 1));
    assert_string_equal(ingot_attribute_type_name(INGOT_ATTRIBUTE_INTS), "ints");
}

static void type_sets_are_those_of_the_standard(void **state)
{
    const ingot_element_set floats =
        INGOT_ELEMENT_BIT(INGOT_FLOAT16) | INGOT_ELEMENT_BIT(INGOT_FLOAT) | INGOT_ELEMENT_BIT(INGOT_DOUBLE);
    const ingot_element_set wide_integers = INGOT_ELEMENT_BIT(INGOT_INT32) | INGOT_ELEMENT_BIT(INGOT_INT64) |
                                            INGOT_ELEMENT_BIT(INGOT_UINT32) | INGOT_ELEMENT_BIT(INGOT_UINT64);
    const ingot_element_set narrow_integers = INGOT_ELEMENT_BIT(INGOT_INT8) | INGOT_ELEMENT_BIT(INGOT_INT16) |
                                              INGOT_ELEMENT_BIT(INGOT_UINT8) | INGOT_ELEMENT_BIT(INGOT_UINT16);
    const ingot_element_set bfloat16 = INGOT_ELEMENT_BIT(INGOT_BFLOAT16);
    (void)state;
    assert_int_equal(tensor_types(find("Add", 6), 0), floats | wide_integers);
    assert_int_equal(tensor_types(find("Add", 13), 0), floats | wide_integers | bfloat16);
    assert_int_equal(tensor_types(find("Add", 14), 0), floats | wide_integers | bfloat16 | narrow_integers);
    assert_int_equal(tensor_types(find("Conv", 11), 0), floats);
    assert_int_equal(tensor_types(find("Conv", 22), 0), floats | bfloat16);
    assert_int_equal(tensor_types(find("Not", 1), 0), INGOT_ELEMENT_BIT(INGOT_BOOL));
}

static void forms_beyond_tensors_are_told_apart(void **state)
{
    static const ingot_schema_type map = {INGOT_KIND_MAP, INGOT_KIND_NONE, INGOT_FLOAT, INGOT_STRING};
    static const ingot_schema_type map_sequence = {INGOT_KIND_SEQUENCE, INGOT_KIND_MAP, INGOT_FLOAT, INGOT_INT64};
    static const ingot_schema_type sequence = {INGOT_KIND_SEQUENCE, INGOT_KIND_TENSOR, INGOT_FLOAT, INGOT_UNDEFINED};
    static const ingot_schema_type optional = {INGOT_KIND_OPTIONAL, INGOT_KIND_SEQUENCE, INGOT_BOOL, INGOT_UNDEFINED};
    static const ingot_schema_type sparse = {INGOT_KIND_SPARSE, INGOT_KIND_NONE, INGOT_FLOAT, INGOT_UNDEFINED};
    const ingot_schema *at = find("SequenceAt", 11), *has_element = find("OptionalHasElement", 15);
    const ingot_schema *zip_map = ingot_schema_find("ai.onnx.ml", "ZipMap", 1);
    const ingot_schema *cast_map = ingot_schema_find("ai.onnx.ml", "DictVectorizer", 1);
    const ingot_schema_constraint *items = ingot_schema_constraint_of(at, ingot_schema_input(at, 0));
    const ingot_schema_constraint *maps = ingot_schema_constraint_of(zip_map, ingot_schema_output(zip_map, 0));
    (void)state;
    assert_true(ingot_schema_type_allowed(items, sequence));
    assert_false(ingot_schema_type_allowed(items, tensor(INGOT_FLOAT)));
    assert_false(ingot_schema_type_allowed(items, map_sequence));
    assert_false(ingot_schema_type_allowed(items, sparse));
    assert_true(ingot_schema_type_allowed(maps, map_sequence));
    assert_false(ingot_schema_type_allowed(maps, map));
    assert_true(ingot_schema_type_allowed(ingot_schema_constraint_of(has_element, ingot_schema_input(has_element, 0)),
                                          optional));
    assert_true(ingot_schema_type_allowed(ingot_schema_constraint_of(cast_map, ingot_schema_input(cast_map, 0)), map));
}

static void types_of_the_graph_become_schema_types(void **state)
{
    const ingot_type element = {.kind = INGOT_KIND_TENSOR, .element = INGOT_FLOAT, .rank = -1};
    const ingot_type map = {.kind = INGOT_KIND_MAP, .element = INGOT_INT64, .item = &element};
    const ingot_type sequence = {.kind = INGOT_KIND_SEQUENCE, .item = &map};
    const ingot_type tensors = {.kind = INGOT_KIND_SEQUENCE, .item = &element};
    const ingot_type optional = {.kind = INGOT_KIND_OPTIONAL, .item = &tensors};
    char text[64];
    (void)state;
    assert_string_equal(ingot_schema_type_describe(ingot_schema_type_of(&element), text, sizeof text), "float");
    assert_string_equal(ingot_schema_type_describe(ingot_schema_type_of(&map), text, sizeof text), "map(int64, float)");
    assert_string_equal(ingot_schema_type_describe(ingot_schema_type_of(&sequence), text, sizeof text),
                        "seq(map(int64, float))");
    assert_string_equal(ingot_schema_type_describe(ingot_schema_type_of(&optional), text, sizeof text),
                        "optional(seq(tensor(float)))");
    assert_int_equal(ingot_schema_type_of(NULL).kind, INGOT_KIND_NONE);
}

static void inputs_and_outputs_are_described(void **state)
{
    (void)state;
    const ingot_schema *squeeze = find("Squeeze", 13);
    assert_string_equal(ingot_schema_input(squeeze, 1)->name, "axes");
    assert_int_equal(ingot_schema_input(squeeze, 1)->option, INGOT_SCHEMA_OPTIONAL);
    assert_int_equal(tensor_types(squeeze, 1), INGOT_ELEMENT_BIT(INGOT_INT64));
    assert_null(ingot_schema_input(squeeze, 2));
    assert_null(ingot_schema_input(find("Squeeze", 11), 1));
    const ingot_schema *concat = find("Concat", 13);
    assert_int_equal(concat->max_inputs, INGOT_SCHEMA_ANY);
    assert_ptr_equal(ingot_schema_input(concat, 41), ingot_schema_input(concat, 0));
    const ingot_schema *loop = find("Loop", 16);
    assert_false(ingot_schema_input(loop, 5)->homogeneous);
    assert_string_equal(ingot_schema_output(find("TopK", 11), 1)->name, "Indices");
    assert_true(find("Softmax", 13)->flags & INGOT_SCHEMA_FUNCTION);
    assert_false(find("Conv", 11)->flags & INGOT_SCHEMA_FUNCTION);
}

static void counts_out_of_range_are_refused(void **state)
{
    ingot_error error = {0};
    (void)state;
    assert_int_equal(ingot_schema_check_counts(find("Conv", 11), 2, 1, NULL), INGOT_OK);
    assert_int_equal(ingot_schema_check_counts(find("Conv", 11), 3, 1, NULL), INGOT_OK);
    assert_int_equal(ingot_schema_check_counts(find("Concat", 13), 100000, 1, NULL), INGOT_OK);
    assert_int_equal(ingot_schema_check_counts(find("Conv", 11), 1, 1, &error), INGOT_INVALID_MODEL);
    assert_string_equal(error.message, "Conv-11 has 2 to 3 inputs, found 1");
    memset(&error, 0, sizeof error);
    assert_int_equal(ingot_schema_check_counts(find("Concat", 13), 0, 1, &error), INGOT_INVALID_MODEL);
    assert_string_equal(error.message, "Concat-13 has at least 1 inputs, found 0");
    memset(&error, 0, sizeof error);
    assert_int_equal(ingot_schema_check_counts(find("Relu", 14), 1, 2, &error), INGOT_INVALID_MODEL);
    assert_string_equal(error.message, "Relu-14 has 1 output, found 2");
}

static void inputs_of_one_type_variable_must_agree(void **state)
{
    const ingot_schema_type mixed[] = {tensor(INGOT_FLOAT), tensor(INGOT_INT64)};
    const ingot_schema_type same[] = {tensor(INGOT_INT64), tensor(INGOT_INT64)};
    const ingot_schema_type unknown[] = {tensor(INGOT_FLOAT), {INGOT_KIND_NONE, INGOT_KIND_NONE, 0, 0}};
    const ingot_schema_type gather[] = {tensor(INGOT_FLOAT), tensor(INGOT_INT32)};
    ingot_error error = {0};
    (void)state;
    assert_int_equal(ingot_schema_check_types(find("Add", 14), mixed, 2, &error), INGOT_INVALID_MODEL);
    assert_string_equal(error.message, "input 1 'B' is int64 but input 0 'A' is float: both must be of one type T");
    assert_int_equal(ingot_schema_check_types(find("Add", 14), same, 2, NULL), INGOT_OK);
    assert_int_equal(ingot_schema_check_types(find("Add", 14), unknown, 2, NULL), INGOT_OK);
    assert_int_equal(ingot_schema_check_types(find("Gather", 13), gather, 2, NULL), INGOT_OK);
    assert_int_equal(ingot_schema_check_types(find("Concat", 13), mixed, 2, NULL), INGOT_INVALID_MODEL);
}

static void inputs_of_a_heterogeneous_variadic_may_differ(void **state)
{
    const ingot_schema_type inputs[] = {tensor(INGOT_INT64), tensor(INGOT_BOOL), tensor(INGOT_FLOAT),
                                        tensor(INGOT_STRING)};
    (void)state;
    assert_int_equal(ingot_schema_check_types(find("Loop", 16), inputs, 4, NULL), INGOT_OK);
}

static void a_type_that_is_not_allowed_is_refused_with_those_that_are(void **state)
{
    const ingot_schema_type input = tensor(INGOT_STRING);
    ingot_error error = {0};
    (void)state;
    assert_int_equal(ingot_schema_check_types(find("Sqrt", 6), &input, 1, &error), INGOT_INVALID_MODEL);
    assert_string_equal(error.message, "input 0 'X' is string, but Sqrt-6 allows only: float, float16, double");
}

static void more_inputs_than_the_operator_has_are_refused(void **state)
{
    const ingot_schema_type inputs[] = {tensor(INGOT_FLOAT), tensor(INGOT_FLOAT)};
    (void)state;
    assert_int_equal(ingot_schema_check_types(find("Sqrt", 6), inputs, 2, NULL), INGOT_INVALID_MODEL);
}

static void missing_operators_are_refused_with_the_reason(void **state)
{
    static const struct {
        const char *domain, *name;
        int opset;
        ingot_status status;
        const char *message;
    } facts[] = {
        {"", "Gelu", 17, INGOT_INVALID_MODEL,
         "operator 'Gelu' came with opset 20 of domain ai.onnx, and the model imports opset 17"},
        {"", "Upsample", 11, INGOT_INVALID_MODEL,
         "operator 'Upsample' is deprecated since opset 10 of domain ai.onnx, and the model imports opset 11"},
        {"", "Crop", 10, INGOT_INVALID_MODEL,
         "operator 'Crop' is deprecated since opset 10 of domain ai.onnx, and the model imports opset 10"},
        {"com.example", "Add", 1, INGOT_UNSUPPORTED,
         "operator 'Add' of domain com.example is not supported: it is neither of the ONNX standard nor a function of "
         "the model, and no library of custom operators that was registered has it"},
        {"ai.onnx.ml", "Add", 3, INGOT_INVALID_MODEL,
         "operator 'Add' does not exist in domain ai.onnx.ml (opsets 1 to 5)"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(facts); i++) {
        ingot_error error = {0};
        const ingot_schema *schema = NULL;
        assert_int_equal(ingot_schema_require(facts[i].domain, facts[i].name, facts[i].opset, &schema, &error),
                         facts[i].status);
        assert_string_equal(error.message, facts[i].message);
        assert_null(schema);
    }
    const ingot_schema *schema = NULL;
    assert_int_equal(ingot_schema_require("", "Upsample", 9, &schema, NULL), INGOT_OK);
    assert_int_equal(schema->since_version, 9);
}

static void operators_outside_the_standard_are_marked(void **state)
{
    (void)state;
    const ingot_schema *scaler = find("ImageScaler", 7);
    assert_true(scaler->flags & INGOT_SCHEMA_EXTRA);
    assert_non_null(ingot_schema_origin(scaler));
    assert_true(ingot_schema_default_floats(ingot_schema_attribute_find(scaler, "scale"))[0] == 1.0f);
    assert_null(ingot_schema_origin(find("Relu", 6)));
    const ingot_schema *fused = ingot_schema_find("com.microsoft", "FusedConv", 1);
    assert_non_null(fused);
    assert_int_equal(fused->min_inputs, 2);
    assert_int_equal(fused->max_inputs, 4);
    assert_int_equal(ingot_schema_attribute_find(fused, "activation")->type, INGOT_ATTRIBUTE_STRING);
    const ingot_schema *thresholded = find("ThresholdedRelu", 9);
    assert_true(thresholded->flags & INGOT_SCHEMA_EXTRA);
    assert_false(find("ThresholdedRelu", 10)->flags & INGOT_SCHEMA_EXTRA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_in_force_is_the_greatest_that_is_not_newer),
        cmocka_unit_test(empty_and_full_name_of_the_default_domain_are_one),
        cmocka_unit_test(every_schema_is_found_by_its_own_name),
        cmocka_unit_test(versions_are_listed_oldest_first),
        cmocka_unit_test(domains_tell_their_opsets),
        cmocka_unit_test(defaults_are_those_of_the_standard),
        cmocka_unit_test(lists_have_list_defaults),
        cmocka_unit_test(required_attributes_are_marked_and_have_no_default),
        cmocka_unit_test(type_sets_are_those_of_the_standard),
        cmocka_unit_test(forms_beyond_tensors_are_told_apart),
        cmocka_unit_test(types_of_the_graph_become_schema_types),
        cmocka_unit_test(inputs_and_outputs_are_described),
        cmocka_unit_test(counts_out_of_range_are_refused),
        cmocka_unit_test(inputs_of_one_type_variable_must_agree),
        cmocka_unit_test(inputs_of_a_heterogeneous_variadic_may_differ),
        cmocka_unit_test(a_type_that_is_not_allowed_is_refused_with_those_that_are),
        cmocka_unit_test(more_inputs_than_the_operator_has_are_refused),
        cmocka_unit_test(missing_operators_are_refused_with_the_reason),
        cmocka_unit_test(operators_outside_the_standard_are_marked),
    };
    return cmocka_run_group_tests_name("schema", tests, NULL, NULL);
}

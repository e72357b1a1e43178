/* Import: what a model file becomes as a graph. The models are in make_import_models.py, in ONNX's text form. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "import_models.h"
#include "onnx/import.h"
#include "onnx/write.h"

static ingot_model *open_bytes(const void *data, size_t size)
{
    ingot_error error = {0};
    ingot_model *model = NULL;
    if (ingot_model_open_memory(data, size, NULL, &model, &error) != INGOT_OK)
        fail_msg("%s", error.message);
    if (ingot_graph_verify(model->module->main, &error) != INGOT_OK)
        fail_msg("%s", error.message);
    return model;
}
#define OPEN(name) open_bytes(name##_model, sizeof name##_model)

static void expect_refusal(const void *data, size_t size, const char *words)
{
    ingot_error error = {0};
    ingot_model *model = NULL;
    assert_int_not_equal(ingot_model_open_memory(data, size, NULL, &model, &error), INGOT_OK);
    assert_null(model);
    if (strstr(error.message, words) == NULL)
        fail_msg("'%s' is not in '%s'", words, error.message);
}
#define REFUSED(name, words) expect_refusal(name##_model, sizeof name##_model, words)

static const ingot_node *find_node(const ingot_graph *graph, const char *op_type)
{
    for (const ingot_node *node = graph->first; node != NULL; node = node->next)
        if (strcmp(node->op_type, op_type) == 0)
            return node;
    fail_msg("there is no %s", op_type);
    return NULL;
}

/* ---- Order ---- */

static void nodes_that_stand_backwards_are_put_in_order(void **state)
{
    (void)state;
    static const char *const expected[] = {"Abs", "Neg", "Relu"};
    ingot_model *model = OPEN(backwards);
    const ingot_node *node = model->module->main->first;
    for (size_t i = 0; i < 3; i++, node = node->next)
        assert_string_equal(node->op_type, expected[i]);
    ingot_model_release(model);
}

/* A type float[2] as the field of a ValueInfoProto. */
static void write_value(ingot_writer *w, uint32_t field, const char *name)
{
    size_t info = ingot_write_begin(w, field);
    ingot_write_text(w, 1, name);
    size_t type = ingot_write_begin(w, 2), tensor = ingot_write_begin(w, 1);
    ingot_write_integer(w, 1, INGOT_FLOAT);
    ingot_write_end(w, tensor);
    ingot_write_end(w, type);
    ingot_write_end(w, info);
}

static void write_opset(ingot_writer *w, uint32_t field, const char *domain)
{
    size_t opset = ingot_write_begin(w, field);
    ingot_write_text(w, 1, domain);
    ingot_write_integer(w, 2, domain == NULL ? 17 : 1);
    ingot_write_end(w, opset);
}

static void write_node(ingot_writer *w, uint32_t field, const char *op_type, const char *domain, const char *input,
                       const char *output)
{
    size_t node = ingot_write_begin(w, field);
    ingot_write_text(w, 1, input);
    ingot_write_text(w, 2, output);
    ingot_write_text(w, 4, op_type);
    ingot_write_text(w, 7, domain);
    ingot_write_end(w, node);
}

/* x -> Neg -> v1 -> Neg -> ... -> y, the last node first. */
static void a_long_backward_chain_takes_no_stack(void **state)
{
    (void)state;
    enum { LENGTH = 20000 };
    ingot_writer w = {0};
    char from[16], to[16];
    ingot_write_integer(&w, 1, 8);
    write_opset(&w, 8, NULL);
    size_t graph = ingot_write_begin(&w, 7);
    for (int i = LENGTH; i > 0; i--) {
        snprintf(from, sizeof from, "v%d", i - 1);
        snprintf(to, sizeof to, "v%d", i);
        write_node(&w, 1, "Neg", NULL, i > 1 ? from : "x", i < LENGTH ? to : "y");
    }
    write_value(&w, 11, "x");
    write_value(&w, 12, "y");
    ingot_write_end(&w, graph);
    assert_int_equal(w.status, INGOT_OK);
    ingot_model *model = open_bytes(w.data, w.size);
    assert_int_equal(model->module->main->node_count, LENGTH);
    ingot_model_release(model);
    ingot_free(w.data);
}

/* ---- Captures ---- */

static void bodies_get_what_they_capture_as_inputs_and_share_constants(void **state)
{
    (void)state;
    ingot_model *model = OPEN(captures);
    const ingot_graph *main = model->module->main;
    const ingot_node *choice = find_node(main, "If");
    assert_int_equal(choice->operand_count, 1);
    assert_int_equal(choice->body_count, 2);
    const ingot_body *then_body = &choice->bodies[0], *else_body = &choice->bodies[1];
    assert_string_equal(then_body->attribute, "then_branch");
    assert_int_equal(then_body->formal_count, 0);
    assert_int_equal(then_body->capture_count, 2); /* t and x; w is a constant */
    assert_string_equal(choice->inputs[then_body->capture_first]->name, "t");
    assert_string_equal(choice->inputs[then_body->capture_first + 1]->name, "x");
    const ingot_node *add = find_node(then_body->graph, "Add");
    const ingot_graph_value *inner_w = add->inputs[1];
    assert_ptr_equal(inner_w->graph, then_body->graph);
    assert_non_null(inner_w->constant);
    assert_false(inner_w->is_input);
    /* What the inner If captures goes through the body in between. */
    assert_int_equal(else_body->capture_count, 3); /* c, x, t */
    const ingot_node *inner = find_node(else_body->graph, "If");
    assert_int_equal(inner->bodies[0].capture_count, 2);
    const ingot_graph_value *t = find_node(inner->bodies[1].graph, "Sub")->inputs[0];
    assert_true(t->is_input);
    assert_ptr_equal(t->graph, inner->bodies[1].graph);
    ingot_model_release(model);
}

/* ---- Functions ---- */

static int64_t axis_of(const ingot_node *node)
{
    const ingot_attribute *axis = ingot_node_attribute(node, "axis");
    assert_non_null(axis);
    return axis->i;
}

static void functions_become_their_nodes_with_attributes_in_place(void **state)
{
    (void)state;
    ingot_model *model = OPEN(functions);
    const ingot_graph *main = model->module->main;
    static const struct {
        const char *op_type, *name;
    } expected[] = {
        {"Neg", "Outer/Neg"}, {"Softmax", "Outer/Inner/Softmax"}, {"Transpose", ""},
        {"Neg", "Outer/Neg"}, {"Softmax", "Outer/Inner/Softmax"},
    };
    const ingot_node *node = main->first;
    int64_t axes[2] = {1, 0};
    assert_int_equal(main->node_count, 5);
    for (size_t i = 0, softmax = 0; i < 5; i++, node = node->next) {
        assert_string_equal(node->op_type, expected[i].op_type);
        assert_string_equal(node->name, expected[i].name);
        if (strcmp(node->op_type, "Softmax") == 0) {
            assert_int_equal(axis_of(node), axes[softmax++]);
            assert_int_equal(node->opset, 13); /* the function's, not the model's */
        }
    }
    assert_string_equal(main->outputs[1]->name, "z"); /* the caller's name */
    ingot_model_release(model);
}

static void an_input_that_a_call_leaves_out_is_left_out_inside(void **state)
{
    (void)state;
    ingot_model *model = OPEN(absent);
    const ingot_node *dropout = find_node(model->module->main, "Dropout");
    assert_int_equal(dropout->operand_count, 2);
    assert_null(dropout->inputs[1]);
    ingot_model_release(model);
}

/* Function Fn calls F(n-1) twice: 2 to the power of 40 nodes in under 4 kB. */
static void functions_that_expand_without_end_are_refused(void **state)
{
    (void)state;
    REFUSED(recursive, "the function 'A' calls itself");
    ingot_writer w = {0};
    ingot_write_integer(&w, 1, 8);
    write_opset(&w, 8, NULL);
    write_opset(&w, 8, "my");
    size_t graph = ingot_write_begin(&w, 7);
    write_node(&w, 1, "F40", "my", "x", "y");
    write_value(&w, 11, "x");
    write_value(&w, 12, "y");
    ingot_write_end(&w, graph);
    for (int i = 0; i <= 40; i++) {
        char name[8], callee[8];
        snprintf(name, sizeof name, "F%d", i);
        snprintf(callee, sizeof callee, "F%d", i - 1);
        size_t function = ingot_write_begin(&w, 25);
        ingot_write_text(&w, 1, name);
        ingot_write_text(&w, 4, "a");
        ingot_write_text(&w, 5, "b");
        write_node(&w, 7, i == 0 ? "Neg" : callee, i == 0 ? NULL : "my", "a", "m");
        write_node(&w, 7, i == 0 ? "Neg" : callee, i == 0 ? NULL : "my", "m", "b");
        write_opset(&w, 9, NULL);
        write_opset(&w, 9, "my");
        ingot_write_text(&w, 10, "my");
        ingot_write_end(&w, function);
    }
    assert_int_equal(w.status, INGOT_OK);
    expect_refusal(w.data, w.size, "expand to far more nodes");
    ingot_free(w.data);
}

/* ---- Inputs and constants ---- */

static void an_initializer_that_is_an_input_is_its_default(void **state)
{
    (void)state;
    ingot_model *model = OPEN(defaults);
    assert_int_equal(ingot_model_input_count(model), 2);
    assert_false(ingot_model_input(model, 0)->has_default);
    assert_true(ingot_model_input(model, 1)->has_default);
    assert_non_null(model->module->main->inputs[1]->constant);
    ingot_model_release(model);
    REFUSED(default_of_wrong_size, "input 'w' is declared float[3], but its initializer is float[2]");
}

static void before_ir_version_4_initializers_must_be_inputs_and_are_constants(void **state)
{
    (void)state;
    ingot_model *model = OPEN(ir3);
    assert_int_equal(ingot_model_input_count(model), 1);
    assert_int_equal(ingot_model_initializer_count(model), 1);
    assert_int_equal(ingot_model_initializer_bytes(model), 8);
    ingot_model_release(model);
    REFUSED(ir3_not_input, "initializer 'w' is no input of the graph");
}

static void constant_nodes_become_constants(void **state)
{
    (void)state;
    ingot_model *model = OPEN(constants);
    const ingot_graph *main = model->module->main;
    const int64_t expected[] = {4, 5, 6};
    assert_int_equal(main->node_count, 1);
    assert_memory_equal(main->first->inputs[1]->constant->data, ((float[]){1, 2}), 8);
    assert_memory_equal(main->outputs[1]->constant->data, expected, sizeof expected);
    ingot_model_release(model);
}

/* ---- What a model says of itself ---- */

static void a_model_describes_itself(void **state)
{
    (void)state;
    ingot_model *model = OPEN(described);
    int64_t version = 0;
    const char *value = NULL;
    size_t nodes = 0;
    assert_int_equal(ingot_model_ir_version(model), 9);
    assert_string_equal(ingot_model_producer(model), "maker 2.1");
    assert_string_equal(ingot_model_producer_name(model), "maker");
    assert_string_equal(ingot_model_domain(model), "org.example");
    assert_int_equal(ingot_model_version(model), 7);
    assert_string_equal(ingot_model_graph_description(model), "");
    assert_string_equal(ingot_model_graph_name(model), "the_graph");
    assert_string_equal(ingot_model_description(model), "what it does");
    assert_string_equal(ingot_model_opset(model, 0, &version), "ai.onnx");
    assert_int_equal(version, 17);
    assert_string_equal(ingot_model_opset(model, 1, &version), "com.microsoft");
    assert_null(ingot_model_opset(model, 2, &version));
    assert_string_equal(ingot_model_metadata(model, 0, &value), "author");
    assert_string_equal(value, "someone");
    assert_string_equal(ingot_model_operator(model, 0, &nodes), "Neg");
    assert_int_equal(nodes, 2);
    ingot_model_release(model);
}

static void inputs_tell_their_types_and_the_names_of_free_sizes(void **state)
{
    (void)state;
    ingot_model *model = OPEN(described);
    const ingot_type_info *x = ingot_model_input(model, 0)->type, *k = ingot_model_input(model, 1)->type;
    assert_int_equal(x->rank, 3);
    assert_true(x->dims[0] == -1 && x->dims[1] == 3 && x->dims[2] == -1);
    assert_string_equal(x->symbols[0], "N");
    assert_null(x->symbols[1]);
    assert_int_equal(k->element, INGOT_INT64);
    const ingot_type_info *y = ingot_model_output(model, 0)->type;
    assert_int_equal(y->rank, 3); /* inferred, though declared without */
    assert_string_equal(y->symbols[2], "M");
    ingot_model_release(model);
    model = OPEN(sequence_input);
    const ingot_type_info *s = ingot_model_input(model, 0)->type;
    assert_int_equal(s->kind, INGOT_KIND_SEQUENCE);
    assert_int_equal(s->item->kind, INGOT_KIND_TENSOR);
    assert_string_equal(s->item->symbols[0], "N");
    ingot_model_release(model);
}

/* ---- Damage ---- */

static const struct {
    const unsigned char *data;
    size_t size;
} damaged[] = {
    {captures_model, sizeof captures_model},
    {functions_model, sizeof functions_model},
    {constants_model, sizeof constants_model},
    {sequence_input_model, sizeof sequence_input_model},
};

static void try_to_open(const unsigned char *data, size_t size)
{
    ingot_model *model = NULL;
    ingot_error error = {0};
    ingot_status status = ingot_model_open_memory(data, size, NULL, &model, &error);
    assert_int_equal(status, error.status);
    assert_true((status == INGOT_OK) == (model != NULL));
    ingot_model_release(model);
}

static void models_cut_or_changed_anywhere_are_read_or_refused(void **state)
{
    (void)state;
    for (size_t m = 0; m < sizeof damaged / sizeof damaged[0]; m++) {
        size_t size = damaged[m].size;
        for (size_t cut = 1; cut < size; cut++) {
            unsigned char *copy = ingot_malloc(cut);
            memcpy(copy, damaged[m].data, cut);
            try_to_open(copy, cut);
            ingot_free(copy);
        }
        unsigned char *copy = ingot_malloc(size);
        for (size_t at = 0; at < size; at++) {
            for (unsigned change = 1; change < 256; change *= 2) {
                memcpy(copy, damaged[m].data, size);
                copy[at] ^= (unsigned char)change;
                try_to_open(copy, size);
            }
        }
        ingot_free(copy);
    }
}

/* ---- Memory ---- */

static size_t allocations_left;

static bool fail_when_used_up(size_t size)
{
    (void)size;
    return allocations_left > 0 && allocations_left-- > 0;
}

static void import_survives_the_failure_of_every_allocation(void **state)
{
    (void)state;
    for (size_t m = 0; m < sizeof damaged / sizeof damaged[0]; m++) {
        ingot_status status = INGOT_OUT_OF_MEMORY;
        for (size_t count = 0; status == INGOT_OUT_OF_MEMORY; count++) {
            ingot_model *model = NULL;
            ingot_error error = {0};
            allocations_left = count;
            ingot_set_allocation_hook(fail_when_used_up);
            status = ingot_model_open_memory(damaged[m].data, damaged[m].size, NULL, &model, &error);
            ingot_set_allocation_hook(NULL);
            assert_int_equal(status, error.status);
            ingot_model_release(model);
        }
        assert_int_equal(status, INGOT_OK);
    }
}

static void reading_stays_below_the_memory_limit(void **state)
{
    (void)state;
    ingot_model_options options;
    ingot_model *model = NULL;
    ingot_model_options_init(&options);
    options.memory_limit = 1000;
    assert_int_equal(ingot_model_open_memory(captures_model, sizeof captures_model, &options, &model, NULL),
                     INGOT_OUT_OF_MEMORY);
    options.size = 4;
    assert_int_equal(ingot_model_open_memory(captures_model, sizeof captures_model, &options, &model, NULL),
                     INGOT_INVALID_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_that_stand_backwards_are_put_in_order),
        cmocka_unit_test(a_long_backward_chain_takes_no_stack),
        cmocka_unit_test(bodies_get_what_they_capture_as_inputs_and_share_constants),
        cmocka_unit_test(functions_become_their_nodes_with_attributes_in_place),
        cmocka_unit_test(an_input_that_a_call_leaves_out_is_left_out_inside),
        cmocka_unit_test(functions_that_expand_without_end_are_refused),
        cmocka_unit_test(an_initializer_that_is_an_input_is_its_default),
        cmocka_unit_test(before_ir_version_4_initializers_must_be_inputs_and_are_constants),
        cmocka_unit_test(constant_nodes_become_constants),
        cmocka_unit_test(a_model_describes_itself),
        cmocka_unit_test(inputs_tell_their_types_and_the_names_of_free_sizes),
        cmocka_unit_test(models_cut_or_changed_anywhere_are_read_or_refused),
        cmocka_unit_test(import_survives_the_failure_of_every_allocation),
        cmocka_unit_test(reading_stays_below_the_memory_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

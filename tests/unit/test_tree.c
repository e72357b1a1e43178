/* Tree ensembles: what is no forest is refused when the node is resolved, naming node and attribute. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ops/tree.h"

/* A stump: x <= 1 votes for target 0 with 10, else with 20. Cases change one list. */
typedef struct stump {
    int64_t yes[3], no[3], nodes[3], features[3], targets[2], voters[2];
    size_t modes;
} stump;

static const stump good = {{1, 0, 0}, {2, 0, 0}, {0, 1, 2}, {0, 0, 0}, {0, 0}, {1, 2}, 3};

static ingot_status resolve(const stump *s, ingot_module *module, ingot_node **node, ingot_error *error)
{
    static const int64_t zeros[3];
    static const float thresholds[] = {1, 0, 0}, weights[] = {10, 20};
    static const ingot_text modes[] = {{"BRANCH_LEQ", 10}, {"LEAF", 4}, {"LEAF", 4}};
    const ingot_attribute attributes[] = {
        {.name = "n_targets", .type = INGOT_ATTRIBUTE_INT, .i = 1},
        {.name = "nodes_treeids", .type = INGOT_ATTRIBUTE_INTS, .count = 3, .ints = zeros},
        {.name = "nodes_nodeids", .type = INGOT_ATTRIBUTE_INTS, .count = 3, .ints = s->nodes},
        {.name = "nodes_featureids", .type = INGOT_ATTRIBUTE_INTS, .count = 3, .ints = s->features},
        {.name = "nodes_truenodeids", .type = INGOT_ATTRIBUTE_INTS, .count = 3, .ints = s->yes},
        {.name = "nodes_falsenodeids", .type = INGOT_ATTRIBUTE_INTS, .count = 3, .ints = s->no},
        {.name = "nodes_modes", .type = INGOT_ATTRIBUTE_STRINGS, .count = s->modes, .strings = modes},
        {.name = "nodes_values", .type = INGOT_ATTRIBUTE_FLOATS, .count = 3, .floats = thresholds},
        {.name = "target_treeids", .type = INGOT_ATTRIBUTE_INTS, .count = 2, .ints = zeros},
        {.name = "target_nodeids", .type = INGOT_ATTRIBUTE_INTS, .count = 2, .ints = s->voters},
        {.name = "target_ids", .type = INGOT_ATTRIBUTE_INTS, .count = 2, .ints = s->targets},
        {.name = "target_weights", .type = INGOT_ATTRIBUTE_FLOATS, .count = 2, .floats = weights},
    };
    ingot_graph_value *x, *y;
    assert_int_equal(ingot_graph_add_value(module->main, "x", 1, &x, error), INGOT_OK);
    assert_int_equal(ingot_graph_add_value(module->main, "y", 1, &y, error), INGOT_OK);
    const ingot_node_spec spec = {.domain = "ai.onnx.ml",
                                  .op_type = "TreeEnsembleRegressor",
                                  .name = "Tree_0",
                                  .opset = 1,
                                  .inputs = &x,
                                  .input_count = 1,
                                  .operand_count = 1,
                                  .outputs = &y,
                                  .output_count = 1,
                                  .attributes = attributes,
                                  .attribute_count = sizeof attributes / sizeof *attributes};
    assert_int_equal(ingot_graph_add_node(module->main, &spec, NULL, node, error), INGOT_OK);
    return ingot_op_resolve(*node, error);
}

static ingot_module *make_module(ingot_budget *budget)
{
    ingot_module *module = NULL;
    ingot_budget_init(budget, 0);
    assert_int_equal(ingot_module_create(budget, &module, NULL), INGOT_OK);
    if (!module->main)
        assert_int_equal(ingot_graph_create(module, "g", &module->main, NULL), INGOT_OK);
    return module;
}

static void check_refused(const stump *s, const char *word)
{
    ingot_budget budget;
    ingot_module *module = make_module(&budget);
    ingot_node *node;
    ingot_error error = {0};
    assert_int_equal(resolve(s, module, &node, &error), INGOT_INVALID_MODEL);
    assert_non_null(strstr(error.message, "Tree_0"));
    assert_non_null(strstr(error.message, word));
    ingot_module_release(module);
}

static void test_a_stump_becomes_nodes_and_votes(void **state)
{
    (void)state;
    ingot_budget budget;
    ingot_module *module = make_module(&budget);
    ingot_node *node;
    ingot_error error = {0};
    assert_int_equal(resolve(&good, module, &node, &error), INGOT_OK);
    const ingot_trees *t = &((const ingot_tree_params *)node->params)->trees;
    assert_int_equal(t->tree_count, 1);
    assert_int_equal(t->max_feature, 0);
    const ingot_tree_node *root = &t->nodes[t->roots[0]];
    assert_int_equal(root->mode, INGOT_TREE_LEQ);
    const ingot_tree_node *no = &t->nodes[root->no];
    assert_int_equal(no->mode, INGOT_TREE_LEAF);
    assert_int_equal(no->no, 1);
    assert_true(t->votes[no->yes].weight == 20);
    ingot_module_release(module);
}

static void test_branches_in_a_circle_are_refused(void **state)
{
    (void)state;
    stump s = good;
    s.yes[0] = 0;
    check_refused(&s, "circle");
}

static void test_a_child_that_is_not_there_is_refused(void **state)
{
    (void)state;
    stump s = good;
    s.no[0] = 7;
    check_refused(&s, "nodes_falsenodeids");
}

static void test_a_node_that_is_there_twice_is_refused(void **state)
{
    (void)state;
    stump s = good;
    s.nodes[2] = 1;
    check_refused(&s, "nodes_nodeids");
}

static void test_a_target_out_of_range_is_refused(void **state)
{
    (void)state;
    stump s = good;
    s.targets[1] = 1;
    check_refused(&s, "target_ids");
}

static void test_a_vote_of_a_node_that_is_not_there_is_refused(void **state)
{
    (void)state;
    stump s = good;
    s.voters[0] = -3;
    check_refused(&s, "target_nodeids");
}

static void test_a_negative_feature_is_refused(void **state)
{
    (void)state;
    stump s = good;
    s.features[0] = -1;
    check_refused(&s, "nodes_featureids");
}

static void test_lists_of_unlike_length_are_refused(void **state)
{
    (void)state;
    stump s = good;
    s.modes = 2;
    check_refused(&s, "nodes_modes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_stump_becomes_nodes_and_votes),
        cmocka_unit_test(test_branches_in_a_circle_are_refused),
        cmocka_unit_test(test_a_child_that_is_not_there_is_refused),
        cmocka_unit_test(test_a_node_that_is_there_twice_is_refused),
        cmocka_unit_test(test_a_target_out_of_range_is_refused),
        cmocka_unit_test(test_a_vote_of_a_node_that_is_not_there_is_refused),
        cmocka_unit_test(test_a_negative_feature_is_refused),
        cmocka_unit_test(test_lists_of_unlike_length_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

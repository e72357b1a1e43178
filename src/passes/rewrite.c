#include "passes/rewrite.h"

#include <math.h>
#include <string.h>

#include "base/number.h"

/* ---- Recognising ---- */

bool ingot_node_is(const ingot_node *node, const char *op_type)
{
    return node && node->op && strcmp(node->op_type, op_type) == 0 && strcmp(node->domain, "ai.onnx") == 0;
}

ingot_node *ingot_made_by(const ingot_graph_value *value, const char *op_type)
{
    return value && value->producer_index == 0 && ingot_node_is(value->producer, op_type) ? value->producer : NULL;
}

bool ingot_value_is_read(const ingot_graph_value *value)
{
    return value && (value->use_count > 0 || value->output_count > 0);
}

ingot_graph_value *ingot_operand(const ingot_node *node, size_t index)
{
    return index < node->operand_count ? node->inputs[index] : NULL;
}

int64_t ingot_int_attribute(const ingot_node *node, const char *name, int64_t otherwise)
{
    const ingot_attribute *a = ingot_node_attribute(node, name);
    return a && a->type == INGOT_ATTRIBUTE_INT ? a->i : otherwise;
}

float ingot_float_attribute(const ingot_node *node, const char *name, float otherwise)
{
    const ingot_attribute *a = ingot_node_attribute(node, name);
    return a && a->type == INGOT_ATTRIBUTE_FLOAT ? a->f : otherwise;
}

static const ingot_value *constant_tensor(const ingot_graph_value *value)
{
    return ingot_graph_value_is_constant(value) && value->constant->kind == INGOT_KIND_TENSOR ? value->constant : NULL;
}

bool ingot_int_list(const ingot_node *node, const char *name, size_t operand, int64_t *values, size_t max,
                    size_t *count)
{
    const ingot_attribute *a = ingot_node_attribute(node, name);
    if (a && a->type == INGOT_ATTRIBUTE_INTS) {
        if (a->count > max)
            return false;
        if (a->count > 0)
            memcpy(values, a->ints, a->count * sizeof *values);
        *count = a->count;
        return true;
    }
    const ingot_value *content = constant_tensor(ingot_operand(node, operand));
    if (!content || !ingot_element_is_integer(content->element) || ingot_value_count(content) > max)
        return false;
    *count = ingot_value_count(content);
    for (size_t i = 0; i < *count; i++)
        values[i] = ingot_load_i64(content->element, content->data, i);
    return true;
}

bool ingot_has_static_shape(const ingot_type *type)
{
    if (type->kind != INGOT_KIND_TENSOR || type->element == INGOT_UNDEFINED || type->rank < 0)
        return false;
    for (int i = 0; i < type->rank; i++)
        if (!ingot_dim_is_number(type->dims[i]))
            return false;
    return true;
}

bool ingot_same_static_shape(const ingot_type *a, const ingot_type *b)
{
    return ingot_has_static_shape(a) && ingot_has_static_shape(b) && a->rank == b->rank &&
           memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims) == 0;
}

bool ingot_constant_number(const ingot_graph_value *value, double *number)
{
    const ingot_value *content = constant_tensor(value);
    if (!content || ingot_value_count(content) != 1 ||
        !(ingot_element_is_float(content->element) || ingot_element_is_integer(content->element)))
        return false;
    *number = ingot_load_double(content->element, content->data, 0);
    return true;
}

bool ingot_constant_beside(const ingot_graph_value *value, const ingot_graph_value *x, double *number)
{
    return ingot_constant_number(value, number) && x && x->type.kind == INGOT_KIND_TENSOR &&
           value->constant->rank <= x->type.rank;
}

bool ingot_is_number_beside(const ingot_graph_value *value, const ingot_graph_value *x, double wanted)
{
    double number;
    if (!ingot_constant_beside(value, x, &number))
        return false;
    /* Exporters write 1 / sqrt(2) with a last digit of their own. */
    double slack = value->constant->element == INGOT_DOUBLE ? 1e-15 : 2e-7;
    return fabs(number - wanted) <= slack * fabs(wanted);
}

ingot_graph_value *ingot_other_than_number(const ingot_node *node, double wanted)
{
    for (int side = 0; node && side < 2; side++)
        if (ingot_is_number_beside(node->inputs[1 - side], node->inputs[side], wanted))
            return node->inputs[side];
    return NULL;
}

bool ingot_can_make(const char *op_type, int opset)
{
    const ingot_op_entry *entry = ingot_op_find("ai.onnx", op_type, opset);
    return entry && entry->op;
}

/* ---- Putting in place ---- */

ingot_status ingot_insert_node(ingot_graph *graph, const ingot_node_spec *spec, ingot_node *before, ingot_node **node,
                               ingot_error *error)
{
    ingot_node *added;
    INGOT_TRY(ingot_graph_add_node(graph, spec, before, &added, error));
    INGOT_TRY(ingot_op_resolve(added, error));
    if (node)
        *node = added;
    return ingot_op_infer(added, error);
}

ingot_status ingot_replace_node(ingot_node *old, const ingot_replacement *by, ingot_graph_value **made,
                                ingot_error *error)
{
    ingot_graph_value *before = old->outputs[0], *value;
    INGOT_TRY(ingot_graph_add_value(old->graph, before->name, strlen(before->name), &value, error));
    ingot_node_spec spec = {.domain = by->domain,
                            .op_type = by->op_type,
                            .name = old->name,
                            .opset = by->opset,
                            .inputs = by->inputs,
                            .input_count = by->input_count,
                            .operand_count = by->input_count,
                            .outputs = &value,
                            .output_count = 1,
                            .attributes = by->attributes,
                            .attribute_count = by->attribute_count};
    ingot_node *node;
    INGOT_TRY(ingot_insert_node(old->graph, &spec, old, &node, error));
    if (made)
        *made = node->outputs[0];
    return ingot_graph_replace_value(before, node->outputs[0], error);
}

ingot_status ingot_new_content(ingot_value **content, ingot_error *error)
{
    *content = ingot_malloc(sizeof **content);
    if (!*content)
        return ingot_fail_memory(error, sizeof **content, "a constant");
    ingot_value_init(*content);
    return INGOT_OK;
}

ingot_status ingot_new_tensor(ingot_graph *graph, const char *name, ingot_element element, int rank,
                              const int64_t *dims, ingot_graph_value **value, void **data, ingot_error *error)
{
    ingot_value *content;
    size_t bytes;
    if (!ingot_tensor_bytes(element, rank, dims, &bytes))
        return ingot_fail_memory(error, SIZE_MAX, "a constant");
    if (graph->module->budget)
        INGOT_TRY(ingot_budget_take(graph->module->budget, bytes, "a constant", error));
    INGOT_TRY(ingot_value_create_tensor(element, rank, dims, NULL, 0, &content, error));
    INGOT_TRY(ingot_module_own(graph->module, content, error));
    *data = content->data;
    return ingot_graph_add_constant(graph, name, content, value, error);
}

ingot_status ingot_ints_attribute(ingot_graph *graph, const char *name, const int64_t *values, size_t count,
                                  ingot_attribute *attribute, ingot_error *error)
{
    int64_t *copy = ingot_arena_alloc_array(graph->module->arena, count + 1, sizeof *copy);
    if (!copy)
        return ingot_fail_memory(error, count * sizeof *copy, "an attribute");
    if (count > 0)
        memcpy(copy, values, count * sizeof *copy);
    *attribute = (ingot_attribute){.name = name, .type = INGOT_ATTRIBUTE_INTS, .count = count, .ints = copy};
    return INGOT_OK;
}

/* ---- Captures ---- */

static void renumber_use(ingot_graph_value *value, const ingot_node *node, size_t from, size_t to)
{
    for (size_t i = 0; i < value->use_count; i++) {
        if (value->uses[i].node != node || value->uses[i].index != from)
            continue;
        value->uses[i].index = to;
        return;
    }
}

/* The body's inputs without the dropped captures; returns how many are left. */
static size_t keep_body_inputs(ingot_body *body, const bool *drop)
{
    ingot_graph *graph = body->graph;
    size_t kept = 0;
    for (size_t i = 0; i < body->capture_count; i++) {
        ingot_graph_value *inner = graph->inputs[body->formal_count + i];
        if (drop[body->capture_first + i])
            inner->is_input = false;
        else
            graph->inputs[body->formal_count + kept++] = inner;
    }
    graph->input_count = body->formal_count + kept;
    return kept;
}

ingot_status ingot_drop_captures(ingot_node *node, const bool *drop, ingot_error *error)
{
    for (size_t i = node->operand_count; i < node->input_count; i++)
        if (drop[i])
            INGOT_TRY(ingot_node_set_input(node, i, NULL, error));
    for (size_t b = 0; b < node->body_count; b++) {
        ingot_body *body = &node->bodies[b];
        size_t kept = keep_body_inputs(body, drop), dropped_before = 0;
        for (size_t i = node->operand_count; i < body->capture_first; i++)
            dropped_before += drop[i];
        body->capture_first -= dropped_before;
        body->capture_count = kept;
    }
    size_t at = node->operand_count;
    for (size_t i = at; i < node->input_count; i++) {
        if (drop[i])
            continue;
        if (at != i)
            renumber_use(node->inputs[i], node, i, at);
        node->inputs[at++] = node->inputs[i];
    }
    node->input_count = at;
    return INGOT_OK;
}

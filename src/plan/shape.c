/* The shape rules of one step, with numbers. */
#include <string.h>

#include "plan/plan.h"

static void load_operand(const ingot_plan *plan, const ingot_shape_values *values, const ingot_graph_value *v,
                         ingot_infer_value *operand)
{
    operand->type = (ingot_type){0};
    operand->constant = NULL;
    operand->known_count = SIZE_MAX;
    if (!v)
        return;
    operand->type = values->types[v->id];
    if (ingot_graph_value_is_constant(v))
        operand->constant = v->constant;
    else if (values->content && plan->slots[v->id].place != INGOT_PLACE_NONE)
        operand->constant = values->content(values->argument, v->id);
    if (!operand->constant && values->known && values->known[v->id]) {
        operand->known_count = values->known_counts[v->id];
        memcpy(operand->known, values->known[v->id], operand->known_count * sizeof *operand->known);
    }
}

static ingot_status store_known(const ingot_shape_values *values, const ingot_infer_value *output, size_t id,
                                ingot_error *error)
{
    if (!values->known || output->known_count == SIZE_MAX)
        return INGOT_OK;
    ingot_dim *known = ingot_arena_copy(values->arena, output->known, output->known_count * sizeof *known);
    if (!known)
        return ingot_fail_memory(error, output->known_count * sizeof *known, "shape inference");
    values->known[id] = known;
    values->known_counts[id] = output->known_count;
    return INGOT_OK;
}

static ingot_status shape_node(const ingot_plan *plan, const ingot_node *node, const ingot_shape_values *values,
                               ingot_error *error)
{
    ingot_infer_value *operands = values->scratch, *outputs = operands + node->input_count;
    ingot_infer c = {.node = node,
                     .params = node->params,
                     .inputs = operands,
                     .input_count = node->input_count,
                     .outputs = outputs,
                     .output_count = node->output_count,
                     .error = error};
    for (size_t i = 0; i < node->input_count; i++)
        load_operand(plan, values, node->inputs[i], &operands[i]);
    for (size_t i = 0; i < node->output_count; i++) {
        outputs[i].constant = NULL;
        outputs[i].known_count = SIZE_MAX;
        outputs[i].type = node->outputs[i] ? ingot_type_tensor(INGOT_UNDEFINED) : (ingot_type){0};
    }
    INGOT_TRY(node->op->infer(&c));
    for (size_t i = 0; i < node->output_count; i++) {
        if (!node->outputs[i])
            continue;
        for (int d = 0; d < outputs[i].type.rank; d++)
            if (ingot_dim_is_number(outputs[i].type.dims[d]) && outputs[i].type.dims[d] < 0)
                return ingot_infer_fail(&c, "output '%s' would have the negative size %lld", node->outputs[i]->name,
                                        (long long)outputs[i].type.dims[d]);
        values->types[node->outputs[i]->id] = outputs[i].type;
        INGOT_TRY(store_known(values, &outputs[i], node->outputs[i]->id, error));
    }
    return INGOT_OK;
}

ingot_status ingot_plan_shape_step(const ingot_plan *plan, const ingot_plan_step *step,
                                   const ingot_shape_values *values, ingot_error *error)
{
    if (step->kind != INGOT_STEP_REGION)
        return shape_node(plan, step->node, values, error);
    for (size_t i = 0; i < step->region.node_count; i++)
        INGOT_TRY(shape_node(plan, step->region.nodes[i], values, error));
    return INGOT_OK;
}

#include "runtime/evaluate.h"

#include <string.h>

#include "plan/backend.h"

/* Types of the outputs from the inputs at hand; memory for those whose shape the rules tell. */
static ingot_status shape_outputs(const ingot_node *node, const ingot_value *const *inputs, ingot_value *const *outputs,
                                  ingot_infer_value *values, ingot_budget *budget, ingot_error *error)
{
    ingot_infer c = {.node = node,
                     .params = node->params,
                     .inputs = values,
                     .input_count = node->input_count,
                     .outputs = values + node->input_count,
                     .output_count = node->output_count,
                     .error = error};
    for (size_t i = 0; i < node->input_count; i++) {
        values[i] = (ingot_infer_value){.known_count = SIZE_MAX, .constant = inputs[i]};
        if (inputs[i])
            values[i].type =
                inputs[i]->kind == INGOT_KIND_TENSOR ? ingot_type_of_value(inputs[i]) : node->inputs[i]->type;
    }
    for (size_t i = 0; i < node->output_count; i++) {
        c.outputs[i] = (ingot_infer_value){.known_count = SIZE_MAX};
        c.outputs[i].type = outputs[i] ? ingot_type_tensor(INGOT_UNDEFINED) : (ingot_type){0};
    }
    INGOT_TRY(node->op->infer(&c));
    for (size_t i = 0; i < node->output_count; i++) {
        const ingot_type *t = &c.outputs[i].type;
        bool known = t->kind == INGOT_KIND_TENSOR && t->rank >= 0 && t->element != INGOT_UNDEFINED;
        for (int d = 0; d < t->rank; d++)
            known &= ingot_dim_is_number(t->dims[d]);
        if (outputs[i] && known)
            INGOT_TRY(ingot_value_set_tensor_within(budget, outputs[i], t->element, t->rank, t->dims, error));
        else if (outputs[i] && t->kind == INGOT_KIND_TENSOR && !(node->op->flags & INGOT_OP_SIZES_OUTPUT))
            return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "the shape of its output %zu cannot be told", i);
    }
    return INGOT_OK;
}

/* A view: the input's content under the output's shape. */
static ingot_status copy_view(const ingot_node *node, const ingot_value *input, ingot_value *output, ingot_error *error)
{
    int64_t dims[INGOT_MAX_RANK];
    int rank = output->rank;
    bool tensor = input->kind == INGOT_KIND_TENSOR;
    memcpy(dims, output->dims, sizeof dims);
    if (tensor && (output->kind != INGOT_KIND_TENSOR || ingot_value_count(output) != ingot_value_count(input)))
        return ingot_node_fail(node, error, INGOT_UNSUPPORTED, "its output shape is not known");
    INGOT_TRY(ingot_value_copy(output, input, error));
    if (!tensor)
        return INGOT_OK;
    output->rank = rank;
    memcpy(output->dims, dims, sizeof dims);
    return INGOT_OK;
}

/* As in the backends: outputs without elements are no work. */
static bool is_empty(const ingot_node *node, ingot_value *const *outputs)
{
    for (size_t i = 0; i < node->output_count; i++)
        if (outputs[i] && (outputs[i]->kind != INGOT_KIND_TENSOR || ingot_value_count(outputs[i]) > 0))
            return false;
    return !(node->op->flags & INGOT_OP_SIZES_OUTPUT);
}

/* The node on aligned inputs. */
static ingot_status run_node(ingot_reference_evaluator *evaluator, const ingot_node *node,
                             const ingot_value *const *inputs, ingot_value *const *outputs, ingot_infer_value *values,
                             ingot_error *error)
{
    bool view = node->op->flags & INGOT_OP_VIEW;
    ingot_kernel kernel = ingot_reference_kernel(node->op);
    if (!view && !kernel)
        return ingot_node_fail(node, error, INGOT_UNSUPPORTED, "it has no reference kernel");
    INGOT_TRY(shape_outputs(node, inputs, outputs, values, evaluator->budget, error));
    if (view)
        return copy_view(node, inputs[0], outputs[0], error);
    if (is_empty(node, outputs))
        return INGOT_OK;
    ingot_kernel_call call = {.node = node,
                              .params = node->params,
                              .inputs = inputs,
                              .input_count = node->input_count,
                              .outputs = outputs,
                              .output_count = node->output_count,
                              .threads = 1,
                              .scratch = &evaluator->scratch,
                              .budget = evaluator->budget,
                              .error = error};
    return kernel(&call);
}

static ingot_status align_input(const ingot_value *input, const ingot_value **aligned, ingot_value **copy,
                                ingot_error *error)
{
    *aligned = input;
    if (!input || ingot_value_is_aligned(input))
        return INGOT_OK;
    INGOT_TRY(ingot_value_create_tensor(input->element, input->rank, input->dims, NULL, 0, copy, error));
    memcpy((*copy)->data, input->data, ingot_value_bytes(input));
    *aligned = *copy;
    return INGOT_OK;
}

static ingot_status evaluate(ingot_evaluator *base, const ingot_node *node, const ingot_value *const *inputs,
                             ingot_value *const *outputs, ingot_error *error)
{
    size_t count = node->input_count;
    ingot_infer_value *values = ingot_calloc(count + node->output_count + 1, sizeof *values);
    const ingot_value **aligned = ingot_calloc(count + 1, sizeof *aligned);
    ingot_value **copies = ingot_calloc(count + 1, sizeof *copies);
    ingot_status status =
        values && aligned && copies ? INGOT_OK : ingot_fail_memory(error, sizeof *values, "constant folding");
    for (size_t i = 0; i < count && status == INGOT_OK; i++)
        status = align_input(inputs[i], &aligned[i], &copies[i], error);
    if (status == INGOT_OK)
        status = run_node((ingot_reference_evaluator *)base, node, aligned, outputs, values, error);
    for (size_t i = 0; copies && i < count; i++)
        ingot_value_release(copies[i]);
    ingot_free(copies);
    ingot_free(aligned);
    ingot_free(values);
    return status;
}

void ingot_reference_evaluator_init(ingot_reference_evaluator *evaluator, ingot_budget *budget)
{
    *evaluator = (ingot_reference_evaluator){.base = {evaluate}, .budget = budget};
}

void ingot_reference_evaluator_clear(ingot_reference_evaluator *evaluator)
{
    ingot_block_release(&evaluator->scratch, evaluator->budget);
}

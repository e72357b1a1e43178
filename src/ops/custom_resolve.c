/* Making nodes of custom operators ready: arity, attributes to params, shape rules. */
#include <stdio.h>
#include <string.h>

#include "ops/custom.h"

/* ---- Shape rules ---- */

static bool integers(const ingot_custom_shape *shape, size_t input, int64_t *values, size_t max, size_t *count)
{
    return ingot_infer_numbers(shape->internal, input, values, max, count);
}

static ingot_status shape_fail(const ingot_custom_shape *shape, const char *format, ...)
{
    char message[800];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return ingot_infer_fail(shape->internal, "%s", message);
}

static ingot_status broadcast(ingot_custom_shape *shape, size_t output, size_t a, size_t b)
{
    ingot_infer *c = shape->internal;
    const ingot_type *left = &c->inputs[a].type, *right = &c->inputs[b].type;
    ingot_custom_type *to = &shape->outputs[output];
    return ingot_infer_broadcast_dims(c, left->rank, left->dims, right->rank, right->dims, &to->rank, to->dims);
}

static void load_type(const ingot_type *from, ingot_custom_type *to)
{
    *to = (ingot_custom_type){.present = from->kind != INGOT_KIND_NONE, .element = from->element, .rank = -1};
    if (!to->present || from->rank < 0)
        return;
    to->rank = from->rank;
    memcpy(to->dims, from->dims, (size_t)from->rank * sizeof *to->dims);
}

static ingot_status store_type(ingot_infer *c, size_t output, const ingot_custom_type *from)
{
    ingot_dim dims[INGOT_MAX_RANK];
    if (from->element <= INGOT_UNDEFINED || from->element >= INGOT_ELEMENT_COUNT)
        return ingot_infer_fail(c, "its shape rule gives output %zu no element type", output);
    if (from->rank > INGOT_MAX_RANK)
        return ingot_infer_fail(c, "its shape rule gives output %zu the rank %d; the greatest is %d", output,
                                from->rank, INGOT_MAX_RANK);
    for (int i = 0; i < from->rank; i++) /* a negative number that is no reference is INGOT_SIZE_FREE */
        dims[i] = from->dims[i] < 0 && ingot_dim_is_number(from->dims[i]) ? INGOT_DIM_UNKNOWN : from->dims[i];
    ingot_infer_set(c, output, from->element, from->rank, dims);
    return INGOT_OK;
}

static const ingot_custom_operand *operand_at(const ingot_custom_operand *operands, size_t count, size_t index)
{
    if (index < count)
        return &operands[index];
    return count > 0 && operands[count - 1].variadic ? &operands[count - 1] : NULL;
}

/* What holds where the operator has no rule of its own. */
static void default_shapes(const ingot_custom_op *custom, const ingot_custom_shape *shape)
{
    for (size_t i = 0; i < shape->output_count; i++) {
        ingot_custom_type *to = &shape->outputs[i];
        bool present = to->present;
        if (shape->input_count > 0)
            *to = shape->inputs[0];
        to->present = present;
        ingot_custom_single_element(operand_at(custom->outputs, custom->output_count, i)->elements, &to->element);
        if (custom->flags & INGOT_CUSTOM_OP_SIZES_OUTPUT)
            to->rank = -1;
    }
}

static ingot_status check_inputs(ingot_infer *c, const ingot_custom_op *custom)
{
    for (size_t i = 0; i < c->input_count; i++) {
        const ingot_type *type = &c->inputs[i].type;
        const ingot_custom_operand *operand = operand_at(custom->inputs, custom->input_count, i);
        if (type->kind == INGOT_KIND_NONE)
            continue;
        if (type->kind != INGOT_KIND_TENSOR)
            return ingot_infer_fail(c, "input %zu '%s' is no tensor; custom operators take tensors", i, operand->name);
        if (type->element != INGOT_UNDEFINED && operand->elements != 0 &&
            !(operand->elements & INGOT_ELEMENT_BIT(type->element)))
            return ingot_infer_fail(c, "input %zu '%s' is of type %s, which the operator does not take", i,
                                    operand->name, ingot_element_name(type->element));
    }
    return INGOT_OK;
}

ingot_status ingot_custom_infer(ingot_infer *c)
{
    const ingot_custom_op *custom = ingot_custom_of(c->node);
    ingot_custom_type types[INGOT_CUSTOM_MAX_OPERANDS];
    ingot_custom_shape shape = {.size = sizeof shape,
                                .params = c->params,
                                .user = custom->user,
                                .inputs = types,
                                .input_count = c->input_count,
                                .outputs = types + c->input_count,
                                .output_count = c->output_count,
                                .integers = integers,
                                .broadcast = broadcast,
                                .fail = shape_fail,
                                .internal = c};
    INGOT_TRY(check_inputs(c, custom));
    for (size_t i = 0; i < c->input_count; i++)
        load_type(&c->inputs[i].type, &types[i]);
    for (size_t i = 0; i < c->output_count; i++)
        load_type(&c->outputs[i].type, &shape.outputs[i]);
    if (custom->shape) {
        ingot_status status = custom->shape(&shape);
        if (status != INGOT_OK)
            return c->error && c->error->status != INGOT_OK ? status : ingot_infer_fail(c, "its shape rule failed");
    } else {
        default_shapes(custom, &shape);
    }
    for (size_t i = 0; i < c->output_count; i++)
        if (shape.outputs[i].present)
            INGOT_TRY(store_type(c, i, &shape.outputs[i]));
    return INGOT_OK;
}

/* ---- Resolving ---- */

static ingot_status check_count(const char *what, size_t count, const ingot_custom_operand *operands,
                                size_t operand_count, ingot_error *error)
{
    size_t least = 0;
    for (size_t i = 0; i < operand_count; i++)
        if (!operands[i].optional)
            least = i + 1;
    bool variadic = operand_count > 0 && operands[operand_count - 1].variadic;
    if (count < least || (count > operand_count && !variadic))
        return ingot_fail(error, INGOT_INVALID_MODEL, "it has %zu %s, but the operator takes %zu to %zu%s", count, what,
                          least, operand_count, variadic ? " or more" : "");
    return INGOT_OK;
}

static ingot_status check_operands(const ingot_node *node, const ingot_custom_op *custom, ingot_error *error)
{
    INGOT_TRY(check_count("inputs", node->operand_count, custom->inputs, custom->input_count, error));
    INGOT_TRY(check_count("outputs", node->output_count, custom->outputs, custom->output_count, error));
    if (node->body_count > 0)
        return ingot_fail(error, INGOT_INVALID_MODEL, "it holds subgraphs, which custom operators cannot");
    if (node->input_count + node->output_count > INGOT_CUSTOM_MAX_OPERANDS)
        return ingot_fail(error, INGOT_UNSUPPORTED, "it has %zu inputs and outputs; a custom operator has at most %d",
                          node->input_count + node->output_count, INGOT_CUSTOM_MAX_OPERANDS);
    for (size_t i = 0; i < node->operand_count; i++) {
        const ingot_custom_operand *operand = operand_at(custom->inputs, custom->input_count, i);
        if (!node->inputs[i] && !operand->optional)
            return ingot_fail(error, INGOT_INVALID_MODEL, "input %zu '%s' is required, but left out", i, operand->name);
    }
    return INGOT_OK;
}

static const ingot_custom_attribute *find_attribute(const ingot_custom_op *custom, const char *name)
{
    for (size_t i = 0; i < custom->attribute_count; i++)
        if (strcmp(custom->attributes[i].name, name) == 0)
            return &custom->attributes[i];
    return NULL;
}

static const ingot_attribute_type attribute_types[] = {
    [INGOT_PARAM_INT] = INGOT_ATTRIBUTE_INT,       [INGOT_PARAM_BOOL] = INGOT_ATTRIBUTE_INT,
    [INGOT_PARAM_FLOAT] = INGOT_ATTRIBUTE_FLOAT,   [INGOT_PARAM_WORD] = INGOT_ATTRIBUTE_STRING,
    [INGOT_PARAM_TEXT] = INGOT_ATTRIBUTE_STRING,   [INGOT_PARAM_INTS] = INGOT_ATTRIBUTE_INTS,
    [INGOT_PARAM_FLOATS] = INGOT_ATTRIBUTE_FLOATS, [INGOT_PARAM_TEXTS] = INGOT_ATTRIBUTE_STRINGS,
    [INGOT_PARAM_TENSOR] = INGOT_ATTRIBUTE_TENSOR,
};

static ingot_status check_attributes(const ingot_node *node, const ingot_custom_op *custom, ingot_error *error)
{
    for (size_t i = 0; i < node->attribute_count; i++) {
        const ingot_attribute *a = &node->attributes[i];
        const ingot_custom_attribute *known = find_attribute(custom, a->name);
        if (!known)
            return ingot_fail(error, INGOT_INVALID_MODEL, "the operator has no attribute '%s'", a->name);
        if (attribute_types[known->kind] != a->type)
            return ingot_fail(error, INGOT_INVALID_MODEL, "attribute '%s' is of type %s, but the operator takes %s",
                              a->name, ingot_attribute_type_name(a->type),
                              ingot_attribute_type_name(attribute_types[known->kind]));
    }
    return INGOT_OK;
}

static void fill_default(const ingot_custom_attribute *a, void *to)
{
    const char *text = a->default_text ? a->default_text : "";
    switch (a->kind) {
    case INGOT_PARAM_INT:
        *(int64_t *)to = a->default_int;
        break;
    case INGOT_PARAM_BOOL:
        *(bool *)to = a->default_int != 0;
        break;
    case INGOT_PARAM_FLOAT:
        *(float *)to = a->default_float;
        break;
    case INGOT_PARAM_WORD:
        *(int *)to = (int)a->default_int;
        break;
    case INGOT_PARAM_TEXT:
        *(ingot_text *)to = (ingot_text){text, strlen(text)};
        break;
    default: /* lists and tensors stay empty */
        break;
    }
}

static ingot_status fill_params(ingot_node *node, const ingot_custom_op *custom, ingot_error *error)
{
    char *params = ingot_arena_alloc(node->graph->module->arena, custom->params_size + 1);
    if (!params)
        return ingot_fail_memory(error, custom->params_size, "attributes");
    for (size_t i = 0; i < custom->attribute_count; i++) {
        const ingot_custom_attribute *a = &custom->attributes[i];
        const ingot_attribute *given = ingot_node_attribute(node, a->name);
        ingot_param_field field = {.attribute = a->name, .kind = a->kind, .offset = a->offset, .words = a->words};
        if (given)
            INGOT_TRY(ingot_op_fill_param(node, &field, given, params + a->offset, error));
        else if (a->required)
            return ingot_fail(error, INGOT_INVALID_MODEL, "attribute '%s', which the operator requires, is missing",
                              a->name);
        else
            fill_default(a, params + a->offset);
    }
    node->params = params;
    return INGOT_OK;
}

ingot_status ingot_custom_resolve(ingot_node *node, const ingot_custom_op *custom, ingot_error *error)
{
    INGOT_TRY(check_operands(node, custom, error));
    INGOT_TRY(check_attributes(node, custom, error));
    INGOT_TRY(fill_params(node, custom, error));
    node->op = ingot_custom_registered(custom);
    return INGOT_OK;
}

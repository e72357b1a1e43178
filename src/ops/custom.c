/* Registering custom operators, and making nodes of them ready. */
#include "ops/custom.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* A registered operator. Never freed: what resolved nodes point to lives as long as the process. */
typedef struct registration {
    ingot_op op; /* the first member: a node's op points here */
    const ingot_custom_op *custom;
    struct registration *next;
} registration;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static registration *first; /* guarded by lock */

const ingot_custom_op *ingot_custom_of(const ingot_node *node)
{
    return ((const registration *)node->op)->custom;
}

/* ---- Look-up ---- */

static bool same_name(const ingot_custom_op *custom, const char *domain, const char *name)
{
    return strcmp(custom->domain, domain) == 0 && strcmp(custom->name, name) == 0;
}

/* With the lock held. */
static registration *find(const char *domain, const char *name, int64_t opset_version)
{
    registration *best = NULL;
    for (registration *r = first; r; r = r->next)
        if (same_name(r->custom, domain, name) && r->custom->since_version <= opset_version &&
            (!best || r->custom->since_version > best->custom->since_version))
            best = r;
    return best;
}

const ingot_custom_op *ingot_custom_find(const char *domain, const char *name, int64_t opset_version)
{
    pthread_mutex_lock(&lock);
    const registration *r = find(domain, name, opset_version);
    pthread_mutex_unlock(&lock);
    return r ? r->custom : NULL;
}

const ingot_custom_op *ingot_custom_at(size_t index)
{
    pthread_mutex_lock(&lock);
    const registration *r = first;
    while (r && index-- > 0)
        r = r->next;
    pthread_mutex_unlock(&lock);
    return r ? r->custom : NULL;
}

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

/* The only type of a set. */
static bool single_element(uint32_t elements, ingot_element *element)
{
    for (int e = 1; e < INGOT_ELEMENT_COUNT; e++) {
        if (elements == INGOT_ELEMENT_BIT(e)) {
            *element = (ingot_element)e;
            return true;
        }
    }
    return false;
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
        single_element(operand_at(custom->outputs, custom->output_count, i)->elements, &to->element);
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

static ingot_status infer(ingot_infer *c)
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
#define PARAM_KINDS (sizeof attribute_types / sizeof *attribute_types)

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
    pthread_mutex_lock(&lock);
    node->op = &find(custom->domain, custom->name, custom->since_version)->op;
    pthread_mutex_unlock(&lock);
    return INGOT_OK;
}

/* ---- Registering ---- */

static const size_t param_sizes[] = {
    [INGOT_PARAM_INT] = sizeof(int64_t),          [INGOT_PARAM_BOOL] = sizeof(bool),
    [INGOT_PARAM_FLOAT] = sizeof(float),          [INGOT_PARAM_WORD] = sizeof(int),
    [INGOT_PARAM_TEXT] = sizeof(ingot_text),      [INGOT_PARAM_INTS] = sizeof(ingot_ints),
    [INGOT_PARAM_FLOATS] = sizeof(ingot_floats),  [INGOT_PARAM_TEXTS] = sizeof(ingot_texts),
    [INGOT_PARAM_TENSOR] = sizeof(ingot_value *),
};

static const char *fault_of_attribute(const ingot_custom_op *op, const ingot_custom_attribute *a)
{
    if (!a->name || a->name[0] == '\0')
        return "an attribute without a name";
    if ((unsigned)a->kind >= PARAM_KINDS)
        return "an attribute of no kind that is known";
    if (a->offset > op->params_size || op->params_size - a->offset < param_sizes[a->kind])
        return "an attribute whose field ends after params_size";
    return a->kind == INGOT_PARAM_WORD && !a->words ? "an attribute of kind INGOT_PARAM_WORD without words" : NULL;
}

static const char *fault_of_operands(const ingot_custom_operand *operands, size_t count)
{
    if (count > 0 && !operands)
        return "a count of inputs or outputs without the list";
    for (size_t i = 0; i < count; i++) {
        if (!operands[i].name)
            return "an input or output without a name";
        if (operands[i].variadic && i + 1 < count)
            return "a variadic input or output that is not the last";
    }
    return NULL;
}

/* What is wrong with a descriptor; NULL: nothing. */
static const char *fault_of(const ingot_custom_op *op)
{
    if (op->size != sizeof *op)
        return "another size than this version of Ingot has (set size to sizeof(ingot_custom_op), build with its "
               "header)";
    if (!op->domain || op->domain[0] == '\0' || !op->name || op->name[0] == '\0')
        return "no domain or no name";
    if (op->since_version < 1)
        return "a since_version below 1";
    if (!op->kernel)
        return "no kernel";
    if (op->output_count == 0 || op->input_count + op->output_count > INGOT_CUSTOM_MAX_OPERANDS)
        return "no outputs, or too many inputs and outputs";
    if (op->attribute_count > 0 && !op->attributes)
        return "a count of attributes without the list";
    const char *fault = fault_of_operands(op->inputs, op->input_count);
    if (!fault)
        fault = fault_of_operands(op->outputs, op->output_count);
    for (size_t i = 0; i < op->attribute_count && !fault; i++)
        fault = fault_of_attribute(op, &op->attributes[i]);
    ingot_element single;
    if (!fault && !op->shape && op->input_count == 0 && !single_element(op->outputs[0].elements, &single))
        return "neither a shape rule nor an input that its outputs could take after";
    return fault;
}

static uint32_t flags_of(const ingot_custom_op *custom)
{
    return INGOT_OP_CUSTOM | (custom->flags & INGOT_CUSTOM_OP_IN_PLACE ? INGOT_OP_IN_PLACE : 0) |
           (custom->flags & INGOT_CUSTOM_OP_SIZES_OUTPUT ? INGOT_OP_SIZES_OUTPUT : 0) |
           (custom->flags & INGOT_CUSTOM_OP_RANDOM ? INGOT_OP_RANDOM : 0);
}

static ingot_status check(const ingot_custom_op *op, ingot_error *error)
{
    const char *fault = fault_of(op);
    if (fault)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT, "the descriptor of operator '%s' has %s",
                          op->size == sizeof *op && op->name ? op->name : "?", fault);
    if (ingot_op_find(op->domain, op->name, op->since_version))
        return ingot_fail(error, INGOT_INVALID_ARGUMENT,
                          "operator '%s' of domain '%s' is one that Ingot runs itself; choose another domain or name",
                          op->name, op->domain);
    return INGOT_OK;
}

/* Puts a registration in front of the list, unless op is there already. With the lock held. */
static ingot_status add(const ingot_custom_op *op, ingot_error *error)
{
    registration *known = find(op->domain, op->name, op->since_version);
    if (known && known->custom == op)
        return INGOT_OK;
    if (known && known->custom->since_version == op->since_version)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT,
                          "operator '%s' of domain '%s', version %d, is registered already", op->name, op->domain,
                          op->since_version);
    registration *r = ingot_calloc(1, sizeof *r);
    if (!r)
        return ingot_fail_memory(error, sizeof *r, "a custom operator");
    *r = (registration){.op = {.summary = op->summary ? op->summary : "", .infer = infer, .flags = flags_of(op)},
                        .custom = op,
                        .next = first};
    first = r;
    return INGOT_OK;
}

/* Takes the registrations in front of before away again: nothing can have found them, as the lock was held. */
static void remove_until(registration *before)
{
    while (first != before) {
        registration *r = first;
        first = r->next;
        ingot_free(r);
    }
}

ingot_status ingot_custom_register(const ingot_custom_op *const *ops, size_t count, ingot_error *error)
{
    ingot_status status = INGOT_OK;
    for (size_t i = 0; i < count; i++)
        INGOT_TRY(check(ops[i], error));
    pthread_mutex_lock(&lock);
    registration *before = first;
    for (size_t i = 0; i < count && status == INGOT_OK; i++)
        status = add(ops[i], error);
    if (status != INGOT_OK)
        remove_until(before);
    pthread_mutex_unlock(&lock);
    return status;
}

ingot_status ingot_register_op(const ingot_custom_op *op, ingot_error *error)
{
    if (!op)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT, "the operator to register is NULL");
    return ingot_custom_register(&op, 1, error);
}

/* The registry of custom operators. */
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

const ingot_op *ingot_custom_registered(const ingot_custom_op *custom)
{
    pthread_mutex_lock(&lock);
    const registration *r = find(custom->domain, custom->name, custom->since_version);
    pthread_mutex_unlock(&lock);
    return &r->op;
}

/* ---- Registering ---- */

bool ingot_custom_single_element(uint32_t elements, ingot_element *element)
{
    for (int e = 1; e < INGOT_ELEMENT_COUNT; e++) {
        if (elements == INGOT_ELEMENT_BIT(e)) {
            *element = (ingot_element)e;
            return true;
        }
    }
    return false;
}

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
    if ((unsigned)a->kind >= (sizeof param_sizes / sizeof *param_sizes))
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
    if (!fault && !op->shape && op->input_count == 0 && !ingot_custom_single_element(op->outputs[0].elements, &single))
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
    *r = (registration){
        .op = {.summary = op->summary ? op->summary : "", .infer = ingot_custom_infer, .flags = flags_of(op)},
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

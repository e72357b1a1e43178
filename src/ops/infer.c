/* Helpers of shape rules, and running the rules over a graph. */
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "ops/op.h"

ingot_status ingot_infer_fail(ingot_infer *c, const char *format, ...)
{
    char message[800];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return ingot_node_fail(c->node, c->error, c->dims ? INGOT_INVALID_MODEL : INGOT_INVALID_INPUT, "%s", message);
}

void ingot_infer_set(ingot_infer *c, size_t output, ingot_element element, int rank, const ingot_dim *dims)
{
    if (!ingot_infer_wants(c, output))
        return;
    c->outputs[output].type = rank < 0 ? ingot_type_tensor(element) : ingot_type_shaped(element, rank, dims);
}

void ingot_infer_set_unranked(ingot_infer *c, size_t output, ingot_element element)
{
    ingot_infer_set(c, output, element, -1, NULL);
}

void ingot_infer_copy(ingot_infer *c, size_t output, size_t input, bool keep_content)
{
    if (!ingot_infer_wants(c, output))
        return;
    c->outputs[output].type = c->inputs[input].type;
    size_t count;
    if (keep_content && ingot_infer_integers(c, input, c->outputs[output].known, INGOT_MAX_KNOWN, &count))
        c->outputs[output].known_count = count;
}

/* One dimension of two shapes; false where they do not broadcast. */
static bool broadcast_dim(ingot_infer *c, ingot_dim a, ingot_dim b, ingot_dim *result)
{
    if (ingot_dim_is_number(a) && ingot_dim_is_number(b)) {
        *result = a == 1 ? b : a;
        return a == b || a == 1 || b == 1;
    }
    /* A known size other than 1 wins: the unknown one must be that or 1. */
    if (ingot_dim_is_number(a) && a != 1)
        *result = a;
    else if (ingot_dim_is_number(b) && b != 1)
        *result = b;
    else
        *result = ingot_dim_make(c->dims, INGOT_DIM_BROADCAST, a, b);
    return true;
}

ingot_status ingot_infer_broadcast_dims(ingot_infer *c, int a_rank, const ingot_dim *a, int b_rank, const ingot_dim *b,
                                        int *rank, ingot_dim *dims)
{
    if (a_rank < 0 || b_rank < 0) {
        *rank = -1;
        return INGOT_OK;
    }
    int n = a_rank > b_rank ? a_rank : b_rank;
    ingot_dim result[INGOT_MAX_RANK];
    for (int i = 0; i < n; i++) {
        ingot_dim x = i < n - a_rank ? 1 : a[i - (n - a_rank)];
        ingot_dim y = i < n - b_rank ? 1 : b[i - (n - b_rank)];
        if (!broadcast_dim(c, x, y, &result[i])) {
            ingot_type ta = ingot_type_shaped(INGOT_UNDEFINED, a_rank, a);
            ingot_type tb = ingot_type_shaped(INGOT_UNDEFINED, b_rank, b);
            char left[256], right[256]; /* "undefined[2,3]": the shape begins at the bracket */
            return ingot_infer_fail(c, "the shapes %s and %s do not broadcast: sizes %lld and %lld meet",
                                    strchr(ingot_type_describe(c->dims, &ta, left, sizeof left), '['),
                                    strchr(ingot_type_describe(c->dims, &tb, right, sizeof right), '['), (long long)x,
                                    (long long)y);
        }
    }
    memcpy(dims, result, (size_t)n * sizeof *dims);
    *rank = n;
    return INGOT_OK;
}

ingot_status ingot_infer_broadcast(ingot_infer *c, size_t first, size_t count, int *rank, ingot_dim *dims)
{
    *rank = 0;
    for (size_t i = first; i < first + count; i++) {
        if (!ingot_infer_has(c, i))
            continue;
        const ingot_type *t = &c->inputs[i].type;
        INGOT_TRY(ingot_infer_broadcast_dims(c, *rank, dims, t->rank, t->dims, rank, dims));
    }
    return INGOT_OK;
}

bool ingot_infer_integers(const ingot_infer *c, size_t input, ingot_dim *values, size_t max, size_t *count)
{
    if (!ingot_infer_has(c, input))
        return false;
    const ingot_infer_value *v = &c->inputs[input];
    if (v->known_count != SIZE_MAX) {
        if (v->known_count > max)
            return false;
        memmove(values, v->known, v->known_count * sizeof *values);
        *count = v->known_count;
        return true;
    }
    size_t n;
    const ingot_value *content = v->constant;
    if (!content || content->kind != INGOT_KIND_TENSOR ||
        !(ingot_element_is_integer(content->element) || content->element == INGOT_BOOL) ||
        !ingot_count_elements(content->rank, content->dims, &n) || n > max)
        return false;
    for (size_t i = 0; i < n; i++) {
        values[i] = ingot_load_i64(content->element, content->data, i);
        if (!ingot_dim_is_number(values[i])) /* so low that nothing tells it from the lowest size */
            values[i] = INGOT_DIM_REFERENCE_END;
    }
    *count = n;
    return true;
}

bool ingot_infer_numbers(const ingot_infer *c, size_t input, int64_t *values, size_t max, size_t *count)
{
    if (!ingot_infer_integers(c, input, values, max, count))
        return false;
    for (size_t i = 0; i < *count; i++)
        if (!ingot_dim_is_number(values[i]))
            return false;
    return true;
}

bool ingot_infer_floats(const ingot_infer *c, size_t input, double *values, size_t max, size_t *count)
{
    size_t n;
    if (!ingot_infer_has(c, input))
        return false;
    const ingot_value *content = c->inputs[input].constant;
    if (!content || content->kind != INGOT_KIND_TENSOR || !ingot_element_is_float(content->element) ||
        !ingot_count_elements(content->rank, content->dims, &n) || n > max)
        return false;
    for (size_t i = 0; i < n; i++)
        values[i] = ingot_load_double(content->element, content->data, i);
    *count = n;
    return true;
}

ingot_status ingot_infer_axis(ingot_infer *c, const char *what, int64_t axis, int rank, int extra, int *result)
{
    int64_t limit = (int64_t)rank + extra;
    if (axis < -limit || axis >= limit)
        return ingot_infer_fail(c, "'%s' is %lld, but must be in %lld ... %lld", what, (long long)axis,
                                (long long)-limit, (long long)(limit - 1));
    *result = (int)(axis < 0 ? axis + limit : axis);
    return INGOT_OK;
}

ingot_status ingot_infer_rank(ingot_infer *c, size_t input, int min, int max)
{
    if (!ingot_infer_has(c, input) || c->inputs[input].type.rank < 0)
        return INGOT_OK;
    int rank = c->inputs[input].type.rank;
    char wanted[48];
    if (rank >= min && rank <= max)
        return INGOT_OK;
    snprintf(wanted, sizeof wanted, min == max ? "%d" : max >= INGOT_MAX_RANK ? "at least %d" : "%d to %d", min, max);
    return ingot_infer_fail(c, "input %zu has rank %d, but must have %s", input, rank, wanted);
}

ingot_status ingot_infer_same_dim(ingot_infer *c, const char *what, ingot_dim a, ingot_dim b, ingot_dim *result)
{
    bool a_number = ingot_dim_is_number(a), b_number = ingot_dim_is_number(b);
    if (a_number && b_number && a != b)
        return ingot_infer_fail(c, "%s must be equal, but are %lld and %lld", what, (long long)a, (long long)b);
    if (result)
        *result = a_number || !b_number ? a : b;
    return INGOT_OK;
}

/* ---- Over a graph ---- */

static void load_input(const ingot_graph_value *v, ingot_infer_value *input)
{
    input->type = (ingot_type){0};
    input->constant = NULL;
    input->known_count = SIZE_MAX;
    if (!v)
        return;
    input->type = v->type;
    input->constant = ingot_graph_value_is_constant(v) ? v->constant : NULL;
    if (!v->known)
        return;
    memcpy(input->known, v->known, v->known_count * sizeof *v->known);
    input->known_count = v->known_count;
}

static bool says_something(const ingot_infer_value *output)
{
    for (size_t i = 0; output->known_count != SIZE_MAX && i < output->known_count; i++)
        if (output->known[i] != INGOT_DIM_UNKNOWN)
            return true;
    return output->known_count == 0;
}

static ingot_status store_output(ingot_infer *c, const ingot_infer_value *output, ingot_graph_value *v)
{
    v->type = output->type;
    v->known = NULL;
    v->known_count = 0;
    for (int i = 0; i < v->type.rank; i++) {
        if (v->type.dims[i] == INGOT_DIM_UNKNOWN)
            v->type.dims[i] = ingot_dim_fresh(c->dims);
        else if (ingot_dim_is_number(v->type.dims[i]) && v->type.dims[i] < 0)
            return ingot_infer_fail(c, "output '%s' would have the negative size %lld", v->name,
                                    (long long)v->type.dims[i]);
    }
    if (!says_something(output))
        return INGOT_OK;
    ingot_dim *known = ingot_arena_copy(v->graph->module->arena, output->known, output->known_count * sizeof *known);
    if (!known)
        return ingot_fail_memory(c->error, output->known_count * sizeof *known, "shape inference");
    v->known = known;
    v->known_count = output->known_count;
    return INGOT_OK;
}

static ingot_status check_types(const ingot_node *node, ingot_schema_type *types, ingot_error *error)
{
    const ingot_schema *schema = ingot_op_schema(node);
    for (size_t i = 0; i < node->operand_count; i++)
        types[i] = ingot_schema_type_of(node->inputs[i] ? &node->inputs[i]->type : NULL);
    if (!schema)
        return INGOT_OK;
    return ingot_schema_check_types(schema, types, node->operand_count, error);
}

static ingot_status infer_node(ingot_node *node, ingot_infer *c, ingot_infer_value *values, ingot_schema_type *types)
{
    INGOT_TRY(check_types(node, types, c->error));
    for (size_t i = 0; i < node->input_count; i++)
        load_input(node->inputs[i], &values[i]);
    for (size_t i = 0; i < node->output_count; i++) {
        values[node->input_count + i] = (ingot_infer_value){.known_count = SIZE_MAX};
        if (node->outputs[i])
            values[node->input_count + i].type = ingot_type_tensor(INGOT_UNDEFINED);
    }
    INGOT_TRY(node->op->infer(c));
    for (size_t i = 0; i < node->output_count; i++)
        if (node->outputs[i])
            INGOT_TRY(store_output(c, &c->outputs[i], node->outputs[i]));
    return INGOT_OK;
}

ingot_status ingot_op_infer(ingot_node *node, ingot_error *error)
{
    size_t count = node->input_count + node->output_count + 1, bytes;
    ingot_infer_value *values = ingot_mul_size(count, sizeof *values, &bytes) ? ingot_malloc(bytes) : NULL;
    ingot_schema_type *types = ingot_calloc(node->operand_count + 1, sizeof *types);
    ingot_infer c = {.node = node,
                     .params = node->params,
                     .dims = node->graph->module->dims,
                     .inputs = values,
                     .input_count = node->input_count,
                     .outputs = values ? values + node->input_count : NULL,
                     .output_count = node->output_count,
                     .error = error};
    ingot_status status = values && types ? infer_node(node, &c, values, types)
                                          : ingot_fail_memory(error, count * sizeof *values, "shape inference");
    ingot_free(values);
    ingot_free(types);
    if (status != INGOT_OK)
        ingot_node_fail_at(node, error);
    return status;
}

ingot_status ingot_graph_infer(ingot_graph *graph, ingot_error *error)
{
    for (ingot_node *n = graph->first; n; n = n->next) {
        ingot_node *before = n->previous;
        if (!n->op) {
            INGOT_TRY(ingot_op_resolve(n, error));
            n = before ? before->next : graph->first; /* the first of those that it was rewritten into */
        }
        INGOT_TRY(ingot_op_infer(n, error));
    }
    return INGOT_OK;
}

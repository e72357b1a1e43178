/* A product with one-hot rows, spelled out as Cast(Equal(x, 0 ... count - 1)) times a table, picks rows of the table: it becomes
 * Gather. An index that is none of these has a row of zeros: the table gets one at its end, where -1 and count point. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "passes/rewrite.h"

#define OPSET 13

typedef struct one_hot {
    ingot_graph_value *index; /* its last size is 1 */
    const ingot_value *table; /* [count, width] of finite floats */
    int rank;                 /* of index */
} one_hot;

/* ---- Recognising ---- */

static bool is_finite_table(const ingot_graph_value *value)
{
    if (!ingot_graph_value_is_constant(value) || value->constant->element != INGOT_FLOAT ||
        value->constant->rank != 2 || value->constant->dims[0] < 1 || value->constant->dims[0] > INT32_MAX - 1)
        return false;
    const float *data = value->constant->data;
    for (size_t i = 0, count = ingot_value_count(value->constant); i < count; i++)
        if (!isfinite(data[i]))
            return false;
    return true;
}

static bool is_index_type(ingot_element element)
{
    return element == INGOT_INT32 || element == INGOT_INT64;
}

/* 0 ... count - 1 along the last axis. */
static bool is_range(const ingot_graph_value *value, int64_t count)
{
    if (!ingot_graph_value_is_constant(value) || value->constant->kind != INGOT_KIND_TENSOR ||
        !is_index_type(value->constant->element) || value->constant->rank < 1 ||
        value->constant->dims[value->constant->rank - 1] != count ||
        ingot_value_count(value->constant) != (size_t)count)
        return false;
    for (int64_t i = 0; i < count; i++)
        if (ingot_load_i64(value->constant->element, value->constant->data, (size_t)i) != i)
            return false;
    return true;
}

/* Whether spreading the index along its last axis, and that alone, gives the compared shape. */
static bool spreads(const ingot_type *index, const ingot_type *compared, int64_t count)
{
    int last = compared->rank - 1;
    return is_index_type(index->element) && index->rank >= 1 && index->rank == compared->rank &&
           memcmp(index->dims, compared->dims, (size_t)last * sizeof *index->dims) == 0 && index->dims[last] == 1 &&
           compared->dims[last] == count;
}

static bool match_side(const ingot_node *equal, int side, int64_t count, one_hot *found)
{
    ingot_graph_value *index = equal->inputs[side];
    const ingot_type *compared = &equal->outputs[0]->type;
    if (!is_range(equal->inputs[1 - side], count))
        return false;
    const ingot_node *expand = ingot_made_by(index, "Expand");
    if (expand && spreads(&expand->inputs[0]->type, compared, count))
        index = expand->inputs[0];
    if (!spreads(&index->type, compared, count))
        return false;
    found->index = index;
    found->rank = compared->rank;
    return true;
}

static bool match(const ingot_node *product, one_hot *found)
{
    const ingot_node *cast = ingot_made_by(ingot_operand(product, 0), "Cast");
    const ingot_node *equal = cast ? ingot_made_by(cast->inputs[0], "Equal") : NULL;
    if (!equal || cast->outputs[0]->type.element != INGOT_FLOAT || equal->opset < 7 || !product->inputs[1]->constant ||
        product->inputs[1]->constant->rank != 2)
        return false;
    int64_t count = product->inputs[1]->constant->dims[0];
    if (!match_side(equal, 0, count, found) && !match_side(equal, 1, count, found))
        return false;
    found->table = product->inputs[1]->constant;
    return is_finite_table(product->inputs[1]);
}

/* ---- Putting in place ---- */

static ingot_status add_node(ingot_node *before, const char *op_type, ingot_graph_value *const *inputs, size_t count,
                             ingot_graph_value **made, ingot_error *error)
{
    ingot_node *node;
    INGOT_TRY(ingot_graph_add_value(before->graph, "", 0, made, error));
    ingot_node_spec spec = {.op_type = op_type,
                            .name = before->name,
                            .opset = OPSET,
                            .inputs = inputs,
                            .input_count = count,
                            .operand_count = count,
                            .outputs = made,
                            .output_count = 1};
    INGOT_TRY(ingot_graph_add_node(before->graph, &spec, before, &node, error));
    INGOT_TRY(ingot_op_resolve(node, error));
    return ingot_op_infer(node, error);
}

/* A number of the index's type, without dimensions. */
static ingot_status add_number(ingot_graph *graph, ingot_element element, int64_t number, ingot_graph_value **value,
                               ingot_error *error)
{
    void *data;
    INGOT_TRY(ingot_new_tensor(graph, "", element, 0, NULL, value, &data, error));
    ingot_store_i64(element, data, 0, number);
    return INGOT_OK;
}

/* The index in -1 ... count, without its last axis. */
static ingot_status add_rows(ingot_node *product, const one_hot *o, ingot_graph_value **rows, ingot_error *error)
{
    ingot_graph_value *clip[3] = {o->index}, *squeeze[2];
    ingot_element element = o->index->type.element;
    int64_t last = o->rank - 1;
    INGOT_TRY(add_number(product->graph, element, -1, &clip[1], error));
    INGOT_TRY(add_number(product->graph, element, o->table->dims[0], &clip[2], error));
    INGOT_TRY(add_node(product, "Clip", clip, 3, &squeeze[0], error));
    INGOT_TRY(ingot_graph_add_constant_i64(product->graph, "", &last, 1, &squeeze[1], error));
    return add_node(product, "Squeeze", squeeze, 2, rows, error);
}

static ingot_status replace(ingot_node *product, const one_hot *o, ingot_error *error)
{
    ingot_graph_value *gather[2];
    int64_t dims[2] = {o->table->dims[0] + 1, o->table->dims[1]};
    void *data;
    INGOT_TRY(
        ingot_new_tensor(product->graph, product->inputs[1]->name, INGOT_FLOAT, 2, dims, &gather[0], &data, error));
    size_t bytes = ingot_value_bytes(o->table), row = (size_t)dims[1] * sizeof(float);
    memcpy(data, o->table->data, bytes);
    memset((char *)data + bytes, 0, row);
    INGOT_TRY(add_rows(product, o, &gather[1], error));
    ingot_replacement by = {.op_type = "Gather", .opset = OPSET, .inputs = gather, .input_count = 2};
    return ingot_replace_node(product, &by, NULL, error);
}

ingot_status ingot_pass_gather_one_hot(ingot_graph *graph, const ingot_pass_context *context, bool *changed)
{
    for (ingot_node *n = graph->first; n; n = n->next) {
        one_hot found;
        if (!ingot_node_is(n, "MatMul") || !ingot_value_is_read(n->outputs[0]) || !match(n, &found))
            continue;
        INGOT_TRY(replace(n, &found, context->error));
        *changed = true;
    }
    return INGOT_OK;
}

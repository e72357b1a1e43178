#include "passes/views.h"

#define RESHAPE_OPSET   25 /* with allowzero, of every type */
#define TRANSPOSE_OPSET 25
#define MAX_FREE        16

ingot_node *ingot_made_by_view(const ingot_graph_value *value)
{
    static const char *const views[] = {"Reshape", "Squeeze", "Unsqueeze", "Flatten"};
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        ingot_node *node = ingot_made_by(value, views[i]);
        if (node)
            return node;
    }
    return NULL;
}

/* ---- Sizes ---- */

/* A product of sizes: a number, and free ones in the order of their references. */
typedef struct product {
    int64_t number;
    ingot_dim free[MAX_FREE];
    int free_count;
} product;

static bool multiply_free(product *p, ingot_dim size)
{
    if (p->free_count == MAX_FREE || size == INGOT_DIM_UNKNOWN)
        return false;
    int at = p->free_count++;
    for (; at > 0 && p->free[at - 1] > size; at--)
        p->free[at] = p->free[at - 1];
    p->free[at] = size;
    return true;
}

/* false: it is too large, or has too many parts. */
static bool multiply(const ingot_dims *dims, product *p, ingot_dim size)
{
    ingot_dim open[MAX_FREE] = {size};
    for (int count = 1; count > 0;) {
        ingot_dim next = open[--count];
        const ingot_dim_expression *e = ingot_dims_expression(dims, next);
        if (e && e->kind == INGOT_DIM_MUL) {
            if (count + 2 > MAX_FREE)
                return false;
            open[count++] = e->a;
            open[count++] = e->b;
        } else if (ingot_dim_is_number(next) ? !ingot_mul_i64(p->number, next, &p->number) : !multiply_free(p, next)) {
            return false;
        }
    }
    return true;
}

static bool same_product(const product *a, const product *b)
{
    if (a->number != b->number || a->free_count != b->free_count)
        return false;
    for (int i = 0; i < a->free_count; i++)
        if (a->free[i] != b->free[i])
            return false;
    return true;
}

static bool multiply_all(const ingot_dims *dims, const ingot_type *type, product *p)
{
    *p = (product){.number = 1};
    for (int i = 0; i < type->rank; i++)
        if (!multiply(dims, p, type->dims[i]))
            return false;
    return true;
}

bool ingot_shape_of_type(const ingot_type *type, int64_t *shape)
{
    int open = 0;
    if (type->kind != INGOT_KIND_TENSOR || type->rank < 0)
        return false;
    for (int i = 0; i < type->rank; i++) {
        bool number = ingot_dim_is_number(type->dims[i]);
        if (number && type->dims[i] == 0)
            return false;
        shape[i] = number ? type->dims[i] : -1;
        open += !number;
    }
    return open <= 1;
}

bool ingot_shape_between(const ingot_dims *dims, const ingot_type *from, const ingot_type *to, int64_t *shape)
{
    int open = 0, kept = 0;
    product count[2];
    if (from->rank < 0 || to->rank < 0 || !multiply_all(dims, from, &count[0]) || !multiply_all(dims, to, &count[1]) ||
        !same_product(&count[0], &count[1]))
        return false;
    for (int i = 0; i < to->rank; i++) {
        bool number = ingot_dim_is_number(to->dims[i]), keeps = i < from->rank && from->dims[i] == to->dims[i];
        if (number && to->dims[i] == 0)
            return false;
        shape[i] = number ? to->dims[i] : keeps ? 0 : -1;
        kept += !number && keeps;
        open += !number && !keeps;
    }
    return open == 0 || (open == 1 && kept == 0); /* beside a kept size of 0 nothing would tell an open one */
}

bool ingot_splits_axes(const ingot_dims *dims, const ingot_type *from, const ingot_type *to, int *ends)
{
    int at = 0;
    if (from->rank < 1 || to->rank < 0)
        return false;
    for (int i = 0; i < from->rank; i++) {
        product whole = {.number = 1}, parts = {.number = 1};
        if (!multiply(dims, &whole, from->dims[i]))
            return false;
        while (!same_product(&whole, &parts))
            if (at == to->rank || !multiply(dims, &parts, to->dims[at++]))
                return false;
        ends[i] = at;
    }
    for (; at < to->rank; at++)
        if (to->dims[at] != 1)
            return false;
    ends[from->rank - 1] = at;
    return true;
}

bool ingot_read_perm(const ingot_node *transpose, int64_t *perm, int *rank)
{
    size_t count;
    if (ingot_int_list(transpose, "perm", SIZE_MAX, perm, INGOT_MAX_RANK, &count)) {
        *rank = (int)count;
        return true;
    }
    *rank = transpose->inputs[0]->type.rank;
    for (int i = 0; i < *rank; i++)
        perm[i] = *rank - 1 - i;
    return *rank >= 0;
}

/* ---- Making nodes ---- */

/* In place of node, or, where made is given, before it. */
static ingot_status make(ingot_node *node, const ingot_replacement *by, ingot_graph_value **made, ingot_error *error)
{
    if (!made)
        return ingot_replace_node(node, by, NULL, error);
    INGOT_TRY(ingot_graph_add_value(node->graph, "", 0, made, error));
    ingot_node_spec spec = {.op_type = by->op_type,
                            .name = node->name,
                            .opset = by->opset,
                            .inputs = by->inputs,
                            .input_count = by->input_count,
                            .operand_count = by->input_count,
                            .outputs = made,
                            .output_count = 1,
                            .attributes = by->attributes,
                            .attribute_count = by->attribute_count};
    return ingot_insert_node(node->graph, &spec, node, NULL, error);
}

ingot_status ingot_make_reshape(ingot_node *node, ingot_graph_value *from, const int64_t *shape, int rank,
                                ingot_graph_value **made, ingot_error *error)
{
    ingot_graph_value *inputs[2] = {from, NULL};
    INGOT_TRY(ingot_graph_add_constant_i64(node->graph, "", shape, rank, &inputs[1], error));
    ingot_replacement reshape = {.op_type = "Reshape", .opset = RESHAPE_OPSET, .inputs = inputs, .input_count = 2};
    return make(node, &reshape, made, error);
}

ingot_status ingot_make_transpose(ingot_node *node, ingot_graph_value *from, const int64_t *perm, int rank,
                                  ingot_graph_value **made, ingot_error *error)
{
    ingot_attribute attribute;
    INGOT_TRY(ingot_ints_attribute(node->graph, "perm", perm, (size_t)rank, &attribute, error));
    ingot_replacement transpose = {.op_type = "Transpose",
                                   .opset = TRANSPOSE_OPSET,
                                   .inputs = &from,
                                   .input_count = 1,
                                   .attributes = &attribute,
                                   .attribute_count = 1};
    return make(node, &transpose, made, error);
}

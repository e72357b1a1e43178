/* A Transpose moves nearer to another one, with which it becomes one: behind a view that splits axes, behind products with and
 * additions of constants along the last axis, or before a Gemm of rows that are flattened for it. A view goes before a Gather of
 * one index, to where a Transpose may be. */
#include <string.h>

#include "passes/views.h"

#define MAX_STEPS 8 /* between two Transposes */

static bool has_one_use(const ingot_graph_value *value)
{
    return value->use_count == 1;
}

/* ---- Behind a view ---- */

/* Appends sizes first ... end - 1 of from; returns where they begin. */
static int append_sizes(ingot_type *to, const ingot_type *from, int first, int end)
{
    int begin = to->rank;
    for (int i = first; i < end; i++)
        to->dims[to->rank++] = from->dims[i];
    return begin;
}

/* The same without sizes. */
static ingot_type without_sizes(const ingot_type *like)
{
    ingot_type type = *like;
    type.rank = 0;
    return type;
}

/* view(transpose(x)) as transpose(view(x)), where the view splits axes. */
static ingot_status pass_view(ingot_node *view, ingot_error *error, bool *changed)
{
    const ingot_node *transpose = ingot_made_by(view->inputs[0], "Transpose");
    const ingot_type *after = &view->outputs[0]->type;
    const ingot_dims *dims = view->graph->module->dims;
    int64_t perm[INGOT_MAX_RANK], split[INGOT_MAX_RANK], shape[INGOT_MAX_RANK];
    int rank, ends[INGOT_MAX_RANK], begins[INGOT_MAX_RANK], count = 0;
    if (!transpose || !has_one_use(transpose->outputs[0]) || !ingot_read_perm(transpose, perm, &rank) ||
        transpose->inputs[0]->type.rank != rank || view->inputs[0]->type.rank != rank ||
        !ingot_splits_axes(dims, &view->inputs[0]->type, after, ends))
        return INGOT_OK;
    ingot_type before = without_sizes(after);
    for (int axis = 0; axis < rank; axis++)
        for (int i = 0; i < rank; i++)
            if (perm[i] == axis)
                begins[i] = append_sizes(&before, after, i > 0 ? ends[i - 1] : 0, ends[i]);
    for (int i = 0; i < rank; i++)
        for (int part = i > 0 ? ends[i - 1] : 0; part < ends[i]; part++)
            split[count++] = begins[i] + part - (i > 0 ? ends[i - 1] : 0);
    if (!ingot_shape_between(dims, &transpose->inputs[0]->type, &before, shape))
        return INGOT_OK;
    ingot_graph_value *reshaped;
    *changed = true;
    INGOT_TRY(ingot_make_reshape(view, transpose->inputs[0], shape, before.rank, &reshaped, error));
    return ingot_make_transpose(view, reshaped, split, count, NULL, error);
}

/* view(gather(x, index)) as gather(view(x), index), where the view splits axes and x comes from a Transpose or another view. */
static ingot_status pass_gather(ingot_node *view, ingot_error *error, bool *changed)
{
    const ingot_node *gather = ingot_made_by(view->inputs[0], "Gather");
    const ingot_type *picked = &view->inputs[0]->type, *after = &view->outputs[0]->type;
    const ingot_dims *dims = view->graph->module->dims;
    if (!gather || !has_one_use(gather->outputs[0]) || picked->rank < 1 || after->rank <= picked->rank ||
        after->rank == INGOT_MAX_RANK || gather->inputs[0]->type.rank != picked->rank + 1 ||
        !ingot_graph_value_is_constant(gather->inputs[1]) || gather->inputs[1]->constant->rank != 0 ||
        (!ingot_made_by(gather->inputs[0], "Transpose") && !ingot_made_by_view(gather->inputs[0])))
        return INGOT_OK;
    const ingot_type *whole = &gather->inputs[0]->type;
    int64_t shape[INGOT_MAX_RANK], axis = ingot_int_attribute(gather, "axis", 0);
    int ends[INGOT_MAX_RANK], at = (int)(axis < 0 ? axis + whole->rank : axis);
    if (!ingot_splits_axes(dims, picked, after, ends))
        return INGOT_OK;
    ingot_type before = without_sizes(after);
    int parts = at > 0 ? ends[at - 1] : 0;
    append_sizes(&before, after, 0, parts);
    append_sizes(&before, whole, at, at + 1);
    append_sizes(&before, after, parts, after->rank);
    if (!ingot_shape_between(dims, whole, &before, shape))
        return INGOT_OK;
    ingot_graph_value *inputs[2] = {NULL, gather->inputs[1]};
    ingot_attribute attribute = {.name = "axis", .type = INGOT_ATTRIBUTE_INT, .i = parts};
    ingot_replacement by = {.op_type = "Gather", .opset = gather->opset, .inputs = inputs, .input_count = 2};
    by.attributes = &attribute;
    by.attribute_count = 1;
    *changed = true;
    INGOT_TRY(ingot_make_reshape(view, gather->inputs[0], shape, before.rank, &inputs[0], error));
    return ingot_replace_node(view, &by, NULL, error);
}

/* ---- Behind work on rows ---- */

/* The constant of an Add along the last axis of what the other operand is; returns that one's number, or -1. */
static int added_to(const ingot_node *node)
{
    for (int side = 0; side < 2; side++) {
        const ingot_graph_value *bias = node->inputs[1 - side];
        const ingot_type *x = &node->inputs[side]->type;
        if (ingot_graph_value_is_constant(bias) && bias->constant->rank >= 1 && bias->constant->rank <= x->rank &&
            bias->constant->dims[bias->constant->rank - 1] == x->dims[x->rank - 1] &&
            ingot_value_count(bias->constant) == (size_t)x->dims[x->rank - 1])
            return side;
    }
    return -1;
}

/* The operand whose rows the node takes one by one, each to a row of its result; -1: it is no such node. */
static int rows_of(const ingot_node *node)
{
    if (ingot_node_is(node, "Add"))
        return node->opset < 7 ? -1 : added_to(node); /* before, attributes say where a bias goes */
    if (!ingot_node_is(node, "MatMul") || !ingot_graph_value_is_constant(node->inputs[1]) ||
        node->inputs[1]->constant->rank != 2 || node->inputs[0]->type.rank < 2)
        return -1;
    return 0;
}

static bool is_view(const ingot_node *node)
{
    return node->output_count > 0 && ingot_made_by_view(node->outputs[0]) == node;
}

/* Whether a Transpose of the value could go on to another Transpose. */
static bool leads_to_transpose(const ingot_graph_value *value)
{
    int ends[INGOT_MAX_RANK];
    for (int step = 0; step < MAX_STEPS && value && has_one_use(value); step++) {
        const ingot_node *node = value->uses[0].node;
        size_t index = value->uses[0].index;
        if (ingot_node_is(node, "Transpose"))
            return true;
        bool passes = is_view(node) && index == 0
                          ? ingot_splits_axes(node->graph->module->dims, &value->type, &node->outputs[0]->type, ends)
                          : rows_of(node) == (int)index;
        if (!passes)
            return false;
        value = node->outputs[0];
    }
    return false;
}

static bool keeps_last(const int64_t *perm, int rank)
{
    return rank > 1 && perm[rank - 1] == rank - 1;
}

static ingot_status pass_rows(ingot_node *node, int side, ingot_error *error, bool *changed)
{
    const ingot_node *transpose = ingot_made_by(node->inputs[side], "Transpose");
    int64_t perm[INGOT_MAX_RANK];
    int rank;
    if (!transpose || !has_one_use(transpose->outputs[0]) || !ingot_read_perm(transpose, perm, &rank) ||
        !keeps_last(perm, rank) || !leads_to_transpose(node->outputs[0]))
        return INGOT_OK;
    ingot_graph_value *inputs[2] = {node->inputs[0], node->inputs[1]}, *made;
    inputs[side] = transpose->inputs[0];
    INGOT_TRY(ingot_graph_add_value(node->graph, "", 0, &made, error));
    ingot_node_spec spec = {.op_type = node->op_type,
                            .name = node->name,
                            .opset = node->opset,
                            .inputs = inputs,
                            .input_count = 2,
                            .operand_count = 2,
                            .outputs = &made,
                            .output_count = 1};
    *changed = true;
    INGOT_TRY(ingot_insert_node(node->graph, &spec, node, NULL, error));
    return ingot_make_transpose(node, made, perm, rank, NULL, error);
}

/* ---- Before a Gemm ---- */

/* transpose(view(gemm(view(x)))) where x comes from a Transpose and the views flatten the axes before the last ones, and put them
 * back. */
typedef struct flattened {
    const ingot_node *gemm, *flatten;
    ingot_graph_value *x;
    int64_t perm[INGOT_MAX_RANK];  /* of x */
    int64_t shape[INGOT_MAX_RANK]; /* of the result */
    int64_t rows[2];               /* the shape of the Gemm's A */
    int rank;                      /* of the result */
} flattened;

static bool has_bias_of_columns(const ingot_node *gemm, ingot_dim columns)
{
    const ingot_graph_value *c = ingot_operand(gemm, 2);
    return !c ||
           (ingot_graph_value_is_constant(c) && c->constant->rank >= 1 &&
            c->constant->dims[c->constant->rank - 1] == columns && ingot_value_count(c->constant) == (size_t)columns);
}

static bool find_nodes(const ingot_node *transpose, flattened *f)
{
    const ingot_node *view = ingot_made_by_view(transpose->inputs[0]);
    f->gemm = view ? ingot_made_by(view->inputs[0], "Gemm") : NULL;
    f->flatten = f->gemm ? ingot_made_by_view(f->gemm->inputs[0]) : NULL;
    f->x = f->flatten ? f->flatten->inputs[0] : NULL;
    return f->x && has_one_use(transpose->inputs[0]) && has_one_use(view->inputs[0]) &&
           has_one_use(f->gemm->inputs[0]) && has_one_use(f->x) && ingot_made_by(f->x, "Transpose") &&
           ingot_read_perm(transpose, f->perm, &f->rank);
}

static bool find_flattened(const ingot_node *transpose, flattened *f)
{
    if (!find_nodes(transpose, f))
        return false;
    const ingot_type *after = &transpose->inputs[0]->type, *x = &f->x->type;
    int rows = f->rank - 1, ends[INGOT_MAX_RANK];
    if (after->rank != f->rank || x->rank < f->rank || !keeps_last(f->perm, f->rank) ||
        ingot_int_attribute(f->gemm, "transA", 0) != 0 || !ingot_dim_is_number(after->dims[rows]) ||
        f->gemm->outputs[0]->type.rank != 2 || f->gemm->outputs[0]->type.dims[1] != after->dims[rows] ||
        !has_bias_of_columns(f->gemm, after->dims[rows]) ||
        memcmp(x->dims, after->dims, (size_t)rows * sizeof *x->dims) != 0)
        return false;
    /* Split again, A has x's axes: those of its rows and the others. */
    if (!ingot_splits_axes(transpose->graph->module->dims, &f->gemm->inputs[0]->type, x, ends) || ends[0] != rows)
        return false;
    for (int i = rows; i < x->rank; i++)
        f->perm[i] = i;
    return ingot_shape_of_type(&f->gemm->inputs[0]->type, f->rows) &&
           ingot_shape_of_type(&transpose->outputs[0]->type, f->shape);
}

static ingot_status pass_gemm(ingot_node *transpose, ingot_error *error, bool *changed)
{
    flattened f;
    if (!find_flattened(transpose, &f))
        return INGOT_OK;
    ingot_graph_value *ordered, *product, *inputs[3] = {NULL, f.gemm->inputs[1], ingot_operand(f.gemm, 2)};
    *changed = true;
    INGOT_TRY(ingot_make_transpose(transpose, f.x, f.perm, f.x->type.rank, &ordered, error));
    INGOT_TRY(ingot_make_reshape(transpose, ordered, f.rows, 2, &inputs[0], error));
    INGOT_TRY(ingot_graph_add_value(transpose->graph, "", 0, &product, error));
    ingot_node_spec spec = {.op_type = "Gemm",
                            .name = f.gemm->name,
                            .opset = f.gemm->opset,
                            .inputs = inputs,
                            .input_count = inputs[2] ? 3 : 2,
                            .operand_count = inputs[2] ? 3 : 2,
                            .outputs = &product,
                            .output_count = 1,
                            .attributes = f.gemm->attributes,
                            .attribute_count = f.gemm->attribute_count};
    INGOT_TRY(ingot_insert_node(transpose->graph, &spec, transpose, NULL, error));
    return ingot_make_reshape(transpose, product, f.shape, f.rank, NULL, error);
}

ingot_status ingot_pass_move_transposes(ingot_graph *graph, const ingot_pass_context *context, bool *changed)
{
    for (ingot_node *n = graph->first; n; n = n->next) {
        if (n->output_count == 0 || n->operand_count == 0 || !n->inputs[0] || !ingot_value_is_read(n->outputs[0]))
            continue;
        int side = rows_of(n);
        if (ingot_node_is(n, "Transpose"))
            INGOT_TRY(pass_gemm(n, context->error, changed));
        else if (side >= 0)
            INGOT_TRY(pass_rows(n, side, context->error, changed));
        else if (is_view(n))
            INGOT_TRY(pass_view(n, context->error, changed));
        if (is_view(n) && ingot_value_is_read(n->outputs[0]))
            INGOT_TRY(pass_gather(n, context->error, changed));
    }
    return INGOT_OK;
}

/* MatMul and Gemm on floats, with what follows them as an epilogue. */
#include <string.h>

#include "cpu/family.h"
#include "cpu/gemm/gemm.h"
#include "ops/arrange.h"
#include "ops/matmul.h"

typedef struct detail {
    bool is_gemm;
    bool packs;      /* B is a constant matrix and laid out once */
    bool transposed; /* B lies as a Transpose before the MatMul has it: the region begins with that node */
    ingot_cpu_epilogue epilogue;
} detail;

static const detail *detail_of(const ingot_region *region)
{
    return ((const ingot_cpu_region *)region->detail)->detail;
}

/* ---- Claiming ---- */

/* C of a Gemm as a bias along the columns, known before the run. */
static bool has_plain_bias(const ingot_node *node)
{
    const ingot_gemm_params *p = node->params;
    const ingot_graph_value *c = node->operand_count > 2 ? node->inputs[2] : NULL;
    const ingot_graph_value *y = node->outputs[0];
    if (!c)
        return true;
    return p->beta == 1 && ingot_graph_value_is_constant(c) && c->constant->rank >= 1 && y->type.rank == 2 &&
           c->constant->dims[c->constant->rank - 1] == y->type.dims[1] &&
           ingot_value_count(c->constant) == (size_t)y->type.dims[1];
}

/* Before the product in the draft, whose B becomes the matrix that is not transposed. */
static void begin_with_transpose(ingot_cpu_draft *draft, ingot_node *transpose)
{
    draft->nodes[1] = draft->nodes[0];
    draft->nodes[0] = transpose;
    draft->node_count = 2;
    draft->inputs[1] = transpose->inputs[0];
}

static ingot_status claim(ingot_cpu_claim *claim, ingot_node *node, bool *claimed)
{
    ingot_node *first = node, *product = ingot_cpu_product_of_transposed(node);
    if (product && claim->taken[product->id])
        product = NULL;
    node = product ? product : node;
    detail d = {.is_gemm = ingot_cpu_is(node, "Gemm"), .epilogue = {.column_bias = SIZE_MAX, .add = SIZE_MAX}};
    ingot_cpu_draft draft;
    if ((!d.is_gemm && !ingot_cpu_is(node, "MatMul")) || !node->outputs[0] || !ingot_cpu_is_float(node->inputs[0]) ||
        !ingot_cpu_is_float(node->inputs[1]) || !ingot_cpu_draft_node(node, &draft))
        return INGOT_OK;
    d.transposed = product != NULL;
    if (d.transposed)
        begin_with_transpose(&draft, first);
    const ingot_graph_value *b = draft.inputs[1], *y = node->outputs[0];
    d.packs = ingot_graph_value_is_constant(b) && b->constant->rank == 2;
    ingot_dim columns = y->type.rank > 0 ? y->type.dims[y->type.rank - 1] : 0;
    bool biased = d.is_gemm && node->operand_count > 2 && node->inputs[2];
    if (y->type.rank >= 2 && (!d.is_gemm || has_plain_bias(node))) {
        columns = !biased && ingot_dim_is_number(columns) ? columns : 0;
        ingot_cpu_absorb(claim, &draft, columns, &d.epilogue);
        ingot_cpu_absorb_behind_view(claim, &draft, columns, &d.epilogue);
    }
    if (d.packs && (!d.is_gemm || has_plain_bias(node)))
        draft.packed_inputs = 1u << 1;
    draft.detail = &d;
    draft.detail_size = sizeof d;
    return ingot_cpu_claim_region(claim, &ingot_cpu_product, &draft, claimed);
}

/* ---- Shapes ---- */

static const ingot_gemm_params no_params = {.alpha = 1, .beta = 1};

static const ingot_gemm_params *params_of(const ingot_region *region)
{
    return detail_of(region)->is_gemm ? region->nodes[0]->params : &no_params;
}

/* Whether B's rows lie along its columns. */
static bool is_transposed(const ingot_region *region)
{
    return detail_of(region)->transposed || params_of(region)->trans_b;
}

static void fill_gemm(const ingot_gemm_params *p, const ingot_value *a, const ingot_value *b, ingot_gemm *g)
{
    g->m = (size_t)a->dims[p->trans_a];
    g->k = (size_t)a->dims[!p->trans_a];
    g->n = (size_t)b->dims[!p->trans_b];
    g->a_row = p->trans_a ? 1 : a->dims[1];
    g->a_column = p->trans_a ? a->dims[1] : 1;
    g->b_row = p->trans_b ? 1 : b->dims[1];
    g->b_column = p->trans_b ? b->dims[1] : 1;
    g->epilogue.scaled = p->alpha != 1;
    g->epilogue.scale = p->alpha;
}

/* Batch axes of A and B, right-aligned; false where there are more than the kernel takes. */
static bool fill_batch(const ingot_value *a, const ingot_value *b, ingot_gemm *g)
{
    int a_batch = a->rank > 2 ? a->rank - 2 : 0, b_batch = b->rank > 2 ? b->rank - 2 : 0;
    int rank = a_batch > b_batch ? a_batch : b_batch;
    ptrdiff_t a_stride = (ptrdiff_t)(g->m * g->k), b_stride = (ptrdiff_t)(g->k * g->n),
              c_stride = (ptrdiff_t)(g->m * g->n);
    if (rank > INGOT_GEMM_BATCH_RANK)
        return false;
    g->batch_rank = rank;
    for (int i = rank - 1; i >= 0; i--) {
        int64_t x = i - (rank - a_batch) >= 0 ? a->dims[i - (rank - a_batch)] : 1;
        int64_t y = i - (rank - b_batch) >= 0 ? b->dims[i - (rank - b_batch)] : 1;
        g->batch_dims[i] = (size_t)(x == 1 ? y : x);
        g->a_batch[i] = x == 1 ? 0 : a_stride;
        g->b_batch[i] = y == 1 ? 0 : b_stride;
        g->c_batch[i] = c_stride;
        a_stride *= x;
        b_stride *= y;
        c_stride *= (ptrdiff_t)g->batch_dims[i];
    }
    return true;
}

static bool fill_matmul(const ingot_value *a, const ingot_value *b, bool transposed, ingot_gemm *g)
{
    bool a_vector = a->rank == 1, b_vector = b->rank == 1;
    g->k = (size_t)a->dims[a->rank - 1];
    g->m = a_vector ? 1 : (size_t)a->dims[a->rank - 2];
    g->n = b_vector ? 1 : (size_t)b->dims[b->rank - (transposed ? 2 : 1)];
    g->a_row = (ptrdiff_t)g->k;
    g->a_column = 1;
    g->b_row = (ptrdiff_t)g->n;
    g->b_column = 1;
    if (b->rank > 2)
        return fill_batch(a, b, g);
    for (int i = 0; i < a->rank - 2; i++) /* one matrix B for all: the batch is more rows */
        g->m *= (size_t)a->dims[i];
    return true;
}

/* Sizes and strides; pointers are left NULL but for packed_b, which says how B comes. */
static bool fill(const ingot_region *region, const ingot_value *a, const ingot_value *b, const float *packed,
                 ingot_gemm *g)
{
    *g = (ingot_gemm){.packed_b = packed};
    if (detail_of(region)->is_gemm)
        fill_gemm(params_of(region), a, b, g);
    else if (!fill_matmul(a, b, detail_of(region)->transposed, g))
        return false;
    g->c_row = g->n;
    return true;
}

/* C of a Gemm: a bias along the columns, or a matrix; false for what else broadcasts. */
static bool fill_c(const ingot_gemm_params *p, const ingot_value *c, ingot_gemm *g)
{
    size_t count = ingot_value_count(c), last = c->rank > 0 ? (size_t)c->dims[c->rank - 1] : 1;
    if (p->beta != 1)
        return false;
    if (count == g->n && last == g->n)
        g->epilogue.column_bias = c->data;
    else if (count == g->m * g->n && last == g->n)
        g->epilogue.add = c->data;
    else
        return false;
    return true;
}

/* ---- Packing and running ---- */

static void tactic(const ingot_region *region, ingot_tactic *tactic)
{
    const ingot_gemm_kernel *kernel = ingot_gemm_kernel_best();
    tactic->name = ingot_gemm_kernel_name(kernel);
    if (detail_of(region)->packs)
        ingot_cpu_packs_matrix(tactic, region->inputs[1], is_transposed(region));
}

static ingot_status measure(const ingot_region *region, const ingot_tactic *tactic, const ingot_value *const *inputs,
                            const ingot_value *const *outputs, int threads, size_t *bytes, ingot_error *error)
{
    static const float packed[1] = {0}; /* only that there is one matters */
    ingot_gemm g;
    if (fill(region, inputs[0], inputs[1], detail_of(region)->packs ? packed : NULL, &g))
        *bytes = ingot_gemm_f32_workspace(&g, threads);
    return INGOT_OK;
}

static ingot_status run(const ingot_step *step, bool *declined)
{
    const detail *d = detail_of(step->region);
    const ingot_value *c = d->is_gemm && step->region->nodes[0]->operand_count > 2 ? step->inputs[2] : NULL;
    ingot_gemm g;
    *declined = !fill(step->region, step->inputs[0], step->inputs[1], step->packed, &g);
    if (*declined || ingot_value_count(step->outputs[0]) == 0)
        return INGOT_OK;
    *declined = c && !fill_c(params_of(step->region), c, &g);
    if (*declined)
        return INGOT_OK;
    g.a = step->inputs[0]->data;
    g.b = step->inputs[1]->data;
    g.c = step->outputs[0]->data;
    g.epilogue.activation = d->epilogue.activation;
    if (d->epilogue.column_bias != SIZE_MAX)
        g.epilogue.column_bias = step->inputs[d->epilogue.column_bias]->data;
    if (d->epilogue.add != SIZE_MAX) {
        g.epilogue.add = step->inputs[d->epilogue.add]->data;
        g.epilogue.add_last = d->epilogue.add_last;
    }
    ingot_gemm_f32(&g, step->workspace, step->threads);
    return INGOT_OK;
}

const ingot_cpu_family ingot_cpu_product = {.name = "product",
                                            .flushes = true,
                                            .claim = claim,
                                            .tactic = tactic,
                                            .pack_rows = ingot_cpu_pack_matrix,
                                            .measure = measure,
                                            .run = run};

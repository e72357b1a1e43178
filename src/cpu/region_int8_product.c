/* MatMulInteger and QLinearMatMul: products of 8-bit matrices; of the former also what makes floats of its sums. */
#include <string.h>

#include "base/threads.h"
#include "cpu/extent.h"
#include "cpu/int8/product.h"
#include "cpu/region_int8.h"
#include "ops/binary.h"

#define NONE SIZE_MAX
/* Sums of QLinearMatMul must not wrap: products of bytes less their zero points are at most 255 * 255. */
#define QLINEAR_DEPTH ((int64_t)(INT32_MAX / (255 * 255)))

enum { Y_SCALE = 6, Y_ZERO = 7 }; /* of QLinearMatMul */

/* Indices are those of the region's inputs; NONE: not there. */
typedef struct detail {
    bool packs;                  /* B is a constant matrix and laid out once */
    ingot_int8_output output;    /* BYTES: QLinearMatMul */
    size_t a, a_zero, b, b_zero; /* zero points may be missing from the inputs */
    size_t a_scale, b_scale;     /* of QLinearMatMul */
    size_t summand, scale, bias; /* of MatMulInteger's followers */
} detail;

static const detail *detail_of(const ingot_region *region)
{
    return ((const ingot_cpu_region *)region->detail)->detail;
}

/* ---- Claiming ---- */

static bool is_matrix_of_bytes(const ingot_graph_value *v)
{
    return ingot_int8_is_bytes(v) && v->type.rank >= 0;
}

/* One number, or one for each column, that broadcasts against a tensor of so many axes without adding any. */
static bool is_term(const ingot_graph_value *v, ingot_element element, ingot_dim columns, int rank)
{
    if (!v || v->type.kind != INGOT_KIND_TENSOR || v->type.element != element || v->type.rank < 0 ||
        v->type.rank > rank)
        return false;
    for (int i = 0; i < v->type.rank; i++)
        if (v->type.dims[i] != 1 &&
            (i < v->type.rank - 1 || !ingot_dim_is_number(columns) || v->type.dims[i] != columns))
            return false;
    return true;
}

/* A zero point that is left out, or a term. */
static bool is_zero_term(const ingot_node *node, size_t input, const ingot_graph_value *of, ingot_dim columns)
{
    const ingot_graph_value *zero = input < node->operand_count ? node->inputs[input] : NULL;
    return !zero || is_term(zero, of->type.element, columns, 2);
}

/* The node after the draft's last one, where it is that operator and its other operand is a term, which becomes an input. */
static size_t take_term(const ingot_cpu_claim *claim, ingot_cpu_draft *draft, const char *op_type,
                        ingot_element element, ingot_dim columns)
{
    const ingot_graph_value *value = draft->nodes[draft->node_count - 1]->outputs[0];
    ingot_node *node = ingot_cpu_follower(claim, value);
    if (!node || !ingot_cpu_is(node, op_type) || !node->outputs[0] ||
        ((const ingot_binary_params *)node->params)->axis_given)
        return NONE;
    ingot_graph_value *other = node->inputs[node->inputs[0] == value];
    if (other == value || !is_term(other, element, columns, value->type.rank))
        return NONE;
    draft->nodes[draft->node_count++] = node;
    draft->inputs[draft->input_count] = other;
    return draft->input_count++;
}

/* Sums that are made floats, scaled and moved. */
static void take_followers(const ingot_cpu_claim *claim, ingot_cpu_draft *draft, ingot_dim columns, detail *d)
{
    if (draft->nodes[0]->outputs[0]->type.rank < 2)
        return;
    d->summand = take_term(claim, draft, "Add", INGOT_INT32, columns);
    ingot_node *cast = ingot_cpu_follower(claim, draft->nodes[draft->node_count - 1]->outputs[0]);
    if (!cast || !ingot_cpu_is(cast, "Cast") || !ingot_cpu_is_float(cast->outputs[0]))
        return;
    draft->nodes[draft->node_count++] = cast;
    d->output = INGOT_INT8_FLOATS;
    d->scale = take_term(claim, draft, "Mul", INGOT_FLOAT, columns);
    d->bias = take_term(claim, draft, "Add", INGOT_FLOAT, columns);
}

/* Whether nothing but the matrices' sizes is left to the run. */
static bool is_settled(const ingot_node *node, const detail *d, ingot_dim columns)
{
    const ingot_graph_value *a = node->inputs[d->a], *b = node->inputs[d->b];
    if (b->type.rank != 2 || !is_zero_term(node, d->a_zero, a, 1) || !is_zero_term(node, d->b_zero, b, columns))
        return false;
    if (d->output != INGOT_INT8_BYTES)
        return true;
    return is_term(node->inputs[d->a_scale], INGOT_FLOAT, 1, 2) &&
           is_term(node->inputs[d->b_scale], INGOT_FLOAT, columns, 2) &&
           is_term(node->inputs[Y_SCALE], INGOT_FLOAT, 1, 2) &&
           is_term(node->inputs[Y_ZERO], node->outputs[0]->type.element, 1, 2) &&
           ingot_dim_is_number(b->type.dims[0]) && b->type.dims[0] <= QLINEAR_DEPTH;
}

static ingot_status claim(ingot_cpu_claim *claim, ingot_node *node, bool *claimed)
{
    bool requantizes = ingot_cpu_is(node, "QLinearMatMul");
    detail d = {.b = 1, .a_zero = 2, .b_zero = 3, .a_scale = NONE, .b_scale = NONE};
    if (requantizes)
        d = (detail){.output = INGOT_INT8_BYTES, .a_scale = 1, .a_zero = 2, .b = 3, .b_scale = 4, .b_zero = 5};
    d.summand = d.scale = d.bias = NONE;
    ingot_cpu_draft draft;
    if ((!requantizes && !ingot_cpu_is(node, "MatMulInteger")) || !is_matrix_of_bytes(node->inputs[d.a]) ||
        !is_matrix_of_bytes(node->inputs[d.b]) || !node->outputs[0] ||
        (requantizes && !is_matrix_of_bytes(node->outputs[0])) || node->inputs[d.a]->type.rank < 1 ||
        node->inputs[d.b]->type.rank < 2 || !ingot_cpu_draft_node(node, &draft))
        return INGOT_OK;
    const ingot_graph_value *b = node->inputs[d.b];
    ingot_dim columns = b->type.dims[b->type.rank - 1];
    bool settled = is_settled(node, &d, columns);
    d.packs = ingot_graph_value_is_constant(b) && b->type.rank == 2;
    if (settled && !requantizes)
        take_followers(claim, &draft, columns, &d);
    if (settled && d.packs)
        draft.packed_inputs = 1u << d.b;
    draft.detail = &d;
    draft.detail_size = sizeof d;
    return ingot_cpu_claim_region(claim, &ingot_cpu_int8_product, &draft, claimed);
}

/* ---- Shapes ---- */

/* matrices of B with as many of A, each m by k and k by n. */
typedef struct shape {
    size_t matrices, m, n, k;
    bool stages; /* A is copied: its bytes have signs, or its rows do not end where a kernel's reads do */
} shape;

static size_t row_bytes(const shape *s)
{
    return s->stages ? (s->k + 3) / 4 * 4 : s->k;
}

/* False where these are not the kernel's business. */
static bool find_shape(const detail *d, const ingot_value *const *inputs, shape *s)
{
    const ingot_value *a = inputs[d->a], *b = inputs[d->b];
    int batch = b->rank - 2;
    *s = (shape){.matrices = 1, .m = 1, .n = (size_t)b->dims[b->rank - 1], .k = (size_t)b->dims[b->rank - 2]};
    if (batch > 0 && (a->rank != b->rank || memcmp(a->dims, b->dims, (size_t)batch * sizeof *a->dims) != 0))
        return false;
    s->matrices = ingot_sizes_product(b->dims, 0, batch);
    s->m = ingot_sizes_product(a->dims, batch, a->rank - 1);
    s->stages = a->element == INGOT_INT8 || s->k % 4 != 0;
    return d->output != INGOT_INT8_BYTES || (int64_t)s->k <= QLINEAR_DEPTH;
}

static const ingot_value *input_at(const ingot_value *const *inputs, size_t input_count, size_t index)
{
    return index < input_count ? inputs[index] : NULL;
}

static bool counts_one_of(const ingot_value *v, size_t columns)
{
    size_t count = v ? ingot_value_count(v) : 1;
    return count == 1 || count == columns;
}

/* Of regions of one node, which may have any operands. */
static bool has_terms(const ingot_step *step, const shape *s)
{
    const detail *d = detail_of(step->region);
    size_t columns = s->matrices > 1 ? 1 : s->n, count = step->region->input_count;
    bool good = counts_one_of(input_at(step->inputs, count, d->a_zero), 1) &&
                counts_one_of(input_at(step->inputs, count, d->b_zero), columns);
    if (d->output != INGOT_INT8_BYTES)
        return good;
    static const size_t scales[] = {1, 4, Y_SCALE};
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++)
        good = good && step->inputs[scales[i]]->element == INGOT_FLOAT;
    return good && counts_one_of(step->inputs[d->a_scale], 1) && counts_one_of(step->inputs[d->b_scale], columns) &&
           counts_one_of(step->inputs[Y_SCALE], 1) && counts_one_of(step->inputs[Y_ZERO], 1);
}

/* ---- Packing ---- */

static const ptrdiff_t one_run[] = {0};

static void pack_matrix(const void *data, bool is_signed, size_t k, size_t n, int8_t *packed)
{
    ingot_int8_b b = {.columns = n,
                      .runs = 1,
                      .outer = 1,
                      .inner = k,
                      .column_stride = 1,
                      .inner_stride = (ptrdiff_t)n,
                      .data = data,
                      .is_signed = is_signed};
    ingot_int8_pack_b(&b, packed);
}

static void tactic(const ingot_region *region, ingot_tactic *tactic)
{
    const detail *d = detail_of(region);
    tactic->name = ingot_int8_kernel_best()->name;
    if (!d->packs)
        return;
    const ingot_value *b = region->inputs[d->b]->constant;
    tactic->packed_bytes = ingot_int8_packed_size((size_t)b->dims[1], 1, (size_t)b->dims[0]);
}

static ingot_status pack(const ingot_region *region, const ingot_tactic *tactic, void *packed, ingot_error *error)
{
    const ingot_value *b = region->inputs[detail_of(region)->b]->constant;
    pack_matrix(b->data, b->element == INGOT_INT8, (size_t)b->dims[0], (size_t)b->dims[1], packed);
    return INGOT_OK;
}

/* ---- Running ---- */

/* Where the parts of the workspace begin. */
typedef struct parts {
    size_t terms, packed, row_sums, a, end;
} parts;

static parts lay_out(const detail *d, const shape *s)
{
    parts p = {0};
    p.terms = ingot_take_part(&p.end, s->matrices * ingot_int8_columns_size(s->n));
    p.packed = ingot_take_part(&p.end, d->packs ? 0 : s->matrices * ingot_int8_packed_size(s->n, 1, s->k));
    p.row_sums = ingot_take_part(&p.end, s->matrices * s->m * sizeof(int32_t));
    p.a = ingot_take_part(&p.end, s->stages ? s->matrices * s->m * row_bytes(s) : 0);
    return p;
}

static ingot_status measure(const ingot_region *region, const ingot_tactic *tactic, const ingot_value *const *inputs,
                            const ingot_value *const *outputs, int threads, size_t *bytes, ingot_error *error)
{
    shape s;
    if (find_shape(detail_of(region), inputs, &s))
        *bytes = lay_out(detail_of(region), &s).end;
    return INGOT_OK;
}

typedef struct product_task {
    const ingot_step *step;
    const detail *d;
    shape s;
    parts parts;
    ingot_int8_terms terms;
    const int8_t *packed;
} product_task;

static void fill_scales(const product_task *t, float *scale)
{
    const ingot_value *const *inputs = t->step->inputs;
    const detail *d = t->d;
    size_t n = t->s.n;
    const ingot_value *b = d->output == INGOT_INT8_BYTES ? inputs[d->b_scale]
                           : d->scale == NONE            ? NULL
                                                         : inputs[d->scale];
    for (size_t i = 0; i < n; i++)
        scale[i] = b ? ((const float *)b->data)[ingot_value_count(b) == 1 ? 0 : i] : 1;
    if (d->output != INGOT_INT8_BYTES)
        return;
    float a_scale = *(const float *)inputs[d->a_scale]->data, y_scale = *(const float *)inputs[Y_SCALE]->data;
    for (size_t i = 0; i < n; i++)
        scale[i] = a_scale * scale[i] / y_scale;
}

static void prepare_matrix(void *argument, size_t chunk, int participant)
{
    const product_task *t = argument;
    const ingot_value *b = t->step->inputs[t->d->b];
    char *workspace = t->step->workspace;
    const int8_t *packed = t->packed;
    if (!t->d->packs) {
        int8_t *to = (int8_t *)workspace + t->parts.packed + chunk * ingot_int8_packed_size(t->s.n, 1, t->s.k);
        pack_matrix((const char *)b->data + chunk * t->s.k * t->s.n, t->terms.b_signed, t->s.k, t->s.n, to);
        packed = to;
    }
    void *memory = workspace + t->parts.terms + chunk * ingot_int8_columns_size(t->s.n);
    ingot_int8_columns columns = ingot_int8_columns_in(memory, t->s.n);
    fill_scales(t, columns.scale);
    ingot_int8_fill_columns(&columns, &t->terms, 0, t->s.n, t->s.k, ingot_int8_sums_in(packed, t->s.n, 1, t->s.k));
}

static void fill_terms(product_task *t)
{
    const ingot_step *step = t->step;
    const detail *d = t->d;
    size_t count = step->region->input_count;
    const ingot_value *a_zero = input_at(step->inputs, count, d->a_zero);
    const ingot_value *b_zero = input_at(step->inputs, count, d->b_zero);
    const ingot_value *summand = input_at(step->inputs, count, d->summand),
                      *bias = input_at(step->inputs, count, d->bias);
    t->terms = (ingot_int8_terms){.a_zero = ingot_int8_zero(a_zero),
                                  .a_signed = step->inputs[d->a]->element == INGOT_INT8,
                                  .b_signed = step->inputs[d->b]->element == INGOT_INT8,
                                  .b_zero = b_zero ? b_zero->data : NULL,
                                  .b_zero_count = b_zero ? ingot_value_count(b_zero) : 0,
                                  .summand = summand ? summand->data : NULL,
                                  .summand_count = summand ? ingot_value_count(summand) : 0,
                                  .bias = bias ? bias->data : NULL,
                                  .bias_count = bias ? ingot_value_count(bias) : 0};
}

static ingot_status run(const ingot_step *step, bool *declined)
{
    const detail *d = detail_of(step->region);
    product_task t = {.step = step, .d = d, .packed = step->packed};
    *declined = !find_shape(d, step->inputs, &t.s) || (step->region->node_count == 1 && !has_terms(step, &t.s));
    if (*declined)
        return INGOT_OK;
    const shape *s = &t.s;
    char *workspace = step->workspace;
    t.parts = lay_out(d, s);
    fill_terms(&t);
    ingot_parallel(d->packs ? 1 : step->threads, s->matrices, prepare_matrix, &t);
    const ingot_value *a = step->inputs[d->a], *y = step->outputs[0];
    ingot_int8_product p = {.images = s->matrices,
                            .groups = 1,
                            .height = 1,
                            .width = s->m,
                            .columns = s->n,
                            .image_matrices = 1,
                            .runs = 1,
                            .run_bytes = s->k,
                            .a_runs = one_run,
                            .a = a->data,
                            .a_place = (ptrdiff_t)row_bytes(s),
                            .a_image = (ptrdiff_t)(s->m * row_bytes(s)),
                            .b = d->packs ? t.packed : (const int8_t *)workspace + t.parts.packed,
                            .b_matrix = ingot_int8_packed_size(s->n, 1, s->k),
                            .terms = workspace + t.parts.terms,
                            .biased = t.terms.bias != NULL,
                            .output = d->output,
                            .c = y->data,
                            .c_image = s->m * s->n,
                            .c_place = s->n};
    if (d->output == INGOT_INT8_BYTES) {
        p.element = y->element;
        p.zero = ingot_int8_zero(step->inputs[Y_ZERO]);
    }
    if (ingot_int8_needs_row_sums(&t.terms))
        p.row_sums = (int32_t *)(void *)(workspace + t.parts.row_sums);
    if (s->stages) {
        uint8_t *staged = (uint8_t *)workspace + t.parts.a;
        ingot_int8_stage_rows(a->data, t.terms.a_signed, s->matrices * s->m, s->k, staged, row_bytes(s), step->threads);
        p.a = staged;
    }
    ingot_int8_multiply(&p, step->threads);
    return INGOT_OK;
}

const ingot_cpu_family ingot_cpu_int8_product = {
    .name = "int8_product", .claim = claim, .tactic = tactic, .pack = pack, .measure = measure, .run = run};

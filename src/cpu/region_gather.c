/* Gather of elements of whole bytes: slices of [outer, size, inner] by index. */
#include <string.h>

#include "base/threads.h"
#include "cpu/extent.h"
#include "cpu/family.h"
#include "cpu/gemm/gemm.h"
#include "ops/gather.h"

/* Bytes of output that a chunk of work writes. */
#define CHUNK ((size_t)64 << 10)

typedef struct detail {
    bool
        packed; /* rows of a matrix that products have as a packed B: they are read there, so that it is in memory once */
} detail;

static const detail *detail_of(const ingot_region *region)
{
    return ((const ingot_cpu_region *)region->detail)->detail;
}

static bool gathers_rows(const ingot_node *node, const ingot_graph_value *x)
{
    return ingot_cpu_is(node, "Gather") && node->inputs[0] == x && node->inputs[1] != x &&
           ingot_axis_of(((const ingot_axis_params *)node->params)->axis, 2) == 0;
}

/* Whether all that reads x are such Gathers and products that have it as B, transposed. */
static bool is_packed_elsewhere(const ingot_graph_value *x)
{
    bool packed = false;
    if (!ingot_graph_value_is_constant(x) || !ingot_cpu_is_float(x) || x->constant->rank != 2 || x->output_count > 0)
        return false;
    for (size_t i = 0; i < x->use_count; i++) {
        bool product = ingot_cpu_product_of_transposed(x->uses[i].node) != NULL;
        packed = packed || product;
        if (!product && !gathers_rows(x->uses[i].node, x))
            return false;
    }
    return packed;
}

static ingot_status claim(ingot_cpu_claim *claim, ingot_node *node, bool *claimed)
{
    ingot_cpu_draft draft;
    if (!ingot_cpu_is(node, "Gather") || !ingot_cpu_is_copyable(node->inputs[0]) ||
        (node->op->flags & (INGOT_OP_SIZES_OUTPUT | INGOT_OP_IN_PLACE)) || !ingot_cpu_draft_node(node, &draft))
        return INGOT_OK;
    detail d = {is_packed_elsewhere(node->inputs[0])};
    draft.packed_inputs = d.packed ? 1u << 0 : 0;
    draft.detail = &d;
    draft.detail_size = sizeof d;
    return ingot_cpu_claim_region(claim, &ingot_cpu_gather, &draft, claimed);
}

static void tactic(const ingot_region *region, ingot_tactic *tactic)
{
    tactic->name = detail_of(region)->packed ? "gather_packed_rows" : "gather_rows";
    if (detail_of(region)->packed)
        ingot_cpu_packs_matrix(tactic, region->inputs[0], true);
}

typedef struct gather_task {
    const ingot_value *indices;
    size_t count, rows, rows_per_chunk; /* indices; rows of output: outer * count */
    size_t size, bytes;                 /* of the axis; of a row */
    const char *x;
    const float *packed; /* in place of x */
    char *y;
} gather_task;

static void run_gather(void *argument, size_t chunk, int participant)
{
    const gather_task *t = argument;
    size_t first = chunk * t->rows_per_chunk;
    size_t end = t->rows - first < t->rows_per_chunk ? t->rows : first + t->rows_per_chunk;
    size_t outer = first / t->count, at = first % t->count;
    for (size_t row = first; row < end; row++) {
        int64_t index = ingot_integer_at(t->indices, at);
        size_t from = (size_t)(index < 0 ? index + (int64_t)t->size : index);
        const char *x = t->x + (outer * t->size + from) * t->bytes;
        char *y = t->y + row * t->bytes;
        if (t->packed)
            ingot_gemm_f32_unpack_column(NULL, t->bytes / sizeof(float), t->packed, from, (float *)y);
        else if (t->bytes == 4)
            memcpy(y, x, 4);
        else if (t->bytes == 8)
            memcpy(y, x, 8);
        else
            memcpy(y, x, t->bytes);
        if (++at == t->count) {
            at = 0;
            outer++;
        }
    }
}

/* An index out of range is the reference's to report. */
static bool all_in_range(const ingot_value *indices, size_t count, int64_t size)
{
    for (size_t i = 0; i < count; i++) {
        int64_t index = ingot_integer_at(indices, i);
        if (index < -size || index >= size)
            return false;
    }
    return true;
}

static ingot_status run(const ingot_step *step, bool *declined)
{
    const ingot_axis_params *p = step->region->nodes[0]->params;
    const ingot_value *x = step->inputs[0], *indices = step->inputs[1];
    ingot_value *y = step->outputs[0];
    int axis = ingot_axis_of(p->axis, x->rank);
    size_t count = ingot_value_count(indices);
    *declined = ingot_value_count(y) == 0 || !all_in_range(indices, count, x->dims[axis]);
    if (*declined)
        return INGOT_OK;
    ingot_extent e = ingot_extent_of(x, axis, axis + 1);
    gather_task t = {.indices = indices,
                     .count = count,
                     .rows = e.outer * count,
                     .size = e.count,
                     .bytes = e.inner * ingot_element_size(x->element),
                     .x = x->data,
                     .packed = step->packed,
                     .y = y->data};
    t.rows_per_chunk = t.bytes < CHUNK ? CHUNK / t.bytes : 1;
    ingot_parallel(step->threads, (t.rows + t.rows_per_chunk - 1) / t.rows_per_chunk, run_gather, &t);
    return INGOT_OK;
}

const ingot_cpu_family ingot_cpu_gather = {
    .name = "gather", .claim = claim, .tactic = tactic, .pack_rows = ingot_cpu_pack_matrix, .run = run};

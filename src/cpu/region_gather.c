/* Gather of elements of whole bytes: slices of [outer, size, inner] by index. */
#include <string.h>

#include "base/threads.h"
#include "cpu/extent.h"
#include "cpu/family.h"
#include "ops/gather.h"

/* Bytes of output that a chunk of work writes. */
#define CHUNK ((size_t)64 << 10)

static ingot_status claim(ingot_cpu_claim *claim, ingot_node *node, bool *claimed)
{
    if (!ingot_cpu_is(node, "Gather") || !ingot_cpu_is_copyable(node->inputs[0]) ||
        (node->op->flags & (INGOT_OP_SIZES_OUTPUT | INGOT_OP_IN_PLACE)))
        return INGOT_OK;
    return ingot_cpu_claim_whole_node(claim, &ingot_cpu_gather, node, claimed);
}

static void tactic(const ingot_region *region, ingot_tactic *tactic)
{
    tactic->name = "gather_rows";
}

typedef struct gather_task {
    const ingot_value *indices;
    size_t count, rows, rows_per_chunk; /* indices; rows of output: outer * count */
    size_t size, bytes;                 /* of the axis; of a row */
    const char *x;
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
        if (t->bytes == 4)
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
                     .y = y->data};
    t.rows_per_chunk = t.bytes < CHUNK ? CHUNK / t.bytes : 1;
    ingot_parallel(step->threads, (t.rows + t.rows_per_chunk - 1) / t.rows_per_chunk, run_gather, &t);
    return INGOT_OK;
}

const ingot_cpu_family ingot_cpu_gather = {.name = "gather", .claim = claim, .tactic = tactic, .run = run};

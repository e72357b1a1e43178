/* Pad with a constant, of elements of whole bytes. The padding is cut into one slab before and one behind on each axis. */
#include <math.h>
#include <string.h>

#include "cpu/c16/c16.h"
#include "cpu/extent.h"
#include "cpu/family.h"
#include "ops/pad.h"

/* Element i of the output along an axis is element i - begin of the input, as far as that is in first ... end - 1. */
typedef struct padding {
    int64_t begin[INGOT_MAX_RANK], first[INGOT_MAX_RANK], end[INGOT_MAX_RANK];
} padding;

static bool has_input(const ingot_step *step, size_t input)
{
    return input < step->region->input_count && step->inputs[input];
}

static ingot_status claim(ingot_cpu_claim *claim, ingot_node *node, bool *claimed)
{
    const ingot_pad_params *p = node->params;
    if (!ingot_cpu_is(node, "Pad") || p->mode != INGOT_PAD_CONSTANT || !ingot_cpu_is_copyable(node->inputs[0]) ||
        (node->op->flags & (INGOT_OP_SIZES_OUTPUT | INGOT_OP_IN_PLACE)))
        return INGOT_OK;
    return ingot_cpu_claim_whole_node(claim, &ingot_cpu_pad, node, claimed);
}

static void tactic(const ingot_region *region, ingot_tactic *tactic)
{
    tactic->name = "copy_padded";
}

/* The pads of a tensor of rank 4 where they are constants; those of the file need not be aligned. */
static bool known_pads(const ingot_pad_params *p, const ingot_graph_value *given, int64_t pads[8])
{
    if (p->pads.given) {
        memcpy(pads, p->pads.data, 8 * sizeof *pads);
        return true;
    }
    if (!ingot_graph_value_is_constant(given) || given->constant->element != INGOT_INT64 ||
        ingot_value_count(given->constant) != 8)
        return false;
    memcpy(pads, given->constant->data, 8 * sizeof *pads);
    return true;
}

/* Elements added, none taken away, at the images' sides alone; they and the value that fills them are known now. */
static void blocked(const ingot_region *region, ingot_cpu_tactics *list)
{
    const ingot_pad_params *p = region->nodes[0]->params;
    const ingot_graph_value *x = region->inputs[0], *given = region->input_count > 1 ? region->inputs[1] : NULL;
    int64_t pads[8];
    if (!ingot_cpu_can_block(x) || x->type.rank != 4 || (region->input_count > 3 && region->inputs[3]) ||
        !known_pads(p, given, pads))
        return;
    for (size_t i = 0; i < 8; i++)
        if (pads[i] < 0 || (i % 4 < 2 && pads[i] != 0))
            return;
    ingot_cpu_add_blocked(list, region, "pad_c16", ~1u);
}

static void read_padding(const ingot_step *step, padding *pad)
{
    const ingot_pad_params *p = step->region->nodes[0]->params;
    const ingot_value *x = step->inputs[0], *axes = has_input(step, 3) ? step->inputs[3] : NULL;
    size_t count = axes ? ingot_value_count(axes) : (size_t)x->rank;
    for (int i = 0; i < x->rank; i++) {
        pad->begin[i] = pad->first[i] = 0;
        pad->end[i] = x->dims[i];
    }
    for (size_t i = 0; i < count; i++) {
        int axis = axes ? ingot_axis_of(ingot_integer_at(axes, i), x->rank) : (int)i;
        int64_t begin = p->pads.given ? p->pads.data[i] : ingot_integer_at(step->inputs[1], i);
        int64_t end = p->pads.given ? p->pads.data[count + i] : ingot_integer_at(step->inputs[1], count + i);
        pad->begin[axis] = begin;
        pad->first[axis] = begin < 0 ? -begin : 0;
        pad->end[axis] += end < 0 ? end : 0;
    }
}

/* The element that is filled in: bits holds it where it is no input. */
static const void *filler(const ingot_step *step, uint64_t *bits)
{
    const ingot_pad_params *p = step->region->nodes[0]->params;
    if (has_input(step, 2) && ingot_value_count(step->inputs[2]) > 0)
        return step->inputs[2]->data;
    if (p->value != 0 || signbit(p->value))
        ingot_store_double(step->outputs[0]->element, bits, 0, p->value);
    return bits;
}

/* Fills elements first ... first + count - 1 of an axis of a box, on its other axes as box says. */
static void fill_slab(ingot_copy box, int axis, int64_t first, int64_t count, int threads)
{
    size_t dims[INGOT_MAX_RANK];
    if (count <= 0)
        return;
    for (int i = 0; i < box.rank; i++)
        dims[i] = i == axis ? (size_t)count : box.dims[i];
    box.dims = dims;
    box.y = (char *)box.y + first * box.y_strides[axis] * (ptrdiff_t)box.element_size;
    ingot_copy_strided(&box, threads);
}

static void run_blocked(const ingot_step *step, const padding *pad)
{
    const ingot_value *x = step->inputs[0], *y = step->outputs[0];
    uint64_t bits[2] = {0};
    ingot_c16_padding box = {.planes = (size_t)x->dims[0] * ingot_block_count((size_t)x->dims[1]),
                             .in_height = (size_t)x->dims[2],
                             .in_width = (size_t)x->dims[3],
                             .out_height = (size_t)y->dims[2],
                             .out_width = (size_t)y->dims[3],
                             .top = (size_t)pad->begin[2],
                             .left = (size_t)pad->begin[3]};
    memcpy(&box.value, filler(step, bits), sizeof box.value);
    ingot_c16_pad_f32(&box, x->data, y->data, step->threads);
}

static ingot_status run(const ingot_step *step, bool *declined)
{
    const ingot_value *x = step->inputs[0];
    ingot_value *y = step->outputs[0];
    ptrdiff_t x_strides[INGOT_MAX_RANK], y_strides[INGOT_MAX_RANK];
    const ptrdiff_t still[INGOT_MAX_RANK] = {0};
    size_t dims[INGOT_MAX_RANK];
    uint64_t bits[2] = {0};
    padding pad;
    if (ingot_value_count(y) == 0)
        return INGOT_OK;
    read_padding(step, &pad);
    if (ingot_cpu_is_blocked(step)) {
        run_blocked(step, &pad);
        return INGOT_OK;
    }
    for (int i = 0; i < x->rank && !*declined; i++)
        *declined = pad.end[i] <= pad.first[i]; /* nothing of the input is left */
    if (*declined)
        return INGOT_OK;
    ingot_dense_strides(x->rank, x->dims, x_strides);
    ingot_dense_strides(y->rank, y->dims, y_strides);
    ingot_copy copy = {.rank = y->rank,
                       .dims = dims,
                       .element_size = ingot_element_size(y->element),
                       .x = filler(step, bits),
                       .x_strides = still,
                       .y = y->data,
                       .y_strides = y_strides};
    for (int i = 0; i < y->rank; i++)
        dims[i] = (size_t)y->dims[i];
    ptrdiff_t from = 0;
    for (int i = 0; i < y->rank; i++) { /* what is left is the box inside on axes up to i */
        int64_t before = pad.first[i] + pad.begin[i], inside = pad.end[i] - pad.first[i];
        fill_slab(copy, i, 0, before, step->threads);
        fill_slab(copy, i, before + inside, y->dims[i] - before - inside, step->threads);
        dims[i] = (size_t)inside;
        copy.y = (char *)copy.y + before * y_strides[i] * (ptrdiff_t)copy.element_size;
        from += (ptrdiff_t)pad.first[i] * x_strides[i];
    }
    copy.x = (const char *)x->data + from * (ptrdiff_t)copy.element_size;
    copy.x_strides = x_strides;
    ingot_copy_strided(&copy, step->threads);
    return INGOT_OK;
}

const ingot_cpu_family ingot_cpu_pad = {
    .name = "pad", .claim = claim, .tactic = tactic, .blocked = blocked, .run = run};

/* Pad with a constant, of elements of whole bytes. The padding is cut into one slab before and one behind on each axis. */
#include <math.h>

#include "cpu/extent.h"
#include "cpu/family.h"
#include "cpu/layout/layout.h"
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

const ingot_cpu_family ingot_cpu_pad = {.name = "pad", .claim = claim, .tactic = tactic, .run = run};

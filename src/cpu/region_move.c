/* Transpose, Slice, Crop, Expand, Tile, DepthToSpace and SpaceToDepth: one strided copy of elements of whole bytes. */
#include <string.h>

#include "cpu/c16/c16.h"
#include "cpu/extent.h"
#include "cpu/family.h"
#include "ops/arrange.h"
#include "ops/join.h"
#include "ops/slice.h"

/* Id of the tactic that takes a part of all images in blocks; others have 0. */
#define PART_OF_IMAGES 1

/* A copy in the making: element 0 of x is x_first. */
typedef struct move {
    int rank;
    size_t dims[INGOT_MAX_RANK];
    ptrdiff_t x_strides[INGOT_MAX_RANK], y_strides[INGOT_MAX_RANK], x_first;
} move;

/* Fills the move; false where it cannot be told as one copy. Sizes are not 0. */
typedef bool (*mover)(const ingot_step *step, move *m);

/* Dimensions and strides of y, dense. */
static void begin_at_output(const ingot_value *y, move *m)
{
    m->rank = y->rank;
    ingot_dense_strides(y->rank, y->dims, m->y_strides);
    for (int i = 0; i < y->rank; i++)
        m->dims[i] = (size_t)y->dims[i];
}

static bool transpose(const ingot_step *step, move *m)
{
    const ingot_value *x = step->inputs[0];
    ptrdiff_t dense[INGOT_MAX_RANK];
    begin_at_output(step->outputs[0], m);
    ingot_dense_strides(x->rank, x->dims, dense);
    for (int i = 0; i < x->rank; i++)
        m->x_strides[i] = dense[ingot_transpose_source(step->region->nodes[0]->params, x->rank, i)];
    return true;
}

static int64_t list_element(const ingot_step *step, const ingot_ints *attribute, size_t input, size_t i)
{
    return attribute->given ? attribute->data[i] : ingot_integer_at(step->inputs[input], i);
}

static bool has_input(const ingot_step *step, size_t input)
{
    return input < step->region->input_count && step->inputs[input];
}

static bool slice(const ingot_step *step, move *m)
{
    const ingot_slice_params *p = step->region->nodes[0]->params;
    const ingot_value *x = step->inputs[0];
    size_t count = p->starts.given ? p->starts.count : ingot_value_count(step->inputs[1]);
    bool has_axes = p->axes.given || has_input(step, 3), has_steps = has_input(step, 4);
    begin_at_output(step->outputs[0], m);
    ingot_dense_strides(x->rank, x->dims, m->x_strides);
    for (size_t i = 0; i < count; i++) {
        int axis = has_axes ? ingot_axis_of(list_element(step, &p->axes, 3, i), x->rank) : (int)i;
        int64_t by = has_steps ? ingot_integer_at(step->inputs[4], i) : 1, first, length;
        ingot_slice_range(x->dims[axis], list_element(step, &p->starts, 1, i), list_element(step, &p->ends, 2, i), by,
                          &first, &length);
        m->x_first += first * m->x_strides[axis];
        m->x_strides[axis] = length > 1 ? m->x_strides[axis] * by : 0; /* one element: the step may be any number */
    }
    return true;
}

static bool crop(const ingot_step *step, move *m)
{
    const ingot_crop_params *p = step->region->nodes[0]->params;
    begin_at_output(step->outputs[0], m);
    ingot_dense_strides(4, step->inputs[0]->dims, m->x_strides);
    m->x_first = (ptrdiff_t)p->border.data[1] * m->x_strides[2] + (ptrdiff_t)p->border.data[0];
    return true;
}

static bool expand(const ingot_step *step, move *m)
{
    const ingot_value *x = step->inputs[0], *y = step->outputs[0];
    ptrdiff_t dense[INGOT_MAX_RANK];
    begin_at_output(y, m);
    ingot_dense_strides(x->rank, x->dims, dense);
    for (int i = 0; i < y->rank; i++) {
        int own = i - (y->rank - x->rank);
        m->x_strides[i] = own < 0 || x->dims[own] == 1 ? 0 : dense[own];
    }
    return true;
}

static bool add_dimension(move *m, int64_t size, ptrdiff_t x_stride, ptrdiff_t y_stride)
{
    if (m->rank == INGOT_MAX_RANK)
        return false;
    m->dims[m->rank] = (size_t)size;
    m->x_strides[m->rank] = x_stride;
    m->y_strides[m->rank++] = y_stride;
    return true;
}

/* Repeats become dimensions of their own. */
static bool tile(const ingot_step *step, move *m)
{
    const ingot_value *x = step->inputs[0], *y = step->outputs[0];
    ptrdiff_t from[INGOT_MAX_RANK], to[INGOT_MAX_RANK];
    ingot_dense_strides(x->rank, x->dims, from);
    ingot_dense_strides(y->rank, y->dims, to);
    for (int i = 0; i < y->rank; i++) {
        int64_t repeats = y->dims[i] / x->dims[i];
        if (repeats > 1 && !add_dimension(m, repeats, 0, to[i] * (ptrdiff_t)x->dims[i]))
            return false;
        if (x->dims[i] > 1 && !add_dimension(m, x->dims[i], from[i], to[i]))
            return false;
    }
    return true;
}

/* Element (n, c, h, i, w, j) of the space side, [N, C, H, block, W, block], is that of the depth side whose channel (i, j, c) or
 * (c, i, j) counts. */
static void pair_depth(const ingot_depth_params *p, const ingot_value *space, move *m, ptrdiff_t *of_space,
                       ptrdiff_t *of_depth)
{
    ptrdiff_t block = (ptrdiff_t)p->blocksize, channels = (ptrdiff_t)space->dims[1];
    int64_t height = space->dims[2] / block, width = space->dims[3] / block;
    int64_t sizes[6] = {space->dims[0], channels, height, block, width, block};
    ptrdiff_t plane = (ptrdiff_t)(height * width);
    bool crd = p->mode == INGOT_DEPTH_CRD;
    ptrdiff_t depth[6] = {channels * block * block * plane,
                          (crd ? block * block : 1) * plane,
                          (ptrdiff_t)width,
                          (crd ? block : block * channels) * plane,
                          1,
                          (crd ? 1 : channels) * plane};
    m->rank = 6;
    ingot_dense_strides(6, sizes, of_space);
    for (int i = 0; i < 6; i++) {
        m->dims[i] = (size_t)sizes[i];
        of_depth[i] = depth[i];
    }
}

static bool depth_to_space(const ingot_step *step, move *m)
{
    pair_depth(step->region->nodes[0]->params, step->outputs[0], m, m->y_strides, m->x_strides);
    return true;
}

static bool space_to_depth(const ingot_step *step, move *m)
{
    pair_depth(step->region->nodes[0]->params, step->inputs[0], m, m->x_strides, m->y_strides);
    return true;
}

/* ---- The family ---- */

static const struct {
    const char *op_type;
    mover mover;
} entries[] = {{"Transpose", transpose},
               {"Slice", slice},
               {"Crop", crop},
               {"Expand", expand},
               {"Tile", tile},
               {"DepthToSpace", depth_to_space},
               {"SpaceToDepth", space_to_depth}};

static ingot_status claim(ingot_cpu_claim *claim, ingot_node *node, bool *claimed)
{
    const ingot_graph_value *x = node->operand_count > 0 ? node->inputs[0] : NULL;
    ingot_cpu_draft draft;
    if (!ingot_cpu_is_copyable(x) || (node->op->flags & INGOT_OP_SIZES_OUTPUT))
        return INGOT_OK;
    for (size_t i = 0; i < sizeof entries / sizeof *entries && !*claimed; i++) {
        if (!ingot_cpu_is(node, entries[i].op_type) || !ingot_cpu_draft_node(node, &draft))
            continue;
        draft.detail = &entries[i].mover;
        draft.detail_size = sizeof entries[i].mover;
        INGOT_TRY(ingot_cpu_claim_region(claim, &ingot_cpu_move, &draft, claimed));
    }
    return INGOT_OK;
}

static void tactic(const ingot_region *region, ingot_tactic *tactic)
{
    tactic->name = "copy_strided";
}

/* A Slice or Crop has no steps but 1; those of the file need not be aligned. */
static bool has_unit_steps(const ingot_region *region)
{
    const ingot_graph_value *steps = region->input_count > 4 ? region->inputs[4] : NULL;
    if (!steps)
        return true;
    if (!ingot_graph_value_is_constant(steps) || steps->constant->element != INGOT_INT64)
        return false;
    for (size_t i = 0; i < ingot_value_count(steps->constant); i++) {
        int64_t by;
        memcpy(&by, (const char *)steps->constant->data + i * sizeof by, sizeof by);
        if (by != 1)
            return false;
    }
    return true;
}

/* A Transpose between channels first and channels last: one side can lie in blocks. */
static void block_transpose(const ingot_region *region, ingot_cpu_tactics *list)
{
    const ingot_transpose_params *p = region->nodes[0]->params;
    const ingot_graph_value *x = region->inputs[0];
    if (!ingot_cpu_can_block(x))
        return;
    if (ingot_transpose_is_channels_last(p, x->type.rank)) {
        ingot_tactic *t = ingot_cpu_add_blocked(list, region, "transpose from c16", 0);
        if (!t)
            return;
        t->output_layouts[0] = INGOT_LAYOUT_PLAIN;
        t->cost = ingot_cpu_moving_cost(region, &list->list[0]); /* a reorder would read the empty lanes too */
    }
    if (ingot_transpose_is_channels_first(p, x->type.rank))
        ingot_cpu_add_blocked(list, region, "transpose to c16", 1);
}

static void run_blocked_transpose(const ingot_step *step)
{
    const ingot_value *x = step->inputs[0], *y = step->outputs[0];
    if (ingot_cpu_is_blocked(step))
        ingot_unblock_last_f32((size_t)x->dims[0], (size_t)x->dims[1], ingot_blocked_image(x->rank, x->dims), x->data,
                               y->data, step->threads);
    else
        ingot_block_last_f32((size_t)y->dims[0], (size_t)y->dims[1], ingot_blocked_image(y->rank, y->dims), x->data,
                             y->data, step->threads);
}

/* Channels that a Slice takes, whole images of them, or a part of all images. */
static void block_slice(const ingot_region *region, ingot_cpu_tactics *list)
{
    const ingot_graph_value *x = region->inputs[0], *y = region->outputs[0];
    if (!ingot_cpu_can_block(x) || !ingot_cpu_can_block(y) || x->type.rank != y->type.rank || !has_unit_steps(region))
        return;
    bool same_images = x->type.dims[0] == y->type.dims[0];
    for (int i = 2; i < x->type.rank; i++)
        same_images = same_images && x->type.dims[i] == y->type.dims[i];
    if (!same_images && !ingot_cpu_same_channels(x, y))
        return;
    ingot_tactic *t = ingot_cpu_add_blocked(list, region, same_images ? "copy_c16" : "crop_c16", ~1u);
    if (t && !same_images)
        t->id = PART_OF_IMAGES;
}

static void blocked(const ingot_region *region, ingot_cpu_tactics *list)
{
    const mover *fill = ((const ingot_cpu_region *)region->detail)->detail;
    if (*fill == slice || *fill == crop)
        block_slice(region, list);
    else if (*fill == transpose)
        block_transpose(region, list);
}

static void run_blocked_crop(const ingot_step *step, const move *m)
{
    const ingot_value *x = step->inputs[0], *y = step->outputs[0];
    const bool rows = x->rank == 4;
    ingot_c16_padding border = {.planes = (size_t)x->dims[0] * ingot_block_count((size_t)x->dims[1]),
                                .in_height = rows ? (size_t)x->dims[2] : 1,
                                .in_width = (size_t)x->dims[x->rank - 1],
                                .out_height = rows ? (size_t)y->dims[2] : 1,
                                .out_width = (size_t)y->dims[y->rank - 1]};
    border.top = (size_t)m->x_first / border.in_width;
    border.left = (size_t)m->x_first % border.in_width;
    ingot_c16_crop_f32(&border, x->data, y->data, step->threads);
}

static void run_blocked_slice(const ingot_step *step, const move *m)
{
    const ingot_value *x = step->inputs[0], *y = step->outputs[0];
    size_t image = ingot_blocked_image(x->rank, x->dims);
    ingot_channel_copy copy = {.batch = (size_t)y->dims[0],
                               .image = image,
                               .count = (size_t)y->dims[1],
                               .x = x->data,
                               .x_channels = (size_t)x->dims[1],
                               .x_first = (size_t)m->x_first / image,
                               .y = y->data,
                               .y_channels = (size_t)y->dims[1]};
    ingot_c16_copy_f32(&copy, step->threads);
}

static ingot_status run(const ingot_step *step, bool *declined)
{
    const mover *fill = ((const ingot_cpu_region *)step->region->detail)->detail;
    const ingot_value *x = step->inputs[0];
    ingot_value *y = step->outputs[0];
    move m = {0};
    const bool is_blocked = ingot_cpu_is_blocked(step) || step->tactic->output_layouts[0] == INGOT_LAYOUT_C16;
    if (ingot_value_count(y) == 0)
        return INGOT_OK;
    *declined = !(*fill)(step, &m);
    if (*declined)
        return INGOT_OK;
    if (is_blocked && *fill == transpose) {
        run_blocked_transpose(step);
        return INGOT_OK;
    }
    if (is_blocked) {
        (step->tactic->id == PART_OF_IMAGES ? run_blocked_crop : run_blocked_slice)(step, &m);
        return INGOT_OK;
    }
    size_t size = ingot_element_size(x->element);
    ingot_copy copy = {.rank = m.rank,
                       .dims = m.dims,
                       .element_size = size,
                       .x = (const char *)x->data + m.x_first * (ptrdiff_t)size,
                       .x_strides = m.x_strides,
                       .y = y->data,
                       .y_strides = m.y_strides};
    ingot_copy_strided(&copy, step->threads);
    return INGOT_OK;
}

const ingot_cpu_family ingot_cpu_move = {
    .name = "move", .claim = claim, .tactic = tactic, .blocked = blocked, .run = run};

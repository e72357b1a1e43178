#include "ops/sample.h"

#include "ops/movement.h"

/* ---- GridSample ---- */

static const char *const modes_16[] = {"bilinear", "nearest", "bicubic", NULL};
static const char *const modes_20[] = {"linear", "nearest", "cubic", NULL};
static const char *const paddings[] = {"zeros", "border", "reflection", NULL};

#define GRID_FIELDS(modes)                                                                                \
    {                                                                                                     \
        {"align_corners", INGOT_PARAM_BOOL, offsetof(ingot_grid_sample_params, align_corners), NULL, 0},  \
            {"mode", INGOT_PARAM_WORD, offsetof(ingot_grid_sample_params, mode), modes, 0},               \
            {"padding_mode", INGOT_PARAM_WORD, offsetof(ingot_grid_sample_params, padding), paddings, 0}, \
            {.attribute = NULL},                                                                          \
    }

static const ingot_param_field grid_sample_16_fields[] = GRID_FIELDS(modes_16);
static const ingot_param_field grid_sample_20_fields[] = GRID_FIELDS(modes_20);

static ingot_status infer_grid_sample(ingot_infer *c)
{
    const ingot_grid_sample_params *params = c->params;
    const ingot_type *x = &c->inputs[0].type, *grid = &c->inputs[1].type;
    ingot_dim dims[INGOT_MAX_RANK];
    bool number = x->element != INGOT_STRING && x->element != INGOT_COMPLEX64 && x->element != INGOT_COMPLEX128;
    if (params->mode != INGOT_SAMPLE_NEAREST && !number)
        return ingot_infer_fail(c, "elements of type %s cannot be interpolated; use mode 'nearest'",
                                ingot_element_name(x->element));
    INGOT_TRY(ingot_infer_rank(c, 0, 3, INGOT_MAX_RANK));
    if (x->rank < 0 || grid->rank < 0)
        return ingot_movement_set(c, 0, x->element, -1, NULL);
    INGOT_TRY(ingot_infer_rank(c, 1, x->rank, x->rank));
    INGOT_TRY(ingot_infer_same_dim(c, "the last dimension of grid and the number of spatial dimensions",
                                   grid->dims[x->rank - 1], x->rank - 2, NULL));
    INGOT_TRY(ingot_infer_same_dim(c, "the batch sizes of X and grid", x->dims[0], grid->dims[0], &dims[0]));
    dims[1] = x->dims[1];
    for (int i = 2; i < x->rank; i++)
        dims[i] = grid->dims[i - 1];
    return ingot_movement_set(c, 0, x->element, x->rank, dims);
}

const ingot_op ingot_op_grid_sample_16 = {
    .summary = "an image at the places that a grid gives",
    .params_size = sizeof(ingot_grid_sample_params),
    .fields = grid_sample_16_fields,
    .infer = infer_grid_sample,
};

const ingot_op ingot_op_grid_sample = {
    .summary = "an image at the places that a grid gives",
    .params_size = sizeof(ingot_grid_sample_params),
    .fields = grid_sample_20_fields,
    .infer = infer_grid_sample,
};

/* ---- AffineGrid ---- */

static const ingot_param_field affine_grid_fields[] = {
    {"align_corners", INGOT_PARAM_BOOL, offsetof(ingot_affine_grid_params, align_corners), NULL, 0},
    {.attribute = NULL},
};

static ingot_status infer_affine_grid(ingot_infer *c)
{
    const ingot_type *theta = &c->inputs[0].type;
    ingot_dim size[5], dims[5];
    size_t count;
    int length;
    INGOT_TRY(ingot_infer_rank(c, 0, 3, 3));
    INGOT_TRY(ingot_movement_vector_length(c, 1, &length));
    if (length < 0)
        return ingot_movement_set(c, 0, theta->element, -1, NULL);
    if (length != 4 && length != 5)
        return ingot_infer_fail(c, "size has %d elements, but needs 4 (N, C, H, W) or 5 (N, C, D, H, W)", length);
    if (theta->rank == 3) {
        INGOT_TRY(
            ingot_infer_same_dim(c, "the rows of theta and the spatial dimensions", theta->dims[1], length - 2, NULL));
        INGOT_TRY(ingot_infer_same_dim(c, "the columns of theta and the spatial dimensions and 1", theta->dims[2],
                                       length - 1, NULL));
    }
    bool known = ingot_infer_integers(c, 1, size, 5, &count);
    for (int i = 0; i < length - 1; i++)
        dims[i] = !known ? INGOT_DIM_UNKNOWN : size[i == 0 ? 0 : i + 1];
    if (theta->rank == 3)
        INGOT_TRY(ingot_infer_same_dim(c, "the batch sizes of theta and size", theta->dims[0], dims[0], &dims[0]));
    dims[length - 1] = length - 2;
    return ingot_movement_set(c, 0, theta->element, length, dims);
}

const ingot_op ingot_op_affine_grid = {
    .summary = "a grid of places moved by a matrix",
    .params_size = sizeof(ingot_affine_grid_params),
    .fields = affine_grid_fields,
    .infer = infer_affine_grid,
};

/* ---- RoiAlign and MaxRoiPool ---- */

static const char *const roi_modes[] = {"avg", "max", NULL};
static const char *const roi_coordinates[] = {"output_half_pixel", "half_pixel", NULL}; /* before opset 16 the first */

static const ingot_param_field roi_align_fields[] = {
    {"coordinate_transformation_mode", INGOT_PARAM_WORD, offsetof(ingot_roi_align_params, coordinates), roi_coordinates,
     0},
    {"mode", INGOT_PARAM_WORD, offsetof(ingot_roi_align_params, mode), roi_modes, 0},
    {"output_height", INGOT_PARAM_INT, offsetof(ingot_roi_align_params, output_height), NULL, 0},
    {"output_width", INGOT_PARAM_INT, offsetof(ingot_roi_align_params, output_width), NULL, 0},
    {"sampling_ratio", INGOT_PARAM_INT, offsetof(ingot_roi_align_params, sampling_ratio), NULL, 0},
    {"spatial_scale", INGOT_PARAM_FLOAT, offsetof(ingot_roi_align_params, spatial_scale), NULL, 0},
    {.attribute = NULL},
};

#define MAX_SAMPLING_RATIO 4096

static ingot_status check_roi_align(const ingot_node *node, void *data, ingot_error *error)
{
    ingot_roi_align_params *params = data;
    params->half_pixel = params->coordinates == 1;
    if (params->output_height < 1 || params->output_width < 1)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                               "output_height is %lld and output_width %lld; both must be at least 1",
                               (long long)params->output_height, (long long)params->output_width);
    if (params->sampling_ratio < 0 || params->sampling_ratio > MAX_SAMPLING_RATIO)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "sampling_ratio is %lld, but must be from 0 to %d",
                               (long long)params->sampling_ratio, MAX_SAMPLING_RATIO);
    return INGOT_OK;
}

/* Regions [count, columns] of an image [N, C, H, W]: the output is [count, C, height, width]. */
static ingot_status infer_regions(ingot_infer *c, int64_t columns, int64_t height, int64_t width)
{
    const ingot_type *x = &c->inputs[0].type, *rois = &c->inputs[1].type;
    ingot_dim dims[4] = {INGOT_DIM_UNKNOWN, INGOT_DIM_UNKNOWN, height, width};
    INGOT_TRY(ingot_infer_rank(c, 0, 4, 4));
    INGOT_TRY(ingot_infer_rank(c, 1, 2, 2));
    if (rois->rank == 2) {
        INGOT_TRY(ingot_infer_same_dim(c, "the columns of rois and what a region needs", rois->dims[1], columns, NULL));
        dims[0] = rois->dims[0];
    }
    if (x->rank == 4)
        dims[1] = x->dims[1];
    return ingot_movement_set(c, 0, x->element, 4, dims);
}

static ingot_status infer_roi_align(ingot_infer *c)
{
    const ingot_roi_align_params *params = c->params;
    const ingot_type *rois = &c->inputs[1].type, *batch = &c->inputs[2].type;
    INGOT_TRY(ingot_infer_rank(c, 2, 1, 1));
    if (rois->rank == 2 && batch->rank == 1)
        INGOT_TRY(
            ingot_infer_same_dim(c, "the numbers of rois and of batch_indices", rois->dims[0], batch->dims[0], NULL));
    return infer_regions(c, 4, params->output_height, params->output_width);
}

const ingot_op ingot_op_roi_align = {
    .summary = "regions of an image, interpolated to one size",
    .params_size = sizeof(ingot_roi_align_params),
    .fields = roi_align_fields,
    .check = check_roi_align,
    .infer = infer_roi_align,
};

static const ingot_param_field max_roi_pool_fields[] = {
    {"pooled_shape", INGOT_PARAM_INTS, offsetof(ingot_max_roi_pool_params, pooled_shape), NULL, 0},
    {"spatial_scale", INGOT_PARAM_FLOAT, offsetof(ingot_max_roi_pool_params, spatial_scale), NULL, 0},
    {.attribute = NULL},
};

static ingot_status check_max_roi_pool(const ingot_node *node, void *data, ingot_error *error)
{
    const ingot_ints *shape = &((const ingot_max_roi_pool_params *)data)->pooled_shape;
    if (shape->count != 2 || shape->data[0] < 1 || shape->data[1] < 1)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                               "pooled_shape must hold a height and a width of at least 1");
    return INGOT_OK;
}

static ingot_status infer_max_roi_pool(ingot_infer *c)
{
    const ingot_max_roi_pool_params *params = c->params;
    return infer_regions(c, 5, params->pooled_shape.data[0], params->pooled_shape.data[1]);
}

const ingot_op ingot_op_max_roi_pool = {
    .summary = "the greatest elements of regions of an image",
    .params_size = sizeof(ingot_max_roi_pool_params),
    .fields = max_roi_pool_fields,
    .check = check_max_roi_pool,
    .infer = infer_max_roi_pool,
};

/* ---- Col2Im ---- */

static const ingot_param_field col2im_fields[] = {
    {"dilations", INGOT_PARAM_INTS, offsetof(ingot_col2im_params, dilations), NULL, 0},
    {"pads", INGOT_PARAM_INTS, offsetof(ingot_col2im_params, pads), NULL, 0},
    {"strides", INGOT_PARAM_INTS, offsetof(ingot_col2im_params, strides), NULL, 0},
    {.attribute = NULL},
};

static ingot_status check_col2im(const ingot_node *node, void *data, ingot_error *error)
{
    const ingot_col2im_params *params = data;
    for (size_t i = 0; i < params->dilations.count; i++)
        if (params->dilations.data[i] < 1 || params->dilations.data[i] > INT32_MAX)
            return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "dilations holds %lld; it must be at least 1",
                                   (long long)params->dilations.data[i]);
    for (size_t i = 0; i < params->strides.count; i++)
        if (params->strides.data[i] < 1 || params->strides.data[i] > INT32_MAX)
            return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "strides holds %lld; it must be at least 1",
                                   (long long)params->strides.data[i]);
    for (size_t i = 0; i < params->pads.count; i++)
        if (params->pads.data[i] < 0 || params->pads.data[i] > INT32_MAX)
            return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "pads holds %lld; it must be at least 0",
                                   (long long)params->pads.data[i]);
    return INGOT_OK;
}

/* Checks that the columns are as many as the blocks that fit into the image. */
static ingot_status check_blocks(ingot_infer *c, int rank, const ingot_dim *image, const ingot_dim *block,
                                 ingot_dim columns)
{
    const ingot_col2im_params *params = c->params;
    ingot_dim blocks = 1;
    for (int i = 0; i < rank; i++) {
        ingot_dim fits;
        if (!ingot_dim_is_number(image[i]) || !ingot_dim_is_number(block[i]))
            return INGOT_OK;
        if (image[i] < 0 || block[i] < 1 || image[i] > INT32_MAX || block[i] > INT32_MAX)
            return ingot_infer_fail(c,
                                    "image_shape has %lld and block_shape %lld at %d; both must be above 0 and below "
                                    "2^31",
                                    (long long)image[i], (long long)block[i], i);
        int64_t extent = (block[i] - 1) * ingot_col2im_value(&params->dilations, (size_t)i, 1) + 1;
        int64_t padded = image[i] + ingot_col2im_value(&params->pads, (size_t)i, 0) +
                         ingot_col2im_value(&params->pads, (size_t)(rank + i), 0);
        fits = padded < extent ? 0 : (padded - extent) / ingot_col2im_value(&params->strides, (size_t)i, 1) + 1;
        INGOT_TRY(ingot_movement_mul(c, "number of blocks", blocks, fits, &blocks));
    }
    return ingot_infer_same_dim(c, "the last dimension of the input and the number of blocks", columns, blocks, NULL);
}

static ingot_status infer_col2im(ingot_infer *c)
{
    const ingot_col2im_params *params = c->params;
    const ingot_type *x = &c->inputs[0].type;
    ingot_dim image[INGOT_MAX_RANK], block[INGOT_MAX_RANK], dims[INGOT_MAX_RANK + 2], cells = 1;
    int rank, block_rank;
    size_t count;
    if (x->element == INGOT_STRING)
        return ingot_infer_fail(c, "strings cannot be summed up");
    INGOT_TRY(ingot_infer_rank(c, 0, 3, 3));
    INGOT_TRY(ingot_movement_vector_length(c, 1, &rank));
    INGOT_TRY(ingot_movement_vector_length(c, 2, &block_rank));
    if (rank < 0 || block_rank < 0)
        return ingot_movement_set(c, 0, x->element, -1, NULL);
    bool agree = rank == block_rank && rank + 2 <= INGOT_MAX_RANK &&
                 (!params->dilations.given || params->dilations.count == (size_t)rank) &&
                 (!params->strides.given || params->strides.count == (size_t)rank) &&
                 (!params->pads.given || params->pads.count == 2 * (size_t)rank);
    if (!agree)
        return ingot_infer_fail(c,
                                "image_shape has %d elements; block_shape, dilations and strides must have as many, "
                                "and pads twice as many",
                                rank);
    bool known = ingot_infer_integers(c, 1, image, INGOT_MAX_RANK, &count) &&
                 ingot_infer_integers(c, 2, block, INGOT_MAX_RANK, &count);
    for (int i = 0; i < rank; i++) {
        dims[i + 2] = known ? image[i] : INGOT_DIM_UNKNOWN;
        cells = known ? ingot_dim_mul(c->dims, cells, block[i]) : INGOT_DIM_UNKNOWN;
    }
    dims[0] = x->rank == 3 ? x->dims[0] : INGOT_DIM_UNKNOWN;
    dims[1] = x->rank == 3 ? ingot_dim_make(c->dims, INGOT_DIM_FLOOR_DIV, x->dims[1], cells) : INGOT_DIM_UNKNOWN;
    if (known && x->rank == 3) {
        INGOT_TRY(check_blocks(c, rank, image, block, x->dims[2]));
        if (ingot_dim_is_number(x->dims[1]) && ingot_dim_is_number(cells) && cells > 0 && x->dims[1] % cells != 0)
            return ingot_infer_fail(c,
                                    "dimension 1 of the input has size %lld, which is no multiple of the block's %lld",
                                    (long long)x->dims[1], (long long)cells);
    }
    return ingot_movement_set(c, 0, x->element, rank + 2, dims);
}

const ingot_op ingot_op_col2im = {
    .summary = "an image as the sum of its overlapping blocks",
    .params_size = sizeof(ingot_col2im_params),
    .fields = col2im_fields,
    .check = check_col2im,
    .infer = infer_col2im,
};

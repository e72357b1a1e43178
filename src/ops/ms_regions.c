#include "ops/ms_regions.h"

#include <stddef.h>

/* ---- CropAndResize ---- */

static const char *const crop_modes[] = {"bilinear", "nearest", NULL};

static const ingot_param_field crop_fields[] = {
    {"mode", INGOT_PARAM_WORD, offsetof(ingot_crop_params, nearest), crop_modes, 0},
    {"extrapolation_value", INGOT_PARAM_FLOAT, offsetof(ingot_crop_params, fallback), NULL, 0},
    {NULL, 0, 0, NULL, 0},
};

static ingot_status infer_crop(ingot_infer *c)
{
    const ingot_type *x = &c->inputs[0].type, *boxes = &c->inputs[1].type;
    ingot_dim size[2] = {INGOT_DIM_UNKNOWN, INGOT_DIM_UNKNOWN};
    size_t count;
    INGOT_TRY(ingot_infer_rank(c, 0, 4, 4));
    INGOT_TRY(ingot_infer_rank(c, 1, 2, 2));
    INGOT_TRY(ingot_infer_rank(c, 2, 1, 1));
    if (boxes->rank == 2) {
        INGOT_TRY(ingot_infer_same_dim(c, "the columns of rois and 4", boxes->dims[1], 4, NULL));
        if (c->inputs[2].type.rank == 1)
            INGOT_TRY(ingot_infer_same_dim(c, "the numbers of rois and of batch_indices", boxes->dims[0],
                                           c->inputs[2].type.dims[0], NULL));
    }
    if (ingot_infer_integers(c, 3, size, 2, &count) && count != 2)
        return ingot_infer_fail(c, "crop_size has %zu elements, but must have 2", count);
    for (int i = 0; i < 2; i++)
        if (ingot_dim_is_number(size[i]) && size[i] < 1)
            return ingot_infer_fail(c, "crop_size holds %lld, but must be positive", (long long)size[i]);
    ingot_infer_set(c, 0, x->element, 4,
                    (ingot_dim[]){boxes->rank == 2 ? boxes->dims[0] : INGOT_DIM_UNKNOWN,
                                  x->rank == 4 ? x->dims[1] : INGOT_DIM_UNKNOWN, size[0], size[1]});
    return INGOT_OK;
}

/* ---- MaxpoolWithMask ---- */

static const ingot_param_field pool_fields[] = {
    INGOT_WINDOW_FIELDS(ingot_pool_params, window),
    {NULL, 0, 0, NULL, 0},
};

static ingot_status check_masked_pool(const ingot_node *node, void *params, ingot_error *error)
{
    ingot_pool_params *p = params;
    if (p->window.kernel_shape.count == 0)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "attribute 'kernel_shape' is missing or empty");
    return ingot_window_check(node, &p->window, error);
}

/* The mask has the shape of X, but that one channel serves all. */
static ingot_status infer_masked_pool(ingot_infer *c)
{
    const ingot_type *x = &c->inputs[0].type, *mask = &c->inputs[1].type;
    ingot_dim dims[INGOT_MAX_RANK];
    ingot_window window;
    if (x->rank < 0) {
        ingot_infer_set_unranked(c, 0, x->element);
        return INGOT_OK;
    }
    INGOT_TRY(ingot_infer_rank(c, 0, 3, INGOT_MAX_RANK));
    INGOT_TRY(ingot_infer_rank(c, 1, x->rank, x->rank));
    for (int i = 0; i < mask->rank; i++)
        if (i != 1 || mask->dims[i] != 1)
            INGOT_TRY(ingot_infer_same_dim(c, "the sizes of X and of the mask", x->dims[i], mask->dims[i], NULL));
    INGOT_TRY(ingot_pool_geometry(c->node, c->params, c->dims, x->rank, x->dims, &window, c->error));
    for (int i = 0; i < x->rank; i++)
        dims[i] = i < 2 ? x->dims[i] : window.out[i - 2];
    ingot_infer_set(c, 0, x->element, x->rank, dims);
    return INGOT_OK;
}

/* ---- WordConvEmbedding ---- */

static ingot_status infer_word_conv(ingot_infer *c)
{
    const ingot_type *words = &c->inputs[0].type, *w = &c->inputs[1].type, *table = &c->inputs[3].type;
    INGOT_TRY(ingot_infer_rank(c, 0, 2, 2));
    INGOT_TRY(ingot_infer_rank(c, 1, 4, 4));
    INGOT_TRY(ingot_infer_rank(c, 2, 1, 1));
    INGOT_TRY(ingot_infer_rank(c, 3, 2, 2));
    if (w->rank == 4) {
        INGOT_TRY(ingot_infer_same_dim(c, "the channels of W and 1", w->dims[1], 1, NULL));
        if (table->rank == 2)
            INGOT_TRY(ingot_infer_same_dim(c, "the last sizes of W and C", w->dims[3], table->dims[1], NULL));
        if (c->inputs[2].type.rank == 1)
            INGOT_TRY(ingot_infer_same_dim(c, "the filters of W and the length of B", w->dims[0],
                                           c->inputs[2].type.dims[0], NULL));
    }
    if (w->rank == 4 && words->rank == 2 && ingot_dim_is_number(words->dims[1]) && ingot_dim_is_number(w->dims[2]) &&
        words->dims[1] < w->dims[2])
        return ingot_infer_fail(c, "words have %lld characters, but the filters %lld", (long long)words->dims[1],
                                (long long)w->dims[2]);
    ingot_infer_set(c, 0, INGOT_FLOAT, 2,
                    (ingot_dim[]){words->rank == 2 ? words->dims[0] : INGOT_DIM_UNKNOWN,
                                  w->rank == 4 ? w->dims[0] : INGOT_DIM_UNKNOWN});
    return INGOT_OK;
}

const ingot_op ingot_op_crop_and_resize = {
    .summary = "Boxes of images, resized to one size",
    .params_size = sizeof(ingot_crop_params),
    .fields = crop_fields,
    .infer = infer_crop,
};

const ingot_op ingot_op_maxpool_with_mask = {
    .summary = "The greatest of each window, row by row up to where a mask ends it",
    .params_size = sizeof(ingot_pool_params),
    .fields = pool_fields,
    .check = check_masked_pool,
    .infer = infer_masked_pool,
};

const ingot_op ingot_op_word_conv_embedding = {
    .summary = "Words as the greatest answers of filters that slide over their characters",
    .infer = infer_word_conv,
};

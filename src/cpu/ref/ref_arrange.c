/* Reference kernels of Transpose, DepthToSpace, SpaceToDepth, ReverseSequence and Trilu. */
#include "ops/arrange.h"

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_move.h"

ingot_status ingot_ref_transpose(const ingot_kernel_call *call)
{
    const ingot_value *x = call->inputs[0];
    ingot_value *y = call->outputs[0];
    int64_t plain[INGOT_MAX_RANK], strides[INGOT_MAX_RANK];
    ingot_walk walk;
    ingot_plain_strides(x->rank, x->dims, plain);
    for (int i = 0; i < x->rank; i++)
        strides[i] = plain[ingot_transpose_source(call->params, x->rank, i)];
    ingot_walk_init(&walk, y->rank, y->dims);
    ingot_walk_add_strided(&walk, strides, 0);
    return ingot_ref_copy_walk(call, y, x, &walk);
}

/* Both operators pair element (n, c, h, i, w, j) of the space side, [N, C, H, block, W, block], with the channel of the
 * depth side that (i, j, c) or (c, i, j) counts. The walk has the space side as operand 0, or as 1 where space_last. */
static void depth_walk(const ingot_depth_params *params, const ingot_value *space, bool space_last, ingot_walk *walk)
{
    int64_t block = params->blocksize;
    int64_t channels = space->dims[1], height = space->dims[2] / block, width = space->dims[3] / block;
    int64_t sizes[6] = {space->dims[0], channels, height, block, width, block};
    int64_t plain[6], plane = height * width;
    bool crd = params->mode == INGOT_DEPTH_CRD;
    int64_t depth[6] = {
        channels * block * block * plane,
        (crd ? block * block : 1) * plane,
        width,
        (crd ? block : block * channels) * plane,
        1,
        (crd ? 1 : channels) * plane,
    };
    ingot_plain_strides(6, sizes, plain);
    ingot_walk_init_bare(walk, 6, sizes);
    ingot_walk_add_strided(walk, space_last ? depth : plain, 0);
    ingot_walk_add_strided(walk, space_last ? plain : depth, 0);
}

ingot_status ingot_ref_depth_to_space(const ingot_kernel_call *call)
{
    ingot_walk walk;
    depth_walk(call->params, call->outputs[0], false, &walk);
    return ingot_ref_copy_walk(call, call->outputs[0], call->inputs[0], &walk);
}

ingot_status ingot_ref_space_to_depth(const ingot_kernel_call *call)
{
    ingot_walk walk;
    depth_walk(call->params, call->inputs[0], true, &walk);
    return ingot_ref_copy_walk(call, call->outputs[0], call->inputs[0], &walk);
}

ingot_status ingot_ref_reverse_sequence(const ingot_kernel_call *call)
{
    const ingot_reverse_sequence_params *params = call->params;
    const ingot_value *x = call->inputs[0], *lengths = call->inputs[1];
    int64_t batches = x->dims[params->batch_axis], times = x->dims[params->time_axis];
    size_t inner = ingot_dims_product(x->dims, 2, x->rank);
    size_t batch_stride = params->batch_axis == 0 ? (size_t)x->dims[1] * inner : inner;
    size_t time_stride = params->time_axis == 0 ? (size_t)x->dims[1] * inner : inner;
    for (int64_t b = 0; b < batches; b++) {
        int64_t length = ingot_ref_integer(lengths, (size_t)b);
        if (length < 0 || length > times)
            return ingot_kernel_fail(call, "element %lld of sequence_lens is %lld, but the sequences have %lld steps",
                                     (long long)b, (long long)length, (long long)times);
        for (int64_t t = 0; t < times; t++) {
            size_t from = (size_t)(t < length ? length - 1 - t : t);
            size_t batch = (size_t)b * batch_stride;
            INGOT_TRY(ingot_ref_copy_run(call, call->outputs[0], batch + (size_t)t * time_stride, x,
                                         batch + from * time_stride, inner));
        }
    }
    return INGOT_OK;
}

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

ingot_status ingot_ref_trilu(const ingot_kernel_call *call)
{
    const ingot_trilu_params *params = call->params;
    const ingot_value *x = call->inputs[0];
    ingot_value *y = call->outputs[0];
    int64_t rows = x->dims[x->rank - 2], columns = x->dims[x->rank - 1];
    size_t matrices = ingot_dims_product(x->dims, 0, x->rank - 2);
    int64_t k = ingot_kernel_has(call, 1) ? ingot_ref_integer(call->inputs[1], 0) : 0;
    k = clamp(k, -rows, columns);
    ingot_ref_clear(y);
    for (size_t m = 0; m < matrices; m++) {
        for (int64_t r = 0; r < rows; r++) {
            int64_t first = params->upper ? clamp(r + k, 0, columns) : 0;
            int64_t end = params->upper ? columns : clamp(r + k + 1, 0, columns);
            size_t at = (m * (size_t)rows + (size_t)r) * (size_t)columns + (size_t)first;
            INGOT_TRY(ingot_ref_copy_run(call, y, at, x, at, (size_t)(end - first)));
        }
    }
    return INGOT_OK;
}

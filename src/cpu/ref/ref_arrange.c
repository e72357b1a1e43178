/* Reference kernels of Transpose, DepthToSpace, SpaceToDepth, ReverseSequence and Trilu. */
#include "ops/arrange.h"

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_move.h"

/* A transpose that only swaps two groups of dimensions after some that stay: outer matrices of rows x columns. */
typedef struct swap {
    size_t outer, rows, columns;
} swap;

static bool find_swap(const ingot_transpose_params *params, const ingot_value *x, swap *s)
{
    int rank = x->rank, kept = 0;
    while (kept < rank && ingot_transpose_source(params, rank, kept) == kept)
        kept++;
    int first = kept < rank ? ingot_transpose_source(params, rank, kept) : rank;
    for (int i = kept; i < rank; i++)
        if (ingot_transpose_source(params, rank, i) != (first + i - kept < rank ? first + i - kept : first + i - rank))
            return false;
    *s = (swap){1, 1, 1};
    for (int i = 0; i < rank; i++)
        *(i < kept ? &s->outer : i < first ? &s->rows : &s->columns) *= (size_t)x->dims[i];
    return true;
}

#define BLOCK 32 /* a block of both sides stays in the first cache */

#define DEFINE_SWAP(type)                                                 \
    static void swap_##type(const swap *s, const type *x, type *y)        \
    {                                                                     \
        for (size_t r = 0; r < s->rows; r += BLOCK)                       \
            for (size_t c = 0; c < s->columns; c += BLOCK)                \
                for (size_t j = c; j < c + BLOCK && j < s->columns; j++)  \
                    for (size_t i = r; i < r + BLOCK && i < s->rows; i++) \
                        y[j * s->rows + i] = x[i * s->columns + j];       \
    }
DEFINE_SWAP(uint8_t)
DEFINE_SWAP(uint16_t)
DEFINE_SWAP(uint32_t)
DEFINE_SWAP(uint64_t)

static bool run_swap(const swap *s, const ingot_value *x, ingot_value *y)
{
    size_t size = ingot_element_size(x->element), step = s->rows * s->columns;
    for (size_t o = 0; o < s->outer; o++) {
        if (size == 1)
            swap_uint8_t(s, (const uint8_t *)x->data + o * step, (uint8_t *)y->data + o * step);
        else if (size == 2)
            swap_uint16_t(s, (const uint16_t *)x->data + o * step, (uint16_t *)y->data + o * step);
        else if (size == 4)
            swap_uint32_t(s, (const uint32_t *)x->data + o * step, (uint32_t *)y->data + o * step);
        else if (size == 8 && x->element != INGOT_COMPLEX64)
            swap_uint64_t(s, (const uint64_t *)x->data + o * step, (uint64_t *)y->data + o * step);
        else
            return false;
    }
    return true;
}

ingot_status ingot_ref_transpose(const ingot_kernel_call *call)
{
    const ingot_value *x = call->inputs[0];
    ingot_value *y = call->outputs[0];
    swap s;
    if (find_swap(call->params, x, &s) && run_swap(&s, x, y))
        return INGOT_OK;
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

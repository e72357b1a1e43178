/* See ref_iterate.h. */
#include "cpu/ref/ref_iterate.h"

#include <string.h>

void ingot_walk_init_bare(ingot_walk *walk, int rank, const int64_t *dims)
{
    memset(walk, 0, sizeof *walk);
    walk->rank = rank;
    for (int i = 0; i < rank; i++)
        walk->sizes[i] = dims[i];
}

void ingot_walk_init(ingot_walk *walk, int rank, const int64_t *dims)
{
    ingot_walk_init_bare(walk, rank, dims);
    ingot_walk_add_broadcast(walk, rank, dims);
}

void ingot_walk_add_broadcast(ingot_walk *walk, int rank, const int64_t *dims)
{
    ingot_walk_strides(rank, dims, walk->rank, walk->strides[walk->operands++]);
}

void ingot_walk_add_strided(ingot_walk *walk, const int64_t *strides, int64_t offset)
{
    for (int i = 0; i < walk->rank; i++)
        walk->strides[walk->operands][i] = strides[i];
    walk->offset[walk->operands++] = offset;
}

/* Whether axis inner continues axis outer in every operand. */
static bool can_merge(const ingot_walk *walk, int outer, int inner)
{
    for (int k = 0; k < walk->operands; k++)
        if (walk->strides[k][outer] != walk->strides[k][inner] * walk->sizes[inner])
            return false;
    return true;
}

static void move_axis(ingot_walk *walk, int from, int to)
{
    walk->sizes[to] = walk->sizes[from];
    for (int k = 0; k < walk->operands; k++)
        walk->strides[k][to] = walk->strides[k][from];
}

bool ingot_walk_begin(ingot_walk *walk)
{
    for (int i = 0; i < walk->rank; i++)
        if (walk->sizes[i] == 0)
            return false;
    int kept = 0;
    for (int i = 0; i < walk->rank; i++) {
        if (walk->sizes[i] == 1)
            continue;
        if (kept > 0 && can_merge(walk, kept - 1, i)) {
            int64_t merged = walk->sizes[kept - 1] * walk->sizes[i];
            move_axis(walk, i, kept - 1);
            walk->sizes[kept - 1] = merged;
        } else {
            move_axis(walk, i, kept++);
        }
    }
    walk->rank = kept > 0 ? kept - 1 : 0;
    walk->run = kept > 0 ? (size_t)walk->sizes[walk->rank] : 1;
    for (int k = 0; k < walk->operands; k++)
        walk->step[k] = kept > 0 ? walk->strides[k][walk->rank] : 0;
    return true;
}

bool ingot_walk_next(ingot_walk *walk)
{
    for (int i = walk->rank - 1; i >= 0; i--) {
        if (++walk->index[i] < walk->sizes[i]) {
            for (int k = 0; k < walk->operands; k++)
                walk->offset[k] += walk->strides[k][i];
            return true;
        }
        walk->index[i] = 0;
        for (int k = 0; k < walk->operands; k++)
            walk->offset[k] -= walk->strides[k][i] * (walk->sizes[i] - 1);
    }
    return false;
}

/* Beside a size of 0 the others may be so large that strides, which nobody uses then, overflow. */
static int64_t next_stride(int64_t stride, int64_t size)
{
    return (int64_t)((uint64_t)stride * (uint64_t)size);
}

void ingot_plain_strides(int rank, const int64_t *dims, int64_t *strides)
{
    int64_t stride = 1;
    for (int i = rank - 1; i >= 0; i--) {
        strides[i] = stride;
        stride = next_stride(stride, dims[i]);
    }
}

void ingot_walk_strides(int rank, const int64_t *dims, int out_rank, int64_t *strides)
{
    int64_t stride = 1;
    for (int i = out_rank - 1; i >= 0; i--) {
        int own = i - (out_rank - rank);
        bool stands = own < 0 || dims[own] == 1;
        strides[i] = stands ? 0 : stride;
        if (own >= 0)
            stride = next_stride(stride, dims[own]);
    }
}

size_t ingot_dims_product(const int64_t *dims, int first, int end)
{
    size_t product = 1;
    for (int i = first; i < end; i++)
        product *= (size_t)dims[i];
    return product;
}

ingot_split ingot_split_at(int rank, const int64_t *dims, int axis)
{
    ingot_split split = {
        .outer = ingot_dims_product(dims, 0, axis),
        .size = rank > 0 ? (size_t)dims[axis] : 1,
        .inner = ingot_dims_product(dims, axis + 1, rank),
    };
    return split;
}

/* Element number i of the strided ones as a number, or from one. */
#define READ(type, convert)                           \
    for (size_t i = 0; i < count; i++, index += step) \
        to[i] = convert(((const type *)data)[index]);
#define WRITE(type, convert)                          \
    for (size_t i = 0; i < count; i++, index += step) \
        ((type *)data)[index] = convert(from[i]);

/* A pair of functions for one type of number; other element types go through number.h one by one. */
#define DEFINE_CONVERSIONS(type, read, write, half_from, bfloat16_from)                                        \
    void read(ingot_element element, const void *data, int64_t index, int64_t step, size_t count, type *to)    \
    {                                                                                                          \
        if (element == INGOT_FLOAT) {                                                                          \
            READ(float, (type))                                                                                \
        } else if (element == INGOT_DOUBLE) {                                                                  \
            READ(double, (type))                                                                               \
        } else if (element == INGOT_FLOAT16) {                                                                 \
            READ(uint16_t, ingot_half_to_float)                                                                \
        } else if (element == INGOT_BFLOAT16) {                                                                \
            READ(uint16_t, ingot_bfloat16_to_float)                                                            \
        } else {                                                                                               \
            for (size_t i = 0; i < count; i++, index += step)                                                  \
                to[i] = (type)ingot_load_double(element, data, (size_t)index);                                 \
        }                                                                                                      \
    }                                                                                                          \
    void write(ingot_element element, void *data, int64_t index, int64_t step, size_t count, const type *from) \
    {                                                                                                          \
        if (element == INGOT_FLOAT) {                                                                          \
            WRITE(float, (float))                                                                              \
        } else if (element == INGOT_DOUBLE) {                                                                  \
            WRITE(double, (double))                                                                            \
        } else if (element == INGOT_FLOAT16) {                                                                 \
            WRITE(uint16_t, half_from)                                                                         \
        } else if (element == INGOT_BFLOAT16) {                                                                \
            WRITE(uint16_t, bfloat16_from)                                                                     \
        } else {                                                                                               \
            for (size_t i = 0; i < count; i++, index += step)                                                  \
                ingot_store_double(element, data, (size_t)index, from[i]);                                     \
        }                                                                                                      \
    }

DEFINE_CONVERSIONS(float, ingot_read_floats, ingot_write_floats, ingot_half_from_float, ingot_bfloat16_from_float)
DEFINE_CONVERSIONS(double, ingot_read_doubles, ingot_write_doubles, ingot_half_from_double, ingot_bfloat16_from_double)

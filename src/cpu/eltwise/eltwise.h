/* Elementwise operations on floats with vector maths of our own: exp, tanh and erf are within 2 ulp.
 *
 * Inputs and outputs need no alignment, and nothing beyond their ends is read or written. An output may be exactly an
 * input (the same pointer); else they must not overlap. An element's result depends on that element alone: not on its
 * place, the size or the number of threads. NaN in gives NaN out. */
#ifndef INGOT_CPU_ELTWISE_H
#define INGOT_CPU_ELTWISE_H

#include "base/status.h"

/* X(name, formula): what is done to x; a and b are the parameters of ingot_unary. */
#define INGOT_UNARY_LIST(X)                                                 \
    X(IDENTITY, "x")                                                        \
    X(RELU, "max(x, 0)")                                                    \
    X(CLIP, "min(max(x, a), b)")                                            \
    X(LEAKY_RELU, "x < 0 ? a * x : x")                                      \
    X(SIGMOID, "1 / (1 + exp(-x))")                                         \
    X(TANH, "tanh(x)")                                                      \
    X(SILU, "x * sigmoid(a * x): a is 1 for the plain one")                 \
    X(GELU, "x / 2 * (1 + erf(x / sqrt(2)))")                               \
    X(GELU_TANH, "x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))") \
    X(HARD_SIGMOID, "min(max(a * x + b, 0), 1)")                            \
    X(HARD_SWISH, "x * min(max(x / 6 + 1 / 2, 0), 1)")                      \
    X(ELU, "x < 0 ? a * (exp(x) - 1) : x")                                  \
    X(SELU, "x < 0 ? b * a * (exp(x) - 1) : b * x")                         \
    X(SOFTPLUS, "log(1 + exp(x))")                                          \
    X(SOFTSIGN, "x / (1 + |x|)")                                            \
    X(MISH, "x * tanh(softplus(x))")                                        \
    X(EXP, "exp(x)")                                                        \
    X(LOG, "log(x)")                                                        \
    X(ERF, "erf(x)")                                                        \
    X(SQRT, "sqrt(x)")                                                      \
    X(RECIPROCAL, "1 / x")                                                  \
    X(NEG, "-x")                                                            \
    X(ABS, "|x|")                                                           \
    X(SQUARE, "x * x")                                                      \
    X(CUBE, "x * x * x")                                                    \
    X(POW, "x to the power a")                                              \
    X(AFFINE, "a * x + b")                                                  \
    X(FLOOR, "largest integer not above x")                                 \
    X(CEIL, "smallest integer not below x")                                 \
    X(ROUND, "nearest integer, halves to even")                             \
    X(SIGN, "-1, 0 or 1")

typedef enum ingot_unary_kind {
#define INGOT_UNARY_ENUM(name, formula) INGOT_UNARY_##name,
    INGOT_UNARY_LIST(INGOT_UNARY_ENUM)
#undef INGOT_UNARY_ENUM
        INGOT_UNARY_COUNT
} ingot_unary_kind;

/* One operation with its parameters; {0} is the identity. */
typedef struct ingot_unary {
    ingot_unary_kind kind;
    float a, b;
} ingot_unary;

/* y[i] = op(x[i]) for i < count. */
void ingot_unary_f32(const ingot_unary *op, const float *x, float *y, size_t count, int threads);

#define INGOT_BINARY_LIST(X)      \
    X(ADD)                        \
    X(SUB)                        \
    X(MUL)                        \
    X(DIV)                        \
    X(MIN) /* NaN if either is */ \
    X(MAX)

typedef enum ingot_binary_kind {
#define INGOT_BINARY_ENUM(name) INGOT_BINARY_##name,
    INGOT_BINARY_LIST(INGOT_BINARY_ENUM)
#undef INGOT_BINARY_ENUM
        INGOT_BINARY_COUNT
} ingot_binary_kind;

/* An operation of two inputs with broadcasting. y is dense, of shape dims (rank 0 is one element). The strides, in
 * elements and one a dimension, say where an input's elements lie: 0 in a dimension that it does not have. */
typedef struct ingot_binary {
    ingot_binary_kind kind;
    int rank; /* at most INGOT_MAX_RANK */
    const size_t *dims;
    const float *a, *b;
    const ptrdiff_t *a_strides, *b_strides;
    float *y;         /* may be a (or b) where that is dense of the same shape */
    ingot_unary then; /* applied to the result */
} ingot_binary;

void ingot_binary_f32(const ingot_binary *op, int threads);

/* Strides of a dense tensor of shape from, seen as shape to (right-aligned, as ONNX broadcasts): 0 where it has 1 or
 * nothing. False where from does not broadcast to to. */
bool ingot_broadcast_strides(int from_rank, const size_t *from, int to_rank, const size_t *to, ptrdiff_t *strides);

/* y[o, c, i] = then(x[o, c, i] * scale[c] + shift[c]); scale or shift may be NULL (1 and 0). */
void ingot_channel_affine_f32(size_t outer, size_t channels, size_t inner, const float *x, const float *scale,
                              const float *shift, const ingot_unary *then, float *y, int threads);

#endif

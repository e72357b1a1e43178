/* Sizes as numbers or as expressions over symbols.
 *
 * An ingot_dim is a plain int64_t: a size, an element of a small integer tensor, or a reference to an expression of an
 * ingot_dims table. References lie at the very bottom of the range, where no size or index of a model can be. So a shape rule
 * is written once: with a table it works on symbols, with numbers alone it never touches the table and may get NULL. */
#ifndef INGOT_GRAPH_DIMS_H
#define INGOT_GRAPH_DIMS_H

#include "base/map.h"

typedef int64_t ingot_dim;

#define INGOT_DIM_REFERENCE_END (INT64_MIN + ((int64_t)1 << 32))
#define INGOT_DIM_UNKNOWN       (INGOT_DIM_REFERENCE_END - 1) /* nothing is known; the caller makes it a fresh symbol */

static inline bool ingot_dim_is_number(ingot_dim dim)
{
    return dim >= INGOT_DIM_REFERENCE_END;
}

typedef enum ingot_dim_kind {
    INGOT_DIM_SYMBOL, /* a free size of an input */
    INGOT_DIM_FRESH,  /* a size that only a run tells */
    INGOT_DIM_ADD,
    INGOT_DIM_SUB,
    INGOT_DIM_MUL,
    INGOT_DIM_FLOOR_DIV, /* rounds down; by zero: unknown */
    INGOT_DIM_CEIL_DIV,
    INGOT_DIM_MOD, /* with the sign of the divisor */
    INGOT_DIM_MIN,
    INGOT_DIM_MAX,
    INGOT_DIM_BROADCAST, /* one of two sizes that broadcast: the other one where one is 1 */
} ingot_dim_kind;

typedef struct ingot_dim_expression {
    ingot_dim_kind kind;
    ingot_dim a, b;   /* operands: created before this expression */
    const char *name; /* of a symbol */
} ingot_dim_expression;

typedef struct ingot_dims ingot_dims;

ingot_dims *ingot_dims_create(void); /* NULL: out of memory */
/* A table in which every reference of from means the same; NULL: out of memory. */
ingot_dims *ingot_dims_copy(const ingot_dims *from);
void ingot_dims_release(ingot_dims *dims);
size_t ingot_dims_count(const ingot_dims *dims);
const ingot_dim_expression *ingot_dims_expression(const ingot_dims *dims, ingot_dim reference);

/* The symbol of that name (one name, one symbol), and a new one without a name. On lack of memory: INGOT_DIM_UNKNOWN. */
ingot_dim ingot_dim_symbol(ingot_dims *dims, const char *name, size_t length);
ingot_dim ingot_dim_fresh(ingot_dims *dims);

/* Interned and simplified; equal results compare equal. With an unknown operand, an overflow, or no table where one is
 * needed, the result is INGOT_DIM_UNKNOWN. dims may be NULL. */
ingot_dim ingot_dim_make(ingot_dims *dims, ingot_dim_kind kind, ingot_dim a, ingot_dim b);

static inline ingot_dim ingot_dim_add(ingot_dims *dims, ingot_dim a, ingot_dim b)
{
    return ingot_dim_make(dims, INGOT_DIM_ADD, a, b);
}
static inline ingot_dim ingot_dim_sub(ingot_dims *dims, ingot_dim a, ingot_dim b)
{
    return ingot_dim_make(dims, INGOT_DIM_SUB, a, b);
}
static inline ingot_dim ingot_dim_mul(ingot_dims *dims, ingot_dim a, ingot_dim b)
{
    return ingot_dim_make(dims, INGOT_DIM_MUL, a, b);
}

/* "N", "2*N+1", "42" or "?": for people. Writes at most size bytes; returns text. */
const char *ingot_dim_describe(const ingot_dims *dims, ingot_dim dim, char *text, size_t size);

#endif

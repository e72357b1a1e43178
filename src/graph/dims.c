#include "graph/dims.h"

#include <stdio.h>
#include <string.h>

struct ingot_dims {
    ingot_dim_expression *expressions;
    size_t count, capacity;
    size_t *index; /* open addressing: expression number + 1, 0 free */
    size_t index_capacity;
    ingot_arena *arena; /* names */
};

static ingot_dim reference(size_t number)
{
    return INT64_MIN + (int64_t)number;
}

static size_t number_of(ingot_dim dim)
{
    return (size_t)((uint64_t)dim - (uint64_t)INT64_MIN); /* unsigned: dim may be a plain number */
}

ingot_dims *ingot_dims_create(void)
{
    ingot_dims *dims = ingot_calloc(1, sizeof *dims);
    if (!dims)
        return NULL;
    dims->arena = ingot_arena_create();
    if (!dims->arena) {
        ingot_free(dims);
        return NULL;
    }
    return dims;
}

void ingot_dims_release(ingot_dims *dims)
{
    if (!dims)
        return;
    ingot_free(dims->expressions);
    ingot_free(dims->index);
    ingot_arena_release(dims->arena);
    ingot_free(dims);
}

size_t ingot_dims_count(const ingot_dims *dims)
{
    return dims->count;
}

const ingot_dim_expression *ingot_dims_expression(const ingot_dims *dims, ingot_dim dim)
{
    size_t number = number_of(dim);
    return dims && !ingot_dim_is_number(dim) && number < dims->count ? &dims->expressions[number] : NULL;
}

static uint64_t hash_expression(const ingot_dim_expression *e)
{
    if (e->kind == INGOT_DIM_SYMBOL)
        return ingot_hash_bytes(e->name, strlen(e->name), 1);
    int64_t key[3] = {e->kind, e->a, e->b};
    return ingot_hash_bytes(key, sizeof key, 2);
}

static bool same_expression(const ingot_dim_expression *x, const ingot_dim_expression *y)
{
    if (x->kind != y->kind)
        return false;
    if (x->kind == INGOT_DIM_SYMBOL)
        return strcmp(x->name, y->name) == 0;
    return x->a == y->a && x->b == y->b;
}

static bool index_grow(ingot_dims *dims)
{
    if (dims->index_capacity / 2 > dims->count)
        return true;
    size_t capacity = dims->index_capacity ? dims->index_capacity * 2 : 64;
    size_t *index = ingot_calloc(capacity, sizeof *index);
    if (!index)
        return false;
    for (size_t i = 0; i < dims->count; i++) {
        size_t slot = hash_expression(&dims->expressions[i]) & (capacity - 1);
        while (index[slot])
            slot = (slot + 1) & (capacity - 1);
        index[slot] = i + 1;
    }
    ingot_free(dims->index);
    dims->index = index;
    dims->index_capacity = capacity;
    return true;
}

/* The number of the expression, added where it is new; INGOT_DIM_UNKNOWN without memory. */
static ingot_dim intern(ingot_dims *dims, const ingot_dim_expression *e)
{
    if (!index_grow(dims))
        return INGOT_DIM_UNKNOWN;
    size_t slot = hash_expression(e) & (dims->index_capacity - 1);
    while (dims->index[slot]) {
        if (e->kind != INGOT_DIM_FRESH && same_expression(&dims->expressions[dims->index[slot] - 1], e))
            return reference(dims->index[slot] - 1);
        slot = (slot + 1) & (dims->index_capacity - 1);
    }
    if (dims->count >= UINT32_MAX - 1 ||
        ingot_grow(&dims->expressions, &dims->capacity, dims->count + 1, sizeof *dims->expressions, NULL) != INGOT_OK)
        return INGOT_DIM_UNKNOWN;
    dims->expressions[dims->count] = *e;
    dims->index[slot] = dims->count + 1;
    return reference(dims->count++);
}

ingot_dims *ingot_dims_copy(const ingot_dims *from)
{
    ingot_dims *dims = ingot_dims_create();
    for (size_t i = 0; dims && i < from->count; i++) {
        ingot_dim_expression e = from->expressions[i];
        if (e.name)
            e.name = ingot_arena_strndup(dims->arena, e.name, strlen(e.name));
        if ((e.kind == INGOT_DIM_SYMBOL && !e.name) || intern(dims, &e) != reference(i)) {
            ingot_dims_release(dims);
            return NULL;
        }
    }
    return dims;
}

ingot_dim ingot_dim_symbol(ingot_dims *dims, const char *name, size_t length)
{
    char *copy = ingot_arena_strndup(dims->arena, name, length);
    if (!copy)
        return INGOT_DIM_UNKNOWN;
    return intern(dims, &(ingot_dim_expression){.kind = INGOT_DIM_SYMBOL, .name = copy});
}

ingot_dim ingot_dim_fresh(ingot_dims *dims)
{
    if (!dims)
        return INGOT_DIM_UNKNOWN;
    return intern(dims, &(ingot_dim_expression){.kind = INGOT_DIM_FRESH, .a = (ingot_dim)dims->count});
}

static int64_t floor_div(int64_t a, int64_t b)
{
    int64_t q = a / b;
    return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

/* The value of an operation on numbers; INGOT_DIM_UNKNOWN where it has none. */
static ingot_dim evaluate(ingot_dim_kind kind, int64_t a, int64_t b)
{
    int64_t result;
    bool divides = kind == INGOT_DIM_FLOOR_DIV || kind == INGOT_DIM_CEIL_DIV || kind == INGOT_DIM_MOD;
    if (divides && (b == 0 || b == -1)) {
        if (b == 0)
            return INGOT_DIM_UNKNOWN;
        return kind == INGOT_DIM_MOD ? 0 : ingot_mul_i64(a, -1, &result) ? result : INGOT_DIM_UNKNOWN;
    }
    switch (kind) {
    case INGOT_DIM_ADD:
        return ingot_add_i64(a, b, &result) && ingot_dim_is_number(result) ? result : INGOT_DIM_UNKNOWN;
    case INGOT_DIM_SUB:
        return ingot_mul_i64(b, -1, &result) && ingot_add_i64(a, result, &result) && ingot_dim_is_number(result)
                   ? result
                   : INGOT_DIM_UNKNOWN;
    case INGOT_DIM_MUL:
        return ingot_mul_i64(a, b, &result) && ingot_dim_is_number(result) ? result : INGOT_DIM_UNKNOWN;
    case INGOT_DIM_FLOOR_DIV:
        return floor_div(a, b);
    case INGOT_DIM_CEIL_DIV:
        return floor_div(a, b) + (a % b != 0);
    case INGOT_DIM_MOD:
        return a - floor_div(a, b) * b;
    case INGOT_DIM_MIN:
        return a < b ? a : b;
    case INGOT_DIM_MAX:
        return a > b ? a : b;
    case INGOT_DIM_BROADCAST:
        return a == b || b == 1 ? a : a == 1 ? b : INGOT_DIM_UNKNOWN;
    default:
        return INGOT_DIM_UNKNOWN;
    }
}

static bool commutes(ingot_dim_kind kind)
{
    return kind == INGOT_DIM_ADD || kind == INGOT_DIM_MUL || kind == INGOT_DIM_MIN || kind == INGOT_DIM_MAX ||
           kind == INGOT_DIM_BROADCAST;
}

/* Rules that need no new expression: true with *result where one applies. Operands are ordered: a number stands at b. */
static bool simplify(ingot_dims *dims, ingot_dim_kind kind, ingot_dim a, ingot_dim b, ingot_dim *result)
{
    const ingot_dim_expression *e = ingot_dims_expression(dims, a);
    bool divides = kind == INGOT_DIM_FLOOR_DIV || kind == INGOT_DIM_CEIL_DIV;
    if (b == 0 && (kind == INGOT_DIM_ADD || kind == INGOT_DIM_SUB))
        return *result = a, true;
    if (b == 1 && (kind == INGOT_DIM_MUL || kind == INGOT_DIM_BROADCAST || divides))
        return *result = a, true;
    if (b == 0 && kind == INGOT_DIM_MUL)
        return *result = 0, true;
    if (b == 1 && kind == INGOT_DIM_MOD)
        return *result = 0, true;
    if (kind == INGOT_DIM_BROADCAST && ingot_dim_is_number(b) && b != 1)
        return *result = b, true; /* the other one is 1 or the same: anything else fails at run time */
    if (a == b) {
        if (kind == INGOT_DIM_MIN || kind == INGOT_DIM_MAX || kind == INGOT_DIM_BROADCAST)
            return *result = a, true;
        if (kind == INGOT_DIM_SUB)
            return *result = 0, true;
    }
    if (!e || !ingot_dim_is_number(b))
        return false;
    if (kind == INGOT_DIM_SUB && b != INT64_MIN)
        return *result = ingot_dim_make(dims, INGOT_DIM_ADD, a, -b), true;
    if (kind == e->kind && (kind == INGOT_DIM_ADD || kind == INGOT_DIM_MUL) && ingot_dim_is_number(e->b))
        return *result = ingot_dim_make(dims, kind, e->a, evaluate(kind, e->b, b)), true;
    if (divides && e->kind == INGOT_DIM_MUL && ingot_dim_is_number(e->b) && e->b % b == 0)
        return *result = ingot_dim_make(dims, INGOT_DIM_MUL, e->a, e->b / b), true;
    if (kind == INGOT_DIM_MOD && e->kind == INGOT_DIM_MUL && ingot_dim_is_number(e->b) && e->b % b == 0)
        return *result = 0, true;
    return false;
}

ingot_dim ingot_dim_make(ingot_dims *dims, ingot_dim_kind kind, ingot_dim a, ingot_dim b)
{
    if (a == INGOT_DIM_UNKNOWN || b == INGOT_DIM_UNKNOWN)
        return INGOT_DIM_UNKNOWN;
    if (ingot_dim_is_number(a) && ingot_dim_is_number(b))
        return evaluate(kind, a, b);
    if (!dims)
        return INGOT_DIM_UNKNOWN;
    if (commutes(kind) && (ingot_dim_is_number(a) || (!ingot_dim_is_number(b) && a > b))) {
        ingot_dim swap = a;
        a = b;
        b = swap;
    }
    ingot_dim result;
    if (simplify(dims, kind, a, b, &result))
        return result;
    return intern(dims, &(ingot_dim_expression){.kind = kind, .a = a, .b = b});
}

/* Text that is cut where it is too long. */
typedef struct writer {
    char *text;
    size_t size, used;
} writer;

static void put(writer *w, const char *text)
{
    int n = snprintf(w->text + w->used, w->size - w->used, "%s", text);
    if (n > 0)
        w->used += (size_t)n < w->size - w->used ? (size_t)n : w->size - w->used - 1;
}

static void describe(const ingot_dims *dims, ingot_dim dim, writer *w, int depth)
{
    static const char *const operators[] = {[INGOT_DIM_ADD] = "+",
                                            [INGOT_DIM_SUB] = "-",
                                            [INGOT_DIM_MUL] = "*",
                                            [INGOT_DIM_FLOOR_DIV] = "//",
                                            [INGOT_DIM_MOD] = "%"};
    static const char *const functions[] = {[INGOT_DIM_CEIL_DIV] = "ceildiv",
                                            [INGOT_DIM_MIN] = "min",
                                            [INGOT_DIM_MAX] = "max",
                                            [INGOT_DIM_BROADCAST] = "broadcast"};
    char number[32];
    const ingot_dim_expression *e = ingot_dims_expression(dims, dim);
    if (ingot_dim_is_number(dim)) {
        snprintf(number, sizeof number, "%lld", (long long)dim);
        put(w, number);
    } else if (!e || e->kind == INGOT_DIM_FRESH || depth > 6) {
        put(w, "?");
    } else if (e->kind == INGOT_DIM_SYMBOL) {
        put(w, e->name);
    } else {
        bool function = e->kind < sizeof functions / sizeof *functions && functions[e->kind];
        bool group = !function && depth > 0;
        put(w, function ? functions[e->kind] : "");
        put(w, function || group ? "(" : "");
        describe(dims, e->a, w, depth + 1);
        put(w, function ? "," : operators[e->kind]);
        describe(dims, e->b, w, depth + 1);
        put(w, function || group ? ")" : "");
    }
}

const char *ingot_dim_describe(const ingot_dims *dims, ingot_dim dim, char *text, size_t size)
{
    if (size == 0)
        return "";
    writer w = {.text = text, .size = size};
    text[0] = '\0';
    describe(dims, dim, &w, 0);
    return text;
}

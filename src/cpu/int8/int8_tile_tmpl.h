/* The tile of an 8-bit product, for a file that has included cpu/int8/ints.h and defined what an element of A and a vector of B are
 * made ready as (ready_a, ready_b: make_ready_a, load_ready_a, make_ready_b, i_dot), MAX_ROWS, VECTORS, TILES(X) with an
 * X(rows, vectors) for each shape, and KERNEL(part). Each shape is its own function, made by inlining tile() with constant sizes, so
 * that the sums stay in registers: tests/check_kernel_loops.py looks for stores to the stack in the loops. No header of its own. */
#define INLINE     static inline __attribute__((always_inline))
#define POINTERS   ((MAX_ROWS + 2) / 3)
#define QUAD_BYTES (INGOT_INT8_PANEL * 4)

/* Sums of a tile's part on their way out. */
typedef struct sums {
    _Alignas(64) int32_t at[MAX_ROWS][VECTORS * LANES];
} sums;

/* Calls STORE(index of the element in C, its column, vector of sums, lanes) for all of the part; whole: all vectors have all their
 * lanes. Of the tile a copy is read, which the stores cannot change. */
#define FOR_EACH_VECTOR(STORE)                                                              \
    const ingot_int8_tile t = *tile;                                                        \
    for (size_t i = 0; i < t.rows; i++) {                                                   \
        _Pragma("GCC unroll 4") for (size_t v = 0; v < vectors; v++)                        \
        {                                                                                   \
            size_t column = first + v * LANES, rest = t.columns - column;                   \
            ints sum = i_load(&s->at[i][v * LANES]);                                        \
            if (t.row_sums)                                                                 \
                sum = i_sub(sum, i_mul(i_set(t.row_sums[i]), i_load(t.b_zero + column)));   \
            STORE(i *t.c_row + column, column, sum, whole || rest >= LANES ? LANES : rest); \
        }                                                                                   \
    }

INLINE void store_sums(const ingot_int8_tile *tile, size_t first, size_t vectors, const bool whole, const sums *s){
#define STORE(at, column, sum, count) i_store_part((int32_t *)t.c + (at), sum, count)
    FOR_EACH_VECTOR(STORE)
#undef STORE
}

INLINE void store_floats(const ingot_int8_tile *tile, size_t first, size_t vectors, const bool whole, const sums *s)
{
#define STORE(at, column, sum, count)                                 \
    vec value = v_mul(i_to_float(sum), v_load(t.scale + (column)));   \
    value = t.bias ? v_add(value, v_load(t.bias + (column))) : value; \
    if ((count) == LANES)                                             \
        v_store((float *)t.c + (at), value);                          \
    else                                                              \
        v_store_part((float *)t.c + (at), value, count)
    FOR_EACH_VECTOR(STORE)
#undef STORE
}

INLINE void store_bytes(const ingot_int8_tile *tile, size_t first, size_t vectors, const bool whole, const sums *s)
{
    const vec low = v_set(tile->low), high = v_set(tile->high);
    const ints zero = i_set(tile->zero);
#define STORE(at, column, sum, count)                                                        \
    vec value = v_min(v_max(v_mul(i_to_float(sum), v_load(t.scale + (column))), low), high); \
    i_store_bytes((uint8_t *)t.c + (at), i_add(i_from_float(value), zero), count)
    FOR_EACH_VECTOR(STORE)
#undef STORE
}

typedef void (*finish_function)(const ingot_int8_tile *tile, size_t first, size_t vectors, const sums *s);

#define FINISH_FUNCTION(kind)                                                                           \
    static void finish_##kind(const ingot_int8_tile *tile, size_t first, size_t vectors, const sums *s) \
    {                                                                                                   \
        if (tile->columns - first >= VECTORS * LANES && !tile->row_sums)                                \
            store_##kind(tile, first, VECTORS, true, s);                                                \
        else                                                                                            \
            store_##kind(tile, first, vectors, false, s);                                               \
    }
FINISH_FUNCTION(sums)
FINISH_FUNCTION(floats)
FINISH_FUNCTION(bytes)

static const finish_function finish[] = {
    [INGOT_INT8_SUMS] = finish_sums, [INGOT_INT8_FLOATS] = finish_floats, [INGOT_INT8_BYTES] = finish_bytes};

/* Columns first, first + 1, ... of the tile, at most vectors * LANES. */
INLINE void tile(const ingot_int8_tile *t, size_t first, sums *s, const int rows, const int vectors)
{
    ints sum[MAX_ROWS][VECTORS];
    const int8_t *b = t->b + first * 4;
    const ptrdiff_t a_row = t->a_row;
    const char *prefetch = t->prefetch;
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) {
        ints start = i_load(t->start + first + (size_t)v * LANES);
#pragma GCC unroll 14
        for (int i = 0; i < rows; i++)
            sum[i][v] = start;
    }
    for (size_t run = 0; run < t->runs; run++) {
        const uint8_t *a[POINTERS]; /* every third row: the others are one and two steps further */
#pragma GCC unroll 5
        for (int p = 0; p < (rows + 2) / 3; p++)
            a[p] = t->a + t->a_runs[run] + 3 * p * a_row;
        for (size_t quad = t->quads; quad > 0; quad--) {
            ready_b columns[VECTORS];
#pragma GCC unroll 4
            for (int v = 0; v < vectors; v++)
                columns[v] = make_ready_b(b + (size_t)v * LANES * 4);
            v_prefetch_far(prefetch);
#pragma GCC unroll 14
            for (int i = 0; i < rows; i++) {
                ready_a row = make_ready_a(a[i / 3] + i % 3 * a_row);
#pragma GCC unroll 4
                for (int v = 0; v < vectors; v++)
                    sum[i][v] = i_dot(sum[i][v], row, columns[v]);
            }
#pragma GCC unroll 5
            for (int p = 0; p < (rows + 2) / 3; p++)
                a[p] += 4;
            b += QUAD_BYTES;
            prefetch += t->prefetch_step;
        }
    }
#pragma GCC unroll 14
    for (int i = 0; i < rows; i++) {
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++)
            i_store(&s->at[i][v * LANES], sum[i][v]);
    }
}

#define TILE_FUNCTION(rows, vectors)                                                     \
    static void tile_##rows##x##vectors(const ingot_int8_tile *t, size_t first, sums *s) \
    {                                                                                    \
        tile(t, first, s, rows, vectors);                                                \
    }
TILES(TILE_FUNCTION)

typedef void (*part_function)(const ingot_int8_tile *t, size_t first, sums *s);

static const part_function functions[MAX_ROWS + 1][VECTORS + 1] = {
#define TILE_ENTRY(rows, vectors) [rows][vectors] = tile_##rows##x##vectors,
    TILES(TILE_ENTRY)};

void KERNEL(tile)(const ingot_int8_tile *t)
{
    sums s;
    for (size_t first = 0; first < t->columns; first += VECTORS * LANES) {
        size_t vectors = (t->columns - first + LANES - 1) / LANES;
        vectors = vectors < VECTORS ? vectors : VECTORS;
        functions[t->rows][vectors](t, first, &s);
        finish[t->output](t, first, vectors, &s);
    }
}

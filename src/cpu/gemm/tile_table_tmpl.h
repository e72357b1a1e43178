/* The functions of a kernel's tiles and their look-up, for a file that has defined LANES, MAX_ROWS, MAX_VECTORS, TILES(X) with an
 * X(rows, vectors) for each shape, and tile(t, rows, vectors, whole) or a RUN_TILE(t, rows, vectors) of its own. No header. */
#ifndef RUN_TILE
/* Whole vectors or not is known before the loops, not in them. */
#define RUN_TILE(t, rows, vectors)           \
    do {                                     \
        if ((t)->columns == (vectors)*LANES) \
            tile(t, rows, vectors, true);    \
        else                                 \
            tile(t, rows, vectors, false);   \
    } while (0)
#endif

#define TILE_FUNCTION(rows, vectors)                              \
    static void tile_##rows##x##vectors(const ingot_gemm_tile *t) \
    {                                                             \
        RUN_TILE(t, rows, vectors);                               \
    }
TILES(TILE_FUNCTION)

static const ingot_gemm_tile_function functions[MAX_ROWS + 1][MAX_VECTORS + 1] = {
#define TILE_ENTRY(rows, vectors) [rows][vectors] = tile_##rows##x##vectors,
    TILES(TILE_ENTRY)};

static void run_tile(const ingot_gemm_tile *t)
{
    functions[t->rows][(t->columns + LANES - 1) / LANES](t);
}

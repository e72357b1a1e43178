/* Splits an 8-bit product over tiles and threads. */
#include "cpu/int8/product.h"

#include <string.h>

#include "base/threads.h"

/* Multiplications and additions of a chunk: some microseconds. */
#define CHUNK_WORK ((size_t)3 << 20)
/* Bytes of A that a chunk goes over again for each panel of B. */
#define CHUNK_A_BYTES ((size_t)512 << 10)
#define PANEL         INGOT_INT8_PANEL
#define QUAD_BYTES    (PANEL * 4)

/* Lines of places are cut into tiles; a chunk is some of them by some panels. Bounds come from the shape alone. */
typedef struct product_task {
    const ingot_int8_product *p;
    const ingot_int8_kernel *kernel;
    size_t quads, panels, panel_bytes;
    size_t line_tiles;           /* of one line of places */
    size_t tiles, tiles_at_once; /* of one image and group, and of a chunk */
    size_t panels_at_once, column_chunks, row_chunks;
} product_task;

static size_t ceil_div(size_t a, size_t b)
{
    return (a + b - 1) / b;
}

static size_t split(size_t count, size_t parts, size_t i)
{
    size_t each = count / parts, rest = count % parts;
    return i * each + (i < rest ? i : rest);
}

static size_t at_least_one(size_t x)
{
    return x > 0 ? x : 1;
}

static product_task plan(const ingot_int8_product *p)
{
    product_task t = {.p = p, .kernel = p->kernel ? p->kernel : ingot_int8_kernel_best()};
    t.quads = ceil_div(p->run_bytes, 4);
    t.panels = ceil_div(p->columns, PANEL);
    t.panel_bytes = p->runs * t.quads * PANEL * 4;
    t.line_tiles = ceil_div(p->width, t.kernel->rows);
    t.tiles = t.line_tiles * p->height;
    size_t depth = at_least_one(p->runs * p->run_bytes), tile_work = t.kernel->rows * depth * PANEL;
    t.tiles_at_once = at_least_one(CHUNK_A_BYTES / (t.kernel->rows * depth));
    size_t enough = ceil_div(CHUNK_WORK, tile_work * t.panels); /* tiles by all panels */
    t.panels_at_once = t.panels;
    if (enough < t.tiles_at_once)
        t.tiles_at_once = enough;
    if (t.tiles <= 2 * t.tiles_at_once) { /* few rows: the columns are split */
        t.tiles_at_once = t.tiles;
        t.panels_at_once = at_least_one(CHUNK_WORK / (tile_work * t.tiles));
        t.panels_at_once = t.panels_at_once < t.panels ? t.panels_at_once : t.panels;
    }
    t.row_chunks = ceil_div(t.tiles, t.tiles_at_once);
    t.column_chunks = ceil_div(t.panels, t.panels_at_once);
    return t;
}

/* What all tiles of a matrix and panel have in common. */
static ingot_int8_tile begin_tile(const product_task *t, size_t matrix, size_t panel)
{
    const ingot_int8_product *p = t->p;
    char *memory = (char *)(uintptr_t)p->terms + matrix * ingot_int8_columns_size(p->columns);
    ingot_int8_columns columns = ingot_int8_columns_in(memory, p->columns);
    size_t first = panel * PANEL;
    ingot_int8_tile tile = {.columns = p->columns - first < PANEL ? p->columns - first : PANEL,
                            .runs = p->runs,
                            .quads = t->quads,
                            .a_row = p->a_place,
                            .a_runs = p->a_runs,
                            .b = p->b + matrix * p->b_matrix + panel * t->panel_bytes,
                            .prefetch = (const char *)p->b + matrix * p->b_matrix + (panel + 1) * t->panel_bytes,
                            .start = columns.start + first,
                            .b_zero = columns.b_zero + first,
                            .output = p->output,
                            .scale = columns.scale + first,
                            .bias = p->biased ? columns.bias + first : NULL,
                            .low = (float)((p->element == INGOT_INT8 ? INT8_MIN : 0) - p->zero),
                            .high = (float)((p->element == INGOT_INT8 ? INT8_MAX : UINT8_MAX) - p->zero),
                            .zero = p->zero,
                            .c_row = p->c_place};
    return tile;
}

static void run_chunk(void *argument, size_t chunk, int participant)
{
    const product_task *t = argument;
    const ingot_int8_product *p = t->p;
    size_t element_size = p->output == INGOT_INT8_BYTES ? 1 : 4;
    size_t column_chunk = chunk % t->column_chunks, row_chunk = chunk / t->column_chunks % t->row_chunks;
    size_t part = chunk / t->column_chunks / t->row_chunks, image = part / p->groups, group = part % p->groups;
    size_t panel_end = (column_chunk + 1) * t->panels_at_once, tile_end = (row_chunk + 1) * t->tiles_at_once;
    panel_end = panel_end < t->panels ? panel_end : t->panels;
    tile_end = tile_end < t->tiles ? tile_end : t->tiles;
    const uint8_t *a = p->a + (ptrdiff_t)image * p->a_image + (ptrdiff_t)group * p->a_group;
    for (size_t panel = column_chunk * t->panels_at_once; panel < panel_end; panel++) {
        ingot_int8_tile tile = begin_tile(t, image * p->image_matrices + group * p->group_matrices, panel);
        size_t c = image * p->c_image + group * p->c_group + panel * PANEL;
        size_t tiles = tile_end - row_chunk * t->tiles_at_once, share = t->panel_bytes / tiles;
        tile.prefetch_step = (QUAD_BYTES + tiles - 1) / tiles;
        for (size_t i = row_chunk * t->tiles_at_once; i < tile_end; i++, tile.prefetch += share) {
            size_t line = i / t->line_tiles, first = split(p->width, t->line_tiles, i % t->line_tiles);
            tile.rows = split(p->width, t->line_tiles, i % t->line_tiles + 1) - first;
            tile.a = a + (ptrdiff_t)line * p->a_line + (ptrdiff_t)first * p->a_place;
            tile.c = (char *)p->c + (c + line * p->c_line + first * p->c_place) * element_size;
            if (p->row_sums)
                tile.row_sums = p->row_sums + (part * p->height + line) * p->width + first;
            t->kernel->tile(&tile);
        }
    }
}

/* ---- Sums of A's rows ---- */

static void sum_line(void *argument, size_t chunk, int participant)
{
    const product_task *t = argument;
    const ingot_int8_product *p = t->p;
    size_t line = chunk % p->height, part = chunk / p->height;
    const uint8_t *a = p->a + (ptrdiff_t)(part / p->groups) * p->a_image + (ptrdiff_t)(part % p->groups) * p->a_group +
                       (ptrdiff_t)line * p->a_line;
    for (size_t place = 0; place < p->width; place++, a += p->a_place) {
        uint32_t sum = 0;
        for (size_t run = 0; run < p->runs; run++)
            for (size_t i = 0; i < p->run_bytes; i++)
                sum += a[p->a_runs[run] + (ptrdiff_t)i];
        p->row_sums[chunk * p->width + place] = (int32_t)sum;
    }
}

void ingot_int8_multiply(const ingot_int8_product *p, int threads)
{
    product_task t = plan(p);
    size_t parts = p->images * p->groups;
    if (parts == 0 || t.tiles == 0 || t.panels == 0)
        return;
    if (p->row_sums)
        ingot_parallel(threads, parts * p->height, sum_line, &t);
    ingot_parallel(threads, parts * t.row_chunks * t.column_chunks, run_chunk, &t);
}

/* ---- Copies of A ---- */

#define STAGE_BYTES ((size_t)64 << 10) /* of a chunk */

typedef struct stage_task {
    const uint8_t *x;
    uint8_t *y;
    bool is_signed;
    size_t rows, rows_at_once, bytes, stride;
} stage_task;

static void stage_chunk(void *argument, size_t chunk, int participant)
{
    const stage_task *t = argument;
    size_t end = (chunk + 1) * t->rows_at_once;
    for (size_t row = chunk * t->rows_at_once; row < (end < t->rows ? end : t->rows); row++) {
        const uint8_t *x = t->x + row * t->bytes;
        uint8_t *y = t->y + row * t->stride;
        if (t->is_signed)
            ingot_int8_turn_signs(x, y, t->bytes);
        else
            memcpy(y, x, t->bytes);
    }
}

void ingot_int8_stage_rows(const void *x, bool is_signed, size_t rows, size_t bytes, uint8_t *y, size_t stride,
                           int threads)
{
    stage_task t = {.x = x, .y = y, .is_signed = is_signed, .rows = rows, .bytes = bytes, .stride = stride};
    t.rows_at_once = at_least_one(STAGE_BYTES / at_least_one(bytes));
    ingot_parallel(threads, ceil_div(rows, t.rows_at_once), stage_chunk, &t);
}

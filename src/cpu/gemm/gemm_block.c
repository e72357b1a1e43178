#include "cpu/gemm/gemm_block.h"

#include <math.h>

#include "cpu/eltwise/vec_table.h"

#define CACHE_LINE 64
/* Rows of B that are packed for all panels before the next ones, and columns of an A whose rows lie side by side. */
#define PACK_STEPS 8
/* Bytes of A's K block that stay in the L2 cache while B's panels pass. */
#define A_BLOCK_BYTES (384u << 10)
/* Work of a chunk in microseconds, from rough speeds: fewer chunks balance badly, more cost hand-outs. */
#define CHUNK_TIME                    20.0
#define MULTIPLY_ADDS_PER_MICROSECOND 130e3
#define B_BYTES_PER_MICROSECOND       30e3
#define FILL_CHUNKS                   16 /* of columns, at least, where there are so many panels */

void ingot_gemm_f32_pack_a(const ingot_gemm_kernel *kernel, size_t m, size_t k, const float *a, ptrdiff_t row,
                           ptrdiff_t column, size_t first, size_t end, float *packed)
{
    size_t tiles = ingot_gemm_row_tiles(kernel, m), at_once = row == 1 ? PACK_STEPS : k;
    for (size_t step = 0; step < k; step += at_once) {
        for (size_t tile = first; tile < end; tile++) {
            size_t start = ingot_part_begin(m, tiles, tile), rows = ingot_part_begin(m, tiles, tile + 1) - start;
            ingot_gemm_pack pack = {.lanes = rows, .width = rows, .step_stride = column, .lane_stride = row};
            pack.steps = k - step < at_once ? k - step : at_once;
            pack.from = a + (ptrdiff_t)start * row + (ptrdiff_t)step * column;
            pack.to = packed + start * k + step * rows;
            kernel->pack(&pack);
        }
    }
}

void ingot_gemm_f32_pack_panels(const ingot_gemm_kernel *kernel, const float *b, ptrdiff_t row, ptrdiff_t column,
                                size_t steps, size_t columns, float *to)
{
    /* Few rows at a time, for all panels: memory is then read along the rows. */
    size_t width = kernel->columns, at_once = column == 1 ? PACK_STEPS : steps;
    for (size_t step = 0; step < steps; step += at_once) {
        for (size_t first = 0; first < columns; first += width) {
            ingot_gemm_pack pack = {.width = width, .step_stride = row, .lane_stride = column};
            pack.steps = steps - step < at_once ? steps - step : at_once;
            pack.lanes = columns - first < width ? columns - first : width;
            pack.from = b + (ptrdiff_t)step * row + (ptrdiff_t)first * column;
            pack.to = to + first * steps + step * width;
            kernel->pack(&pack);
        }
    }
}

size_t ingot_gemm_f32_fill_scratch(const ingot_gemm_kernel *kernel, size_t n, size_t k)
{
    size_t panels = ingot_ceil_div(n, kernel->columns);
    if (panels > INGOT_GEMM_FILL_PANELS)
        panels = INGOT_GEMM_FILL_PANELS;
    return panels * kernel->columns * (k < INGOT_GEMM_K_BLOCK ? k : INGOT_GEMM_K_BLOCK);
}

typedef struct block_state {
    const ingot_gemm_plan *plan;
    size_t k0, steps, tiles, packed_b_k;
    bool final; /* the plan's last block of K */
    ingot_gemm_tile tile;
    /* What of the epilogue follows the tiles, for activations that are too long for a tile's registers. */
    ingot_vec_unary_function activate;  /* or NULL */
    ingot_vec_binary_function add;      /* or NULL */
    bool empty[INGOT_GEMM_FILL_PANELS]; /* filled panels that add nothing in this block of K */
} block_state;

/* A tile's fields that do not change, and what of the epilogue follows it. */
static void start_epilogue(block_state *s)
{
    const ingot_epilogue *epilogue = &s->plan->epilogue;
    const ingot_unary *activation = &epilogue->activation;
    const ingot_vec_table *table = ingot_vec_table_best();
    ingot_gemm_tile *t = &s->tile;
    t->scale = epilogue->scaled ? epilogue->scale : 1.0f;
    t->add_row = epilogue->add_row;
    t->low = -INFINITY;
    t->high = INFINITY;
    if (activation->kind == INGOT_UNARY_RELU || activation->kind == INGOT_UNARY_CLIP) {
        bool clip = activation->kind == INGOT_UNARY_CLIP;
        t->low = clip ? activation->a : 0.0f;
        t->high = clip ? activation->b : INFINITY;
    } else if (activation->kind != INGOT_UNARY_IDENTITY) {
        s->activate = table->unary[activation->kind];
    }
    if (epilogue->add && epilogue->add_last)
        s->add = table->binary[INGOT_BINARY_ADD][INGOT_VEC_BOTH];
}

static size_t rows_of_tile(const block_state *s, size_t tile)
{
    return ingot_part_begin(s->plan->m, s->tiles, tile + 1) - ingot_part_begin(s->plan->m, s->tiles, tile);
}

/* The rest of the epilogue, of the rows of a tile. */
static void finish_rows(const block_state *s, size_t row_tile, size_t column, size_t columns)
{
    if (!s->activate && !s->add)
        return;
    const ingot_gemm_plan *plan = s->plan;
    const ingot_epilogue *epilogue = &plan->epilogue;
    size_t row = ingot_part_begin(plan->m, s->tiles, row_tile), rows = rows_of_tile(s, row_tile);
    if (columns == plan->c_row &&
        columns == epilogue->add_row) { /* they lie side by side: short rows cost more to call */
        columns *= rows;
        rows = 1;
    }
    for (size_t end = row + rows; row < end; row++) {
        float *c = plan->c + row * plan->c_row + column;
        if (s->activate)
            s->activate(c, c, columns, epilogue->activation.a, epilogue->activation.b);
        if (s->add)
            s->add(c, epilogue->add + row * epilogue->add_row + column, c, columns);
    }
}

/* One tile: rows of row tile row_tile, columns from column on. Its b, b_step, b_panel and prefetch are set. */
static void run_tile(block_state *s, size_t row_tile, size_t column, size_t columns)
{
    const ingot_gemm_plan *plan = s->plan;
    ingot_gemm_tile *t = &s->tile;
    size_t row = ingot_part_begin(plan->m, s->tiles, row_tile);
    t->rows = ingot_part_begin(plan->m, s->tiles, row_tile + 1) - row;
    t->columns = columns;
    t->a = plan->packed_a + row * plan->k + s->k0 * t->rows;
    t->c = plan->c + row * plan->c_row + column;
    if (t->last) {
        const ingot_epilogue *e = &plan->epilogue;
        t->row_bias = e->row_bias ? e->row_bias + row : NULL;
        t->column_bias = e->column_bias ? e->column_bias + column : NULL;
        t->add = e->add && !e->add_last ? e->add + row * e->add_row + column : NULL;
    }
    plan->kernel->tile(t);
}

/* A tile's epilogue for one element of a strip, operation by operation the same. */
static float finish_element(const ingot_gemm_tile *t, const ingot_epilogue *e, size_t row, size_t column, float value)
{
    if (t->scale != 1.0f)
        value *= t->scale;
    if (e->row_bias)
        value += e->row_bias[row];
    if (e->column_bias)
        value += e->column_bias[column];
    if (e->add && !e->add_last)
        value += e->add[row * e->add_row + column];
    value = t->low > value ? t->low : value;
    return t->high < value ? t->high : value;
}

static void store_strip(const block_state *s, const ingot_gemm_strip *strip, size_t tile, size_t count, size_t column)
{
    const ingot_gemm_plan *plan = s->plan;
    for (size_t i = 0; i < count; i++) {
        size_t start = ingot_part_begin(plan->m, s->tiles, tile + i);
        for (size_t j = 0; j < strip->rows[i]; j++) {
            float *c = plan->c + (start + j) * plan->c_row + column;
            for (size_t n = 0; n < strip->columns; n++) {
                float value = s->tile.accumulate ? c[n] + strip->sums[i][n][j] : strip->sums[i][n][j];
                c[n] = s->tile.last ? finish_element(&s->tile, &plan->epilogue, start + j, column + n, value) : value;
            }
        }
    }
}

/* The last columns of row tiles first ... end - 1, some at a time. b: the strip's first column. */
static void run_strip(const block_state *s, size_t first, size_t end, const float *b, size_t columns)
{
    const ingot_gemm_plan *plan = s->plan;
    ingot_gemm_strip strip = {.columns = columns, .k = s->steps, .b = b, .b_step = s->tile.b_step};
    for (size_t tile = first; tile < end; tile += INGOT_GEMM_STRIP_TILES) {
        size_t count = end - tile < INGOT_GEMM_STRIP_TILES ? end - tile : INGOT_GEMM_STRIP_TILES;
        for (size_t i = 0; i < INGOT_GEMM_STRIP_TILES; i++) {
            size_t used = i < count ? tile + i : tile;
            strip.rows[i] = rows_of_tile(s, used);
            strip.a[i] = plan->packed_a + ingot_part_begin(plan->m, s->tiles, used) * plan->k + s->k0 * strip.rows[i];
        }
        plan->kernel->strip(&strip);
        store_strip(s, &strip, tile, count, plan->n - columns);
    }
}

/* Columns at the end of the product that are left to a strip, if range has its end: a vector would be mostly empty. */
static size_t strip_columns(const block_state *s, const ingot_gemm_range *range)
{
    const ingot_gemm_plan *plan = s->plan;
    size_t rest = plan->n % plan->kernel->strip_lanes;
    bool here = range->end_panel * plan->kernel->columns >= plan->n;
    return here && plan->m >= plan->kernel->rows && rest <= INGOT_GEMM_STRIP_COLUMNS &&
                   2 * rest < plan->kernel->strip_lanes
               ? rest
               : 0;
}

/* Where the A that follows row tile's lies: the next tile's, or the first one's in the next block of K. */
static const char *next_a(const block_state *s, const ingot_gemm_range *range, size_t tile)
{
    const ingot_gemm_plan *plan = s->plan;
    bool more = tile + 1 < range->end_tile;
    size_t next = more ? tile + 1 : range->first_tile, k = more ? s->k0 : s->k0 + s->steps;
    return (const char *)(plan->packed_a + ingot_part_begin(plan->m, s->tiles, next) * plan->k +
                          k * rows_of_tile(s, next));
}

/* The same for packed panels of B: the next panel's, the first one's in the next block of K, or the next range's. */
static const char *next_b(const block_state *s, const ingot_gemm_range *range, size_t end)
{
    const ingot_gemm_plan *plan = s->plan;
    size_t width = plan->kernel->columns, panel = end, k = s->k0;
    if (end == range->end_panel) {
        k = s->final ? 0 : s->k0 + s->steps;
        panel = s->final ? end : range->first_panel;
    }
    bool there = panel * width < plan->n;
    return (const char *)(there ? plan->packed_b + (panel * s->packed_b_k + k) * width : s->tile.b);
}

/* B is packed: a panel of it stays in L1 while the tiles of A pass; the next one is fetched meanwhile. */
static void run_packed_b(block_state *s, const ingot_gemm_range *range)
{
    const ingot_gemm_plan *plan = s->plan;
    size_t width = plan->kernel->columns;
    ingot_gemm_tile *t = &s->tile;
    t->b_step = width;
    t->b_panel = width * s->packed_b_k;
    size_t at_once = ingot_gemm_panels_at_once(rows_of_tile(s, range->first_tile)), tail = strip_columns(s, range);
    for (size_t panel = range->first_panel; panel < range->end_panel; panel += at_once) {
        size_t column = panel * width, end = (panel + at_once < range->end_panel ? panel + at_once : range->end_panel);
        size_t columns = (end * width < plan->n ? end * width : plan->n) - column;
        size_t strip = end == range->end_panel ? tail : 0;
        t->b = plan->packed_b + panel * t->b_panel + s->k0 * width;
        bool new_a = panel == range->first_panel && plan->far_a;
        const char *next = next_b(s, range, end);
        /* Each tile fetches its part: at once they would hold up what comes from the L2 cache. */
        size_t tiles = range->end_tile - range->first_tile;
        size_t part = plan->far_a ? 0 : ingot_ceil_div(width * sizeof(float) * s->steps, tiles);
        t->prefetch_step = s->steps > 0 && !new_a ? ingot_ceil_div(part, s->steps) : CACHE_LINE;
        t->prefetch_step = t->prefetch_step < CACHE_LINE ? t->prefetch_step : CACHE_LINE;
        if (strip > 0)
            run_strip(s, range->first_tile, range->end_tile, t->b + columns - strip, strip);
        for (size_t i = range->first_tile; i < range->end_tile; i++) {
            t->prefetch = new_a      ? next_a(s, range, i)
                          : part > 0 ? next + (i - range->first_tile) * part
                                     : (const char *)t->b;
            if (columns > strip)
                run_tile(s, i, column, columns - strip);
            if (t->last)
                finish_rows(s, i, column, columns);
        }
    }
}

/* One tile of rows with all panels, up to column n. b: the first panel. */
static void run_tile_row(block_state *s, const ingot_gemm_range *range, size_t row_tile, size_t n, const float *b)
{
    const ingot_gemm_plan *plan = s->plan;
    size_t width = plan->kernel->columns, at_once = ingot_gemm_panels_at_once(rows_of_tile(s, row_tile));
    ingot_gemm_tile *t = &s->tile;
    t->prefetch_step = CACHE_LINE;
    for (size_t panel = range->first_panel; panel < range->end_panel && panel * width < n; panel += at_once) {
        size_t column = panel * width;
        size_t end = (panel + at_once < range->end_panel ? panel + at_once : range->end_panel);
        size_t columns = (end * width < n ? end * width : n) - column;
        if (plan->empty && s->empty[panel - range->first_panel])
            continue;
        t->b = b + (panel - range->first_panel) * t->b_panel;
        t->prefetch = panel == range->first_panel ? next_a(s, range, row_tile) : (const char *)t->b;
        run_tile(s, row_tile, column, columns);
    }
}

/* A tile of A stays in L1 while the panels of B, at most INGOT_GEMM_FILL_PANELS, pass; a strip follows while its tiles are still
 * near. */
static void run_tiles(block_state *s, const ingot_gemm_range *range, const float *b)
{
    const ingot_gemm_plan *plan = s->plan;
    size_t width = plan->kernel->columns, n = plan->n - strip_columns(s, range);
    for (size_t first = range->first_tile; first < range->end_tile; first += INGOT_GEMM_STRIP_TILES) {
        size_t end =
            first + INGOT_GEMM_STRIP_TILES < range->end_tile ? first + INGOT_GEMM_STRIP_TILES : range->end_tile;
        for (size_t i = first; i < end; i++)
            run_tile_row(s, range, i, n, b);
        if (n < plan->n)
            run_strip(s, first, end, b + (n / width - range->first_panel) * s->tile.b_panel + n % width, plan->n - n);
        if (!s->tile.last)
            continue;
        for (size_t i = first; i < end; i++) {
            size_t column = range->first_panel * width, past = range->end_panel * width;
            finish_rows(s, i, column, (past < plan->n ? past : plan->n) - column);
        }
    }
}

static void run_kept_b(block_state *s, const ingot_gemm_range *range)
{
    const ingot_gemm_plan *plan = s->plan;
    size_t width = plan->kernel->columns;
    s->tile.b_step = width;
    s->tile.b_panel = width * s->packed_b_k;
    run_tiles(s, range, plan->packed_b + range->first_panel * s->tile.b_panel + s->k0 * width);
}

/* Zeros need not be added, but in the first and the last block, which begin and finish the sums, and where panels go
 * together with others. */
static void find_empty(block_state *s, const ingot_gemm_range *range)
{
    const ingot_gemm_plan *plan = s->plan;
    size_t width = plan->kernel->columns;
    bool may = s->tile.accumulate && !s->tile.last && plan->m > 2 && strip_columns(s, range) == 0;
    for (size_t panel = range->first_panel; panel < range->end_panel; panel++) {
        size_t column = panel * width, columns = plan->n - column < width ? plan->n - column : width;
        s->empty[panel - range->first_panel] = may && plan->empty(plan->fill_context, s->k0, s->steps, column, columns);
    }
}

static void fill_panels(block_state *s, const ingot_gemm_range *range, float *scratch)
{
    const ingot_gemm_plan *plan = s->plan;
    size_t width = plan->kernel->columns;
    if (plan->empty)
        find_empty(s, range);
    for (size_t panel = range->first_panel; panel < range->end_panel;) {
        size_t end = plan->empty ? panel + 1 : range->end_panel, column = panel * width;
        size_t columns = (end * width < plan->n ? end * width : plan->n) - column;
        if (!plan->empty || !s->empty[panel - range->first_panel])
            plan->fill(plan->fill_context, s->k0, s->steps, column, columns,
                       scratch + (panel - range->first_panel) * width * s->steps);
        panel = end;
    }
}

static void run_other_b(block_state *s, const ingot_gemm_range *range, float *scratch)
{
    const ingot_gemm_plan *plan = s->plan;
    size_t width = plan->kernel->columns;
    ingot_gemm_tile *t = &s->tile;
    if (plan->fill) {
        fill_panels(s, range, scratch);
        t->b_step = width;
        t->b_panel = width * s->steps;
        run_tiles(s, range, scratch);
    } else {
        t->b_step = plan->direct_b_row;
        t->b_panel = width;
        run_tiles(s, range, plan->direct_b + s->k0 * plan->direct_b_row + range->first_panel * width);
    }
}

void ingot_gemm_f32_block(const ingot_gemm_plan *plan, const ingot_gemm_range *range, float *scratch)
{
    block_state s = {.plan = plan, .tiles = ingot_gemm_row_tiles(plan->kernel, plan->m)};
    start_epilogue(&s);
    s.tile.c_row = plan->c_row;
    s.packed_b_k = plan->packed_b_k > 0 ? plan->packed_b_k : plan->k;
    size_t group = plan->packed_b ? range->end_panel - range->first_panel : INGOT_GEMM_FILL_PANELS;
    size_t unit = plan->k_unit > 0 ? plan->k_unit : plan->k, each = ingot_gemm_k_blocks(unit);
    size_t blocks = plan->k_unit > 0 ? plan->k / unit * each : each;
    for (size_t panel = range->first_panel; panel < range->end_panel; panel += group) {
        ingot_gemm_range part = *range;
        part.first_panel = panel;
        part.end_panel = panel + group < range->end_panel ? panel + group : range->end_panel;
        for (size_t block = 0; block < blocks; block++) {
            size_t begin = ingot_part_begin(unit, each, block % each);
            s.k0 = block / each * unit + begin;
            s.steps = ingot_part_begin(unit, each, block % each + 1) - begin;
            s.tile.k = s.steps;
            s.tile.accumulate = plan->accumulate || block > 0;
            s.final = block + 1 == blocks;
            s.tile.last = s.final && !plan->unfinished;
            if (plan->packed_b && plan->keep_b)
                run_kept_b(&s, &part);
            else if (plan->packed_b)
                run_packed_b(&s, &part);
            else
                run_other_b(&s, &part, scratch);
        }
    }
}

ingot_gemm_grid ingot_gemm_f32_grid(const ingot_gemm_kernel *kernel, size_t m, size_t n, size_t k, bool fill)
{
    ingot_gemm_grid grid = {.row_blocks = 1, .unit = ingot_gemm_panels_at_once(m)};
    grid.tiles = ingot_gemm_row_tiles(kernel, m);
    grid.panels = ingot_ceil_div(n, kernel->columns);
    size_t steps = ingot_ceil_div(k, ingot_gemm_k_blocks(k));
    size_t tile_bytes = (steps > 0 ? steps : 1) * kernel->rows * sizeof(float);
    if (!fill)
        grid.row_blocks = ingot_ceil_div(grid.tiles, tile_bytes < A_BLOCK_BYTES ? A_BLOCK_BYTES / tile_bytes : 1);
    double rows = (double)m / (double)grid.row_blocks, area = (double)k * (double)kernel->columns;
    double compute = rows * area / MULTIPLY_ADDS_PER_MICROSECOND;
    double memory = fill ? 0 : area * sizeof(float) / B_BYTES_PER_MICROSECOND;
    double cost = compute > memory ? compute : memory;
    double panels = cost > 0 ? ceil(CHUNK_TIME / cost) : (double)grid.panels;
    /* Filled panels, too, share what they read of A, as far as enough chunks are left. */
    if (fill && panels * FILL_CHUNKS < (double)grid.panels)
        panels = ceil((double)grid.panels / FILL_CHUNKS);
    if (panels > (double)grid.panels)
        panels = (double)grid.panels;
    if (fill && panels > INGOT_GEMM_FILL_PANELS)
        panels = INGOT_GEMM_FILL_PANELS;
    size_t units = ingot_ceil_div((size_t)panels, grid.unit);
    grid.column_blocks = ingot_ceil_div(ingot_ceil_div(grid.panels, grid.unit), units);
    /* Filled panels are filled again for each block of rows, so rows are cut only where columns are few. */
    if (fill && grid.column_blocks < 8 && cost * (double)grid.panels > 8 * CHUNK_TIME) {
        size_t most = grid.tiles / 8 > 0 ? grid.tiles / 8 : 1;
        grid.row_blocks = ingot_ceil_div(8, grid.column_blocks);
        grid.row_blocks = grid.row_blocks < most ? grid.row_blocks : most;
    }
    return grid;
}

ingot_gemm_range ingot_gemm_grid_range(const ingot_gemm_grid *grid, size_t chunk)
{
    size_t row = chunk % grid->row_blocks, column = chunk / grid->row_blocks;
    size_t units = ingot_ceil_div(grid->panels, grid->unit);
    ingot_gemm_range range = {
        .first_tile = ingot_part_begin(grid->tiles, grid->row_blocks, row),
        .end_tile = ingot_part_begin(grid->tiles, grid->row_blocks, row + 1),
        .first_panel = ingot_part_begin(units, grid->column_blocks, column) * grid->unit,
        .end_panel = ingot_part_begin(units, grid->column_blocks, column + 1) * grid->unit,
    };
    if (range.end_panel > grid->panels)
        range.end_panel = grid->panels;
    return range;
}

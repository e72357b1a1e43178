#include "cpu/gemm/gemm.h"

#include "base/memory.h"
#include "base/threads.h"
#include "cpu/gemm/gemm_block.h"

/* A product of fewer multiply-adds is not split further where there is a batch. */
#define WHOLE_PRODUCT (1u << 20)
/* A is packed at most so many bytes at a time: they, and as much of C, stay in the L2 cache while a packed B passes. Any other B is
 * packed again for each part of A. */
#define PACKED_A_BYTES   (640u << 10)
#define REPACKED_A_BYTES (8u << 20)
/* Elements of A that one chunk packs. */
#define PACK_CHUNK (64u << 10)
/* B is read where it lies, not packed, for so many row tiles: it would be read too few times to pay. */
#define DIRECT_TILES 2
/* Bytes of a block of B that stay in the L2 cache, beside what passes. */
#define KEPT_B_BYTES (640u << 10)
/* Row tiles from which a product with such a B is split by rows, and those of a chunk. */
#define BY_ROWS_TILES  32
#define TILES_OF_CHUNK 4

/* How a call is carried out; floats of workspace: packed_a shared, scratch for each participant. */
typedef struct gemm_way {
    const ingot_gemm_kernel *kernel;
    size_t batch;
    bool pack_a;       /* else A's only row is used where it lies */
    bool direct, fill; /* B */
    bool whole;        /* a chunk is some whole products, else products come one after the other and are split */
    bool by_rows;      /* a chunk of a split product packs some rows of A for itself, and meets all of B */
    /* A split product of some rows is made block of K after block: what of A is packed is then still near. */
    size_t k_blocks, rows_at_once;
    size_t packed_a, scratch;
} gemm_way;

static size_t round_up(size_t floats)
{
    size_t line = INGOT_ALIGNMENT / sizeof(float);
    return ingot_ceil_div(floats, line) * line;
}

/* Long and narrow: what is read and written of A and C is then next to one another, and A is packed while it is near. */
static bool splits_by_rows(const ingot_gemm *g, const ingot_gemm_kernel *kernel)
{
    size_t steps = ingot_ceil_div(g->k, ingot_gemm_k_blocks(g->k));
    return g->packed_b && ingot_gemm_row_tiles(kernel, g->m) >= BY_ROWS_TILES &&
           g->n <= KEPT_B_BYTES / sizeof(float) / (steps > 0 ? steps : 1);
}

/* Rows that are packed at a time, at most. */
static size_t most_rows(const ingot_gemm *g, const gemm_way *way)
{
    size_t steps = ingot_ceil_div(g->k, way->k_blocks), bytes = g->packed_b ? PACKED_A_BYTES : REPACKED_A_BYTES;
    size_t rows = bytes / sizeof(float) / (steps > 0 ? steps : 1);
    return rows > way->kernel->rows ? rows : way->kernel->rows;
}

static gemm_way choose_way(const ingot_gemm *g)
{
    gemm_way way = {.kernel = g->kernel ? g->kernel : ingot_gemm_kernel_best(), .batch = 1, .rows_at_once = g->m};
    for (int d = 0; d < g->batch_rank; d++)
        way.batch *= g->batch_dims[d];
    way.pack_a = !(g->m == 1 && g->a_column == 1);
    size_t tiles = ingot_gemm_row_tiles(way.kernel, g->m);
    way.direct = !g->packed_b && g->b_column == 1 && g->b_row >= 0 && tiles <= DIRECT_TILES;
    way.fill = !g->packed_b && !way.direct;
    way.k_blocks = g->packed_b && way.pack_a ? ingot_gemm_k_blocks(g->k) : 1;
    size_t limit = most_rows(g, &way);
    way.whole = way.batch > 1 && g->m <= limit && (double)g->m * (double)g->n * (double)g->k <= 4.0 * WHOLE_PRODUCT;
    way.by_rows = !way.whole && splits_by_rows(g, way.kernel);
    if (way.by_rows)
        way.rows_at_once = TILES_OF_CHUNK * way.kernel->rows;
    else if (g->m > limit)
        way.rows_at_once =
            ingot_ceil_div(ingot_ceil_div(g->m, ingot_ceil_div(g->m, limit)), way.kernel->rows) * way.kernel->rows;
    if (way.whole || way.by_rows)
        way.k_blocks = 1;
    way.packed_a = way.pack_a ? round_up(way.rows_at_once * ingot_ceil_div(g->k, way.k_blocks)) : 0;
    if (way.fill)
        way.scratch = round_up(ingot_gemm_f32_fill_scratch(way.kernel, g->n, g->k));
    if (way.whole || way.by_rows) {
        way.scratch += way.packed_a;
        way.packed_a = 0;
    }
    return way;
}

size_t ingot_gemm_f32_workspace(const ingot_gemm *g, int threads)
{
    gemm_way way = choose_way(g);
    return (way.packed_a + way.scratch * (size_t)(threads > 1 ? threads : 1)) * sizeof(float);
}

typedef struct gemm_task {
    const ingot_gemm *g;
    gemm_way way;
    float *packed_a, *scratch;
    size_t products_per_chunk; /* whole */
    /* Of the product under way, where they are split. */
    ingot_gemm_plan plan;
    ingot_gemm_grid grid;
    const float *a, *b;
    size_t pack_tiles;
} gemm_task;

/* The B panels of one product, for ingot_gemm_plan's fill. */
typedef struct b_source {
    const gemm_task *task;
    const float *b;
} b_source;

static void fill_b(const void *context, size_t k, size_t steps, size_t column, size_t columns, float *to)
{
    const b_source *source = context;
    const ingot_gemm *g = source->task->g;
    ingot_gemm_f32_pack_panels(source->task->way.kernel,
                               source->b + (ptrdiff_t)k * g->b_row + (ptrdiff_t)column * g->b_column, g->b_row,
                               g->b_column, steps, columns, to);
}

/* Where product index of the batch begins in A, B and C. */
typedef struct product_offsets {
    ptrdiff_t a, b, c;
} product_offsets;

static product_offsets find_product(const ingot_gemm *g, size_t index)
{
    product_offsets offsets = {0};
    for (int d = g->batch_rank - 1; d >= 0; d--) {
        ptrdiff_t i = (ptrdiff_t)(index % g->batch_dims[d]);
        index /= g->batch_dims[d];
        offsets.a += i * g->a_batch[d];
        offsets.b += i * g->b_batch[d];
        offsets.c += i * g->c_batch[d];
    }
    return offsets;
}

static ingot_gemm_plan make_plan(const gemm_task *task, const product_offsets *at, const b_source *source)
{
    const ingot_gemm *g = task->g;
    ingot_gemm_plan plan = {.kernel = task->way.kernel, .m = g->m, .n = g->n, .k = g->k, .c_row = g->c_row};
    plan.packed_b = g->packed_b;
    if (task->way.direct) {
        plan.direct_b = g->b + at->b;
        plan.direct_b_row = (size_t)g->b_row;
    } else if (task->way.fill) {
        plan.fill = fill_b;
        plan.fill_context = source;
    }
    plan.c = g->c + at->c;
    plan.epilogue = g->epilogue;
    if (plan.epilogue.add)
        plan.epilogue.add += at->c;
    if (plan.epilogue.add_row == 0)
        plan.epilogue.add_row = g->c_row;
    return plan;
}

static void run_products(void *argument, size_t chunk, int participant)
{
    const gemm_task *task = argument;
    const ingot_gemm *g = task->g;
    float *scratch = task->scratch + (size_t)participant * task->way.scratch;
    float *packed_a = scratch;
    if (task->way.pack_a)
        scratch += round_up(g->m * g->k);
    size_t first = chunk * task->products_per_chunk, end = first + task->products_per_chunk;
    ingot_gemm_range range = {0, ingot_gemm_row_tiles(task->way.kernel, g->m), 0,
                              ingot_ceil_div(g->n, task->way.kernel->columns)};
    for (size_t i = first; i < end && i < task->way.batch; i++) {
        product_offsets at = find_product(g, i);
        b_source source = {task, g->b ? g->b + at.b : NULL};
        ingot_gemm_plan plan = make_plan(task, &at, &source);
        plan.packed_a = g->a + at.a;
        if (task->way.pack_a) {
            ingot_gemm_f32_pack_a(plan.kernel, g->m, g->k, g->a + at.a, g->a_row, g->a_column, 0, range.end_tile,
                                  packed_a);
            plan.packed_a = packed_a;
        }
        ingot_gemm_f32_block(&plan, &range, scratch);
    }
}

static void pack_tiles(void *argument, size_t chunk, int participant)
{
    const gemm_task *task = argument;
    const ingot_gemm *g = task->g;
    size_t first = chunk * task->pack_tiles, end = first + task->pack_tiles;
    end = end < task->grid.tiles ? end : task->grid.tiles;
    ingot_gemm_f32_pack_a(task->way.kernel, task->plan.m, task->plan.k, task->a, g->a_row, g->a_column, first, end,
                          task->packed_a);
}

static void run_block(void *argument, size_t chunk, int participant)
{
    const gemm_task *task = argument;
    size_t last = task->grid.row_blocks * task->grid.column_blocks - 1;
    ingot_gemm_range range = ingot_gemm_grid_range(&task->grid, task->g->backwards ? last - chunk : chunk);
    ingot_gemm_f32_block(&task->plan, &range, task->scratch + (size_t)participant * task->way.scratch);
}

/* Moves the plan's first row, of A apart, which is packed from there. */
static void skip_rows(ingot_gemm_plan *plan, size_t rows)
{
    plan->c += rows * plan->c_row;
    if (plan->epilogue.add)
        plan->epilogue.add += rows * plan->epilogue.add_row;
    if (plan->epilogue.row_bias)
        plan->epilogue.row_bias += rows;
}

/* Some rows as a product of their own. */
static void run_rows(void *argument, size_t chunk, int participant)
{
    const gemm_task *task = argument;
    const ingot_gemm *g = task->g;
    size_t row = chunk * task->way.rows_at_once;
    ingot_gemm_plan plan = task->plan;
    skip_rows(&plan, row);
    plan.m = g->m - row < task->way.rows_at_once ? g->m - row : task->way.rows_at_once;
    ingot_gemm_range range = {0, ingot_gemm_row_tiles(plan.kernel, plan.m), 0,
                              ingot_ceil_div(g->n, plan.kernel->columns)};
    float *packed_a = task->scratch + (size_t)participant * task->way.scratch;
    ingot_gemm_f32_pack_a(plan.kernel, plan.m, g->k, task->a + (ptrdiff_t)row * g->a_row, g->a_row, g->a_column, 0,
                          range.end_tile, packed_a);
    plan.packed_a = packed_a;
    plan.keep_b = true;
    ingot_gemm_f32_block(&plan, &range, NULL);
}

/* Leaves of the plan, and of A, one of way.k_blocks blocks of K. */
static void take_block(gemm_task *task, size_t block)
{
    const ingot_gemm *g = task->g;
    size_t blocks = task->way.k_blocks, first = ingot_part_begin(g->k, blocks, block);
    if (blocks == 1)
        return;
    ingot_gemm_plan *plan = &task->plan;
    plan->k = ingot_part_begin(g->k, blocks, block + 1) - first;
    plan->packed_b += first * plan->kernel->columns;
    plan->packed_b_k = g->k;
    plan->accumulate = block > 0;
    plan->unfinished = block + 1 < blocks;
    task->a += (ptrdiff_t)first * g->a_column;
}

/* Packs what the plan needs of A and computes its product. */
static void run_part(gemm_task *task, int threads)
{
    const gemm_way *way = &task->way;
    ingot_gemm_plan *plan = &task->plan;
    task->grid = ingot_gemm_f32_grid(way->kernel, plan->m, plan->n, plan->k, way->fill);
    plan->packed_a = task->a;
    if (way->pack_a) {
        plan->packed_a = task->packed_a;
        task->pack_tiles = ingot_ceil_div(PACK_CHUNK, way->kernel->rows * (plan->k > 0 ? plan->k : 1));
        ingot_parallel(threads, ingot_ceil_div(task->grid.tiles, task->pack_tiles), pack_tiles, task);
    }
    ingot_parallel(threads, task->grid.row_blocks * task->grid.column_blocks, run_block, task);
}

static void run_split_product(gemm_task *task, size_t index, int threads)
{
    const ingot_gemm *g = task->g;
    const gemm_way *way = &task->way;
    product_offsets at = find_product(g, index);
    b_source source = {task, g->b ? g->b + at.b : NULL};
    if (way->by_rows) {
        task->plan = make_plan(task, &at, &source);
        task->a = g->a + at.a;
        ingot_parallel(threads, ingot_ceil_div(g->m, way->rows_at_once), run_rows, task);
        return;
    }
    for (size_t row = 0; row < g->m; row += way->rows_at_once) {
        for (size_t block = 0; block < way->k_blocks; block++) {
            task->plan = make_plan(task, &at, &source);
            skip_rows(&task->plan, row);
            task->plan.m = g->m - row < way->rows_at_once ? g->m - row : way->rows_at_once;
            task->a = g->a + at.a + (ptrdiff_t)row * g->a_row;
            take_block(task, block);
            run_part(task, threads);
        }
    }
}

void ingot_gemm_f32(const ingot_gemm *g, void *workspace, int threads)
{
    gemm_task task = {.g = g, .way = choose_way(g), .packed_a = workspace};
    if (g->m == 0 || g->n == 0 || task.way.batch == 0)
        return;
    task.scratch = (float *)workspace + task.way.packed_a;
    if (task.way.whole) {
        size_t work = g->m * g->n * (g->k > 0 ? g->k : 1);
        task.products_per_chunk = work < WHOLE_PRODUCT ? ingot_ceil_div(WHOLE_PRODUCT, work) : 1;
        ingot_parallel(threads, ingot_ceil_div(task.way.batch, task.products_per_chunk), run_products, &task);
        return;
    }
    for (size_t i = 0; i < task.way.batch; i++)
        run_split_product(&task, i, threads);
}

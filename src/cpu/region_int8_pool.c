/* MaxPool, QLinearGlobalAveragePool and QLinearSoftmax on bytes. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/threads.h"
#include "cpu/extent.h"
#include "cpu/int8/bytes_table.h"
#include "cpu/ref/ref_qlinear.h"
#include "cpu/region_int8.h"
#include "ops/ms_qlinear.h"
#include "ops/pool.h"

typedef enum way { MAXIMUM, MEAN, SOFTMAX } way;

enum { X, X_SCALE, X_ZERO, Y_SCALE, Y_ZERO }; /* of the last two */

static way way_of(const ingot_region *region)
{
    return *(const way *)((const ingot_cpu_region *)region->detail)->detail;
}

static bool find_way(const ingot_node *node, way *w)
{
    *w = MAXIMUM;
    if (ingot_cpu_is(node, "MaxPool"))
        return (node->output_count < 2 || !node->outputs[1]) && node->inputs[0]->type.rank == 4;
    if (strcmp(node->domain, "com.microsoft") != 0)
        return false;
    *w = strcmp(node->op_type, "QLinearSoftmax") == 0 ? SOFTMAX : MEAN;
    return *w == SOFTMAX || (strcmp(node->op_type, "QLinearGlobalAveragePool") == 0 &&
                             !((const ingot_qlinear_params *)node->params)->channels_last);
}

static ingot_status claim(ingot_cpu_claim *claim, ingot_node *node, bool *claimed)
{
    way w;
    ingot_cpu_draft draft;
    if (node->operand_count == 0 || !ingot_int8_is_bytes(node->inputs[0]) || !node->outputs[0] || !find_way(node, &w) ||
        !ingot_cpu_draft_node(node, &draft))
        return INGOT_OK;
    draft.detail = &w;
    draft.detail_size = sizeof w;
    return ingot_cpu_claim_region(claim, &ingot_cpu_int8_pool, &draft, claimed);
}

static void tactic(const ingot_region *region, ingot_tactic *tactic)
{
    static const char *const names[] = {"reference", "mean_bytes", "softmax_bytes"};
    tactic->name = names[way_of(region)];
}

/* Reading the reference's way, a byte at a time. */
#define SLOWNESS 50

static void channels_last(const ingot_region *region, ingot_cpu_tactics *list)
{
    way w = way_of(region);
    if (w == SOFTMAX || !ingot_cpu_can_be_channels_last(region->inputs[X]))
        return;
    for (size_t i = X_SCALE; i < region->input_count; i++)
        if (region->inputs[i] && !ingot_graph_value_is_constant(region->inputs[i]))
            return;
    ingot_tactic *t = ingot_cpu_add_channels_last(list, w == MAXIMUM ? "max_bytes" : "mean_bytes", 1u << X);
    if (!t)
        return;
    int64_t dims[INGOT_MAX_RANK];
    double count = 1;
    ingot_guess_dims(&region->inputs[X]->type, dims);
    for (int i = 0; i < region->inputs[X]->type.rank; i++)
        count *= (double)dims[i];
    t->cost = ingot_cpu_guess_cost(count, 0);
    list->list[0].cost = ingot_cpu_guess_cost(w == MAXIMUM ? SLOWNESS * count : count, 0);
    if (w == MEAN)
        t->output_layouts[0] = INGOT_LAYOUT_PLAIN; /* of one pixel both are the same */
}

/* ---- MaxPool, channels last ---- */

typedef struct max_task {
    const ingot_int8_bytes_table *table;
    const ingot_value *x, *y;
    ingot_window window;
    size_t channels;
    bool is_signed;
} max_task;

static void max_line(void *argument, size_t chunk, int participant)
{
    const max_task *t = argument;
    const ingot_window *w = &t->window;
    int64_t n = (int64_t)chunk / w->out[0], line = (int64_t)chunk % w->out[0], height = t->x->dims[2],
            width = t->x->dims[3];
    const uint8_t *x = (const uint8_t *)t->x->data + (size_t)(n * height * width) * t->channels;
    uint8_t *y = (uint8_t *)t->y->data + chunk * (size_t)w->out[1] * t->channels;
    memset(y, t->is_signed ? INT8_MIN : 0, (size_t)w->out[1] * t->channels);
    for (int64_t place = 0; place < w->out[1]; place++, y += t->channels)
        for (int64_t ky = 0; ky < w->kernel[0]; ky++)
            for (int64_t kx = 0; kx < w->kernel[1]; kx++) {
                int64_t row = line * w->stride[0] + ky * w->dilation[0] - w->begin[0];
                int64_t column = place * w->stride[1] + kx * w->dilation[1] - w->begin[1];
                if (row >= 0 && row < height && column >= 0 && column < width)
                    t->table->maximum(x + (size_t)(row * width + column) * t->channels, y, t->channels, t->is_signed);
            }
}

static ingot_status run_maximum(const ingot_step *step, bool *declined)
{
    const ingot_node *node = step->region->nodes[0];
    const ingot_value *x = step->inputs[X], *y = step->outputs[0];
    max_task t = {.table = ingot_int8_bytes_table_at(ingot_level_best()), .x = x, .y = y};
    *declined = step->tactic->input_layouts[X] != INGOT_LAYOUT_NHWC;
    if (*declined)
        return INGOT_OK;
    INGOT_TRY(ingot_pool_geometry(node, node->params, NULL, x->rank, x->dims, &t.window, step->error));
    t.channels = (size_t)x->dims[1];
    t.is_signed = x->element == INGOT_INT8;
    ingot_parallel(step->threads, (size_t)(x->dims[0] * t.window.out[0]), max_line, &t);
    return INGOT_OK;
}

/* ---- Scales ---- */

typedef struct scales {
    float x_scale, y_scale, x_zero, y_zero;
    bool is_signed;
} scales;

static float zero_at(const ingot_step *step, size_t index)
{
    const ingot_value *v = ingot_int8_input(step, index);
    return v ? (float)ingot_load_i64(v->element, v->data, 0) : 0;
}

/* False where the reference has something to say. */
static bool load(const ingot_step *step, scales *s)
{
    for (size_t i = X_SCALE; i <= Y_ZERO; i++)
        if (ingot_int8_input(step, i) && ingot_value_count(step->inputs[i]) != 1)
            return false;
    *s = (scales){.x_scale = *(const float *)step->inputs[X_SCALE]->data,
                  .y_scale = *(const float *)step->inputs[Y_SCALE]->data,
                  .x_zero = zero_at(step, X_ZERO),
                  .y_zero = zero_at(step, Y_ZERO),
                  .is_signed = step->inputs[X]->element == INGOT_INT8};
    return true;
}

/* ---- QLinearGlobalAveragePool ---- */

static ingot_status measure(const ingot_region *region, const ingot_tactic *tactic, const ingot_value *const *inputs,
                            const ingot_value *const *outputs, int threads, size_t *bytes, ingot_error *error)
{
    if (way_of(region) == MEAN)
        *bytes = (size_t)inputs[X]->dims[1] * sizeof(int64_t);
    return INGOT_OK;
}

static void sum_pixels(const uint8_t *x, size_t pixels, size_t channels, bool last, uint8_t turn, int64_t *sums)
{
    memset(sums, 0, channels * sizeof *sums);
    if (last) {
        for (size_t pixel = 0; pixel < pixels; pixel++, x += channels)
            for (size_t c = 0; c < channels; c++)
                sums[c] += x[c] ^ turn;
        return;
    }
    for (size_t c = 0; c < channels; c++)
        for (size_t pixel = 0; pixel < pixels; pixel++)
            sums[c] += *x++ ^ turn;
}

static void store_means(const scales *s, const int64_t *sums, size_t channels, size_t pixels, uint8_t *y)
{
    const float scale = s->x_scale / (s->y_scale * (float)pixels);
    const ingot_codes codes = ingot_codes_of(s->is_signed ? INGOT_INT8 : INGOT_UINT8);
    const int64_t zero = (int64_t)pixels * ((int64_t)s->x_zero + (s->is_signed ? 128 : 0));
    for (size_t c = 0; c < channels; c++)
        ingot_store_code(&codes, y, (int64_t)c, ingot_code_mean(sums[c] - zero, scale, s->y_zero));
}

static void run_mean(const ingot_step *step, const scales *s)
{
    const ingot_value *x = step->inputs[X];
    size_t channels = (size_t)x->dims[1], pixels = ingot_sizes_product(x->dims, 2, x->rank);
    bool last = step->tactic->input_layouts[X] == INGOT_LAYOUT_NHWC;
    for (size_t n = 0; n < (size_t)x->dims[0]; n++) {
        sum_pixels((const uint8_t *)x->data + n * pixels * channels, pixels, channels, last, s->is_signed ? 0x80 : 0,
                   step->workspace);
        store_means(s, step->workspace, channels, pixels, (uint8_t *)step->outputs[0]->data + n * channels);
    }
}

/* ---- QLinearSoftmax ---- */

static void run_softmax(const ingot_step *step, const scales *s, bool *declined)
{
    const ingot_qlinear_params *p = step->region->nodes[0]->params;
    const ingot_value *x = step->inputs[X], *y = step->outputs[0];
    int axis = ingot_axis_of(p->axis, x->rank);
    ingot_extent e = ingot_extent_of(x, axis, axis + 1);
    float powers[256];
    if (p->opset < 13) {
        e.count *= e.inner;
        e.inner = 1;
    }
    ingot_softmax_powers(s->x_scale, e.count, powers);
    *declined = e.count > INGOT_INT8_SOFTMAX_LENGTH || !(s->x_scale > 0) || !isfinite(powers[255]) ||
                !(s->y_scale > 0) || !isfinite(floorf(1 / s->y_scale));
    if (*declined)
        return;
    ingot_int8_softmax softmax = {.length = e.count,
                                  .apart = e.inner,
                                  .row_step = 1,
                                  .powers = powers,
                                  .inverse_scale = (double)floorf(1 / s->y_scale),
                                  .zero = s->y_zero,
                                  .is_signed = s->is_signed};
    if (e.inner > 1) {
        ingot_int8_softmax_rows(&softmax, x->data, y->data, e.outer, e.count * e.inner, e.inner, step->threads);
        return;
    }
    softmax.row_step = e.count;
    ingot_int8_softmax_rows(&softmax, x->data, y->data, 1, 0, e.outer, step->threads);
}

static ingot_status run(const ingot_step *step, bool *declined)
{
    scales s;
    if (way_of(step->region) == MAXIMUM)
        return run_maximum(step, declined);
    *declined = !load(step, &s);
    if (*declined)
        return INGOT_OK;
    if (way_of(step->region) == MEAN)
        run_mean(step, &s);
    else
        run_softmax(step, &s, declined);
    return INGOT_OK;
}

const ingot_cpu_family ingot_cpu_int8_pool = {
    .name = "int8_pool", .claim = claim, .tactic = tactic, .blocked = channels_last, .measure = measure, .run = run};

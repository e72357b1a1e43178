#include "check.h"
#include "cpu/recurrent/recurrent_table.h"

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static double clipped(double x, double clip)
{
    return clip > 0 ? fmin(fmax(x, -clip), clip) : x;
}

static void check_lstm(int level, size_t batch, size_t hidden, bool peepholes, float clip)
{
    size_t row = 4 * hidden + 3, h_row = hidden + 1, middle = hidden / 3;
    float *gates = random_floats((batch - 1) * row + 4 * hidden, true), *p = random_floats(3 * hidden, true);
    float *cell = random_floats(batch * hidden, true), *before = guard_floats(batch * hidden, true);
    float *h = guard_floats((batch - 1) * h_row + hidden, true);
    memcpy(before, cell, batch * hidden * sizeof(float));
    for (size_t i = 0; i < (batch - 1) * row + 4 * hidden; i++)
        gates[i] *= 4;
    ingot_lstm_cell task = {batch, hidden, 0, middle, gates, row, peepholes ? p : NULL, clip, cell, h, h_row};
    ingot_recurrent_table_at(level)->lstm_cell(&task);
    task.first = middle; /* the rest of the units is another call's */
    task.end = hidden;
    ingot_recurrent_table_at(level)->lstm_cell(&task);
    bool good = true;
    for (size_t b = 0; b < batch; b++) {
        for (size_t j = 0; j < hidden; j++) {
            const float *g = gates + b * row + j;
            double c = before[b * hidden + j], pi = peepholes ? p[j] : 0, po = peepholes ? p[hidden + j] : 0;
            double pf = peepholes ? p[2 * hidden + j] : 0, i = sigmoid(clipped(g[0] + pi * c, clip));
            double f = sigmoid(clipped(g[2 * hidden] + pf * c, clip));
            c = f * c + i * tanh(clipped(g[3 * hidden], clip));
            double o = sigmoid(clipped(g[hidden] + po * c, clip));
            good = good && fabs(cell[b * hidden + j] - c) < 1e-6 && fabs(h[b * h_row + j] - o * tanh(c)) < 1e-6;
        }
    }
    check_case(good, "%s LSTM cell %zux%zu", ingot_level_name(level), batch, hidden);
    guard_release();
}

static void check_gru(int level, size_t batch, size_t hidden, bool before_reset, float clip)
{
    size_t n = hidden;
    float *x = random_floats(batch * 3 * n, true), *r = random_floats(batch * 3 * n, true);
    float *previous = random_floats(batch * n, true), *h = guard_floats(batch * n, true),
          *reset = guard_floats(batch * n, true);
    double *truth = guard_memory(batch * n * sizeof(double), true);
    bool good = true;
    for (size_t i = 0; i < batch * n; i++) {
        const float *xi = x + i / n * 3 * n + i % n, *ri = r + i / n * 3 * n + i % n;
        double z = sigmoid(clipped((double)xi[0] + ri[0], clip)), gate = sigmoid(clipped((double)xi[n] + ri[n], clip));
        double inner = before_reset ? gate * ri[2 * n] : ri[2 * n];
        double g = tanh(clipped(xi[2 * n] + inner, clip));
        truth[i] = (1 - z) * g + z * previous[i];
    }
    ingot_gru_cell task = {batch, n, 0, n, x, 3 * n, r, 3 * n, previous, n, h, n, reset, clip};
    if (before_reset) {
        ingot_recurrent_table_at(level)->gru_cell(&task);
    } else {
        float *gates = guard_floats(batch * n, true);
        for (size_t i = 0; i < batch * n; i++)
            gates[i] =
                (float)(sigmoid(clipped((double)x[i / n * 3 * n + n + i % n] + r[i / n * 3 * n + n + i % n], clip)) *
                        previous[i]);
        ingot_recurrent_table_at(level)->gru_gates(&task);
        for (size_t i = 0; i < batch * n; i++)
            good = good && fabsf(reset[i] - gates[i]) < 1e-6f;
        ingot_recurrent_table_at(level)->gru_finish(&task);
    }
    for (size_t i = 0; i < batch * n; i++)
        good = good && fabs(h[i] - truth[i]) < 1e-6;
    check_case(good, "%s GRU cell %zux%zu, linear before reset %d", ingot_level_name(level), batch, n, before_reset);
    guard_release();
}

/* A gate that is NaN makes its cell NaN and leaves the others as they were. */
static void check_odd_values(int level)
{
    enum { N = 19 };
    float *x = random_floats(3 * N, true), *r = random_floats(3 * N, true), *previous = random_floats(N, true);
    float *h = guard_floats(N, true), *expected = guard_floats(N, true), *reset = guard_floats(N, true);
    ingot_gru_cell task = {1, N, 0, N, x, 3 * N, r, 3 * N, previous, N, expected, N, reset, 0};
    ingot_recurrent_table_at(level)->gru_cell(&task);
    x[2 * N + 7] = NAN;
    r[11] = -INFINITY; /* its update gate is 0 */
    task.h = h;
    ingot_recurrent_table_at(level)->gru_cell(&task);
    bool good = true;
    for (size_t i = 0; i < N; i++)
        good = good && (i == 7 ? isnan(h[i]) != 0 : i == 11 ? fabsf(h[i]) <= 1 : same_bits(&h[i], &expected[i], 1));
    check_case(good, "%s NaN and infinity in a GRU cell", ingot_level_name(level));
    guard_release();
}

static void check(void)
{
    static const size_t sizes[] = {1, 3, 16, 17, 100};
    for (int level = 0; level < INGOT_LEVEL_COUNT; level++) {
        for (size_t s = 0; s < 5 && wants_level(level); s++) {
            check_lstm(level, 1 + s % 3, sizes[s], false, 0);
            check_lstm(level, 1 + s % 3, sizes[s], true, 1.5f);
            check_gru(level, 1 + s % 3, sizes[s], true, 0);
            check_gru(level, 1 + s % 3, sizes[s], false, 0.5f);
        }
        if (wants_level(level))
            check_odd_values(level);
    }
}

typedef struct cell_bench {
    const ingot_recurrent_table *table;
    ingot_gru_cell gru;
} cell_bench;

static void work(void *argument)
{
    cell_bench *b = argument;
    b->table->gru_cell(&b->gru);
}

/* Layers of 64, 256 and 512, as speech and text models have them. */
static void bench(void)
{
    static const size_t sizes[] = {64, 256, 512};
    for (int level = 0; level < INGOT_LEVEL_COUNT; level++) {
        for (size_t s = 0; s < 3 && wants_level(level); s++) {
            size_t n = sizes[s];
            float *x = random_floats(3 * n, false), *r = random_floats(3 * n, false), *h = random_floats(n, false);
            cell_bench b = {
                ingot_recurrent_table_at(level),
                {1, n, 0, n, x, 3 * n, r, 3 * n, h, n, guard_floats(n, false), n, guard_floats(n, false), 0}};
            double time = best_time(work, &b);
            printf("%-7s GRU cell %5zu %9.3f us %7.3f ns an element\n", ingot_level_name(level), n, time / 1e3,
                   time / (double)n);
            guard_release();
        }
    }
}

static void list(void)
{
    for (int level = 0; level < INGOT_LEVEL_COUNT; level++)
        printf("LSTM cell, GRU cell %s\n", ingot_level_name(level));
}

const check_part check_recurrent = {"recurrent", check, bench, list};

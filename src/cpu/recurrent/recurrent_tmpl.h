/* Template: the gates of LSTM and GRU cells. */
#include "cpu/eltwise/vec_math.h"
#include "cpu/recurrent/recurrent_table.h"

/* Limits a gate's input; limit is infinite where there is none. */
static inline vec clip(vec x, vec limit)
{
    return v_min(limit, v_max(v_neg(limit), x));
}

static inline vec limit_of(float clip)
{
    return v_set(clip > 0 ? clip : INFINITY);
}

static void lstm_cell(const ingot_lstm_cell *task)
{
    size_t n = task->hidden;
    vec limit = limit_of(task->clip);
    for (size_t r = 0; r < task->batch; r++) {
        const float *gates = task->gates + r * task->gates_row, *p = task->peepholes;
        float *cell = task->cell + r * n, *h = task->h + r * task->h_row;
        for (size_t j = task->first; j < task->end; j += LANES) {
            size_t part = task->end - j < LANES ? task->end - j : LANES;
            vec c = v_load_part(cell + j, part);
            vec i = v_load_part(gates + j, part), o = v_load_part(gates + n + j, part);
            vec f = v_load_part(gates + 2 * n + j, part), g = v_load_part(gates + 3 * n + j, part);
            if (p) {
                i = v_fma(v_load_part(p + j, part), c, i);
                f = v_fma(v_load_part(p + 2 * n + j, part), c, f);
            }
            i = v_sigmoid(clip(i, limit));
            f = v_sigmoid(clip(f, limit));
            c = v_fma(f, c, v_mul(i, v_tanh(clip(g, limit))));
            if (p)
                o = v_fma(v_load_part(p + n + j, part), c, o);
            v_store_part(cell + j, c, part);
            v_store_part(h + j, v_mul(v_sigmoid(clip(o, limit)), v_tanh(c)), part);
        }
    }
}

/* (1 - z) * g + z * previous */
static inline vec gru_mix(vec z, vec g, vec previous)
{
    return v_fma(z, v_sub(previous, g), g);
}

static void gru_cell(const ingot_gru_cell *task)
{
    size_t n = task->hidden;
    vec limit = limit_of(task->clip);
    for (size_t row = 0; row < task->batch; row++) {
        const float *x = task->x + row * task->x_row, *r = task->r + row * task->r_row;
        const float *previous = task->previous + row * task->previous_row;
        float *h = task->h + row * task->h_row;
        for (size_t j = task->first; j < task->end; j += LANES) {
            size_t part = task->end - j < LANES ? task->end - j : LANES;
            vec z = v_add(v_load_part(x + j, part), v_load_part(r + j, part));
            vec reset = v_add(v_load_part(x + n + j, part), v_load_part(r + n + j, part));
            reset = v_sigmoid(clip(reset, limit));
            vec g = v_fma(reset, v_load_part(r + 2 * n + j, part), v_load_part(x + 2 * n + j, part));
            g = v_tanh(clip(g, limit));
            z = v_sigmoid(clip(z, limit));
            v_store_part(h + j, gru_mix(z, g, v_load_part(previous + j, part)), part);
        }
    }
}

static void gru_gates(const ingot_gru_cell *task)
{
    size_t n = task->hidden;
    vec limit = limit_of(task->clip);
    for (size_t row = 0; row < task->batch; row++) {
        float *x = task->x + row * task->x_row, *to = task->reset + row * n;
        const float *r = task->r + row * task->r_row, *previous = task->previous + row * task->previous_row;
        for (size_t j = task->first; j < task->end; j += LANES) {
            size_t part = task->end - j < LANES ? task->end - j : LANES;
            vec z = v_add(v_load_part(x + j, part), v_load_part(r + j, part));
            vec reset = v_add(v_load_part(x + n + j, part), v_load_part(r + n + j, part));
            reset = v_sigmoid(clip(reset, limit));
            v_store_part(x + j, v_sigmoid(clip(z, limit)), part);
            v_store_part(to + j, v_mul(reset, v_load_part(previous + j, part)), part);
        }
    }
}

static void gru_finish(const ingot_gru_cell *task)
{
    size_t n = task->hidden;
    vec limit = limit_of(task->clip);
    for (size_t row = 0; row < task->batch; row++) {
        const float *x = task->x + row * task->x_row, *r = task->r + row * task->r_row;
        const float *previous = task->previous + row * task->previous_row;
        float *h = task->h + row * task->h_row;
        for (size_t j = task->first; j < task->end; j += LANES) {
            size_t part = task->end - j < LANES ? task->end - j : LANES;
            vec g = v_add(v_load_part(x + 2 * n + j, part), v_load_part(r + 2 * n + j, part));
            g = v_tanh(clip(g, limit));
            v_store_part(h + j, gru_mix(v_load_part(x + j, part), g, v_load_part(previous + j, part)), part);
        }
    }
}

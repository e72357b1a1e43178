/* The elementwise part of recurrent cells, with the default activations. A layer is: one product of all inputs with W (gemm.h,
 * with the biases of W and R as its column bias), then for each step a product of the state with R (epilogue.add: the step's
 * rows of the first product) and one of these. */
#ifndef INGOT_CPU_RECURRENT_H
#define INGOT_CPU_RECURRENT_H

#include "base/status.h"

/* gates[batch, 4 * hidden], row r at gates + r * gates_row, in ONNX's order i, o, f, c, before their activations:
 *   c = sigmoid(f + pf * c) * c + sigmoid(i + pi * c) * tanh(g)     h = sigmoid(o + po * c) * tanh(c)
 * cell[batch, hidden] is read and replaced; hidden state goes to h, row r at h + r * h_row. peepholes[3 * hidden] in the order
 * i, o, f, or NULL. clip > 0 limits every gate's input to [-clip, clip]. Only units first ... end - 1 are computed. Runs in the
 * caller. */
typedef struct ingot_lstm_cell {
    size_t batch, hidden;
    size_t first, end;
    const float *gates;
    size_t gates_row;
    const float *peepholes;
    float clip;
    float *cell, *h;
    size_t h_row;
} ingot_lstm_cell;
void ingot_lstm_cell_f32(const ingot_lstm_cell *cell);

/* x[batch, 3 * hidden] (row stride x_row) is the input's part, with its biases, in ONNX's order z, r, h; r[batch, 3 * hidden]
 * (row stride r_row) is the product of the state with R, with R's biases; previous[batch, hidden] (row stride previous_row) is the
 * state, h[batch, hidden] (row stride h_row) the new one, which may be the same memory. For ONNX's linear_before_reset 1:
 *   z = sigmoid(xz + rz)   r = sigmoid(xr + rr)   g = tanh(xh + r * rh)   h = (1 - z) * g + z * previous
 * is ingot_gru_cell_f32. For 0, ingot_gru_gates_f32 stores z over xz and r * previous in reset[batch, hidden]; the caller
 * stores reset's product with R's h part, and its bias, in the h part of r; ingot_gru_finish_f32 computes
 *   g = tanh(xh + rh)   h = (1 - z) * g + z * previous. */
typedef struct ingot_gru_cell {
    size_t batch, hidden;
    size_t first, end; /* as in ingot_lstm_cell */
    float *x;
    size_t x_row;
    const float *r;
    size_t r_row;
    const float *previous;
    size_t previous_row;
    float *h;
    size_t h_row;
    float *reset; /* gru_gates only */
    float clip;   /* as in ingot_lstm_cell */
} ingot_gru_cell;
void ingot_gru_cell_f32(const ingot_gru_cell *cell);
void ingot_gru_gates_f32(const ingot_gru_cell *cell);
void ingot_gru_finish_f32(const ingot_gru_cell *cell);

#endif

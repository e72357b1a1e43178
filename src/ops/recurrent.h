/* LSTM, GRU, RNN. */
#ifndef INGOT_OPS_RECURRENT_H
#define INGOT_OPS_RECURRENT_H

#include "ops/op.h"

/* X(name, word, takes alpha, takes beta, default alpha, default beta) */
#define INGOT_CELL_ACTIVATION_LIST(X)                         \
    X(RELU, "Relu", false, false, 0, 0)                       \
    X(TANH, "Tanh", false, false, 0, 0)                       \
    X(SIGMOID, "Sigmoid", false, false, 0, 0)                 \
    X(AFFINE, "Affine", true, true, 1, 0)                     \
    X(LEAKY_RELU, "LeakyRelu", true, false, .01f, 0)          \
    X(THRESHOLDED_RELU, "ThresholdedRelu", true, false, 1, 0) \
    X(SCALED_TANH, "ScaledTanh", true, true, 1, 1)            \
    X(HARD_SIGMOID, "HardSigmoid", true, true, .2f, .5f)      \
    X(ELU, "Elu", true, false, 1, 0)                          \
    X(SOFTSIGN, "Softsign", false, false, 0, 0)               \
    X(SOFTPLUS, "Softplus", false, false, 0, 0)

typedef enum ingot_cell_activation_kind {
#define INGOT_CELL_ACTIVATION_ENUM(name, word, takes_alpha, takes_beta, alpha, beta) INGOT_CELL_##name,
    INGOT_CELL_ACTIVATION_LIST(INGOT_CELL_ACTIVATION_ENUM)
#undef INGOT_CELL_ACTIVATION_ENUM
        INGOT_CELL_ACTIVATION_COUNT
} ingot_cell_activation_kind;

typedef struct ingot_cell_activation {
    ingot_cell_activation_kind kind;
    float alpha, beta;
} ingot_cell_activation;

#define INGOT_CELL_MAX_FUNCTIONS 3

typedef struct ingot_recurrent_params {
    int direction;
    int64_t hidden_size; /* where given: else the weights tell */
    bool has_hidden_size;
    bool batch_first; /* layout 1 */
    bool linear_before_reset, input_forget;
    bool has_clip;
    float clip;
    ingot_texts activation_names;
    ingot_floats activation_alpha, activation_beta;
    /* Filled by check: */
    int gates; /* 4 LSTM, 3 GRU, 1 RNN */
    int directions;
    bool reverse[2]; /* by direction */
    ingot_cell_activation functions[2]
                                   [INGOT_CELL_MAX_FUNCTIONS]; /* by direction: f, g, h of the standard's equations */
    bool byte_state; /* R is multiplied by the values that 8 bits have, each sequence's state with a range of its own */
    bool default_functions; /* those that the standard names as defaults, in all directions */
} ingot_recurrent_params;

#endif

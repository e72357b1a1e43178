/* Elementwise operators of one operand: mathematics and activations. */
#ifndef INGOT_OPS_UNARY_H
#define INGOT_OPS_UNARY_H

#include "ops/op.h"

typedef enum ingot_gelu_form { INGOT_GELU_EXACT, INGOT_GELU_TANH } ingot_gelu_form;

/* Params of those that have attributes; an operator uses what its text names. */
typedef struct ingot_activation_params {
    float alpha, beta, gamma;
    float lambd, bias; /* Shrink */
    int approximate;   /* Gelu: ingot_gelu_form */
} ingot_activation_params;

typedef struct ingot_isinf_params {
    bool detect_negative, detect_positive;
} ingot_isinf_params;

#endif

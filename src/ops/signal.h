/* Signals: DFT, STFT, MelWeightMatrix. */
#ifndef INGOT_OPS_SIGNAL_H
#define INGOT_OPS_SIGNAL_H

#include "ops/op.h"

typedef struct ingot_dft_params {
    int64_t axis;    /* before opset 20; else input 2 */
    bool axis_given; /* the form has the attribute, given or by default */
    bool inverse, onesided;
} ingot_dft_params;

/* Length of the transform where none is given, from the size of its axis. */
int64_t ingot_dft_default_length(const ingot_dft_params *params, int64_t size);

typedef struct ingot_stft_params {
    bool onesided;
} ingot_stft_params;

typedef struct ingot_mel_params {
    int64_t output_datatype;
    ingot_element element; /* of output_datatype */
} ingot_mel_params;

#endif

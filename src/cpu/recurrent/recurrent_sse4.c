/* The recurrent kernels: recurrent_tmpl.h for SSE4.1. */
#define INGOT_SIMD_SSE4 1
#include "cpu/recurrent/recurrent_tmpl.h"

const ingot_recurrent_table LEVEL_NAME(ingot_recurrent_table) = {lstm_cell, gru_cell, gru_gates, gru_finish};

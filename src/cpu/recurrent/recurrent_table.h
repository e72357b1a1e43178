/* The recurrent kernels of one level. */
#ifndef INGOT_CPU_RECURRENT_TABLE_H
#define INGOT_CPU_RECURRENT_TABLE_H

#include "cpu/recurrent/recurrent.h"
#include "cpu/simd/level.h"

typedef struct ingot_recurrent_table {
    void (*lstm_cell)(const ingot_lstm_cell *cell);
    void (*gru_cell)(const ingot_gru_cell *cell);
    void (*gru_gates)(const ingot_gru_cell *cell);
    void (*gru_finish)(const ingot_gru_cell *cell);
} ingot_recurrent_table;

#define INGOT_LEVEL(suffix, features) extern const ingot_recurrent_table ingot_recurrent_table_##suffix;
#include "cpu/simd/levels.def"
#undef INGOT_LEVEL

const ingot_recurrent_table *ingot_recurrent_table_at(int level);

#endif

#include "cpu/recurrent/recurrent_table.h"

static const ingot_recurrent_table *const tables[] = {
#define INGOT_LEVEL(suffix, features) &ingot_recurrent_table_##suffix,
#include "cpu/simd/levels.def"
#undef INGOT_LEVEL
};

const ingot_recurrent_table *ingot_recurrent_table_at(int level)
{
    return tables[level];
}

void ingot_lstm_cell_f32(const ingot_lstm_cell *cell)
{
    tables[ingot_level_best()]->lstm_cell(cell);
}

void ingot_gru_cell_f32(const ingot_gru_cell *cell)
{
    tables[ingot_level_best()]->gru_cell(cell);
}

void ingot_gru_gates_f32(const ingot_gru_cell *cell)
{
    tables[ingot_level_best()]->gru_gates(cell);
}

void ingot_gru_finish_f32(const ingot_gru_cell *cell)
{
    tables[ingot_level_best()]->gru_finish(cell);
}

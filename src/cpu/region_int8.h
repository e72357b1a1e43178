/* What the families on 8-bit integers share. */
#ifndef INGOT_CPU_REGION_INT8_H
#define INGOT_CPU_REGION_INT8_H

#include <string.h>

#include "cpu/extent.h"
#include "cpu/family.h"

static inline bool ingot_int8_is_bytes(const ingot_graph_value *v)
{
    return v && v->type.kind == INGOT_KIND_TENSOR && (v->type.element == INGOT_UINT8 || v->type.element == INGOT_INT8);
}

/* An operator that both ai.onnx and com.microsoft have. */
static inline bool ingot_int8_is(const ingot_node *node, const char *op_type)
{
    return strcmp(node->op_type, op_type) == 0 &&
           (strcmp(node->domain, "ai.onnx") == 0 || strcmp(node->domain, "com.microsoft") == 0);
}

/* The region's input; NULL: left out. */
static inline const ingot_value *ingot_int8_input(const ingot_step *step, size_t index)
{
    return index < step->region->input_count ? step->inputs[index] : NULL;
}

/* A zero point of one number; NULL: 0. */
static inline int32_t ingot_int8_zero(const ingot_value *v)
{
    return v ? (int32_t)ingot_load_i64(v->element, v->data, 0) : 0;
}

#endif

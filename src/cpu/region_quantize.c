/* QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear between floats and bytes. */
#include <math.h>
#include <string.h>

#include "base/float_mode.h"
#include "cpu/extent.h"
#include "cpu/int8/bytes.h"
#include "cpu/region_int8.h"
#include "ops/quantize.h"

typedef enum way { QUANTIZE, DEQUANTIZE, DYNAMIC } way;

static bool divides_in_float(const ingot_node *node)
{
    const ingot_quantize_params *p = node->params;
    return p->precision == 0 || p->precision == INGOT_FLOAT;
}

static bool is_quantize(const ingot_node *node)
{
    return ingot_int8_is(node, "QuantizeLinear") && ingot_cpu_is_float(node->inputs[0]) &&
           ingot_cpu_is_float(node->inputs[1]) && ingot_int8_is_bytes(node->outputs[0]) && divides_in_float(node);
}

static bool is_dequantize(const ingot_node *node)
{
    return ingot_int8_is(node, "DequantizeLinear") && ingot_int8_is_bytes(node->inputs[0]) &&
           ingot_cpu_is_float(node->inputs[1]) && ingot_cpu_is_float(node->outputs[0]);
}

/* ---- Single nodes ---- */

static ingot_status claim(ingot_cpu_claim *claim, ingot_node *node, bool *claimed)
{
    way w = DYNAMIC;
    ingot_cpu_draft draft;
    if (is_quantize(node))
        w = QUANTIZE;
    else if (is_dequantize(node))
        w = DEQUANTIZE;
    else if (!ingot_cpu_is(node, "DynamicQuantizeLinear") || !ingot_cpu_is_float(node->inputs[0]))
        return INGOT_OK;
    if (!ingot_cpu_draft_node(node, &draft))
        return INGOT_OK;
    draft.detail = &w;
    draft.detail_size = sizeof w;
    return ingot_cpu_claim_region(claim, &ingot_cpu_quantize, &draft, claimed);
}

static void tactic(const ingot_region *region, ingot_tactic *tactic)
{
    static const char *const names[] = {"quantize_bytes", "dequantize_bytes", "quantize_dynamic_bytes"};
    tactic->name = names[*(const way *)((const ingot_cpu_region *)region->detail)->detail];
}

/* Number index of a scale and its zero point (NULL: 0). */
static ingot_int8_scale scale_at(const ingot_value *scale, const ingot_value *zero, ingot_element element, size_t index)
{
    return (ingot_int8_scale){((const float *)scale->data)[index],
                              zero ? (int32_t)ingot_load_i64(zero->element, zero->data, index) : 0,
                              element == INGOT_INT8};
}

/* Elements first ... first + count - 1 by one scale. */
static void convert(const ingot_step *step, way w, const ingot_int8_scale *scale, size_t first, size_t count)
{
    const char *x = step->inputs[0]->data;
    char *y = step->outputs[0]->data;
    if (w == QUANTIZE)
        ingot_int8_quantize((const float *)(const void *)x + first, scale, y + first, count, step->threads);
    else
        ingot_int8_dequantize(x + first, scale, (float *)(void *)y + first, count, step->threads);
}

static ingot_status run_linear(const ingot_step *step, way w, bool *declined)
{
    const ingot_node *node = step->region->nodes[0];
    const ingot_value *x = step->inputs[0], *scale = step->inputs[1], *y = step->outputs[0];
    const ingot_value *zero = step->region->input_count > 2 ? step->inputs[2] : NULL;
    ingot_element element = w == QUANTIZE ? y->element : x->element;
    ingot_granularity granularity;
    int axis;
    INGOT_TRY(ingot_quantize_granularity(node, node->params, NULL, x->rank, x->dims, scale->rank, scale->dims,
                                         &granularity, &axis, step->error));
    if (granularity == INGOT_PER_TENSOR) {
        ingot_int8_scale one = scale_at(scale, zero, element, 0);
        convert(step, w, &one, 0, ingot_value_count(x));
        return INGOT_OK;
    }
    ingot_extent e = ingot_extent_of(x, axis, axis + 1);
    *declined = granularity != INGOT_PER_AXIS || e.inner == 1;
    for (size_t i = 0; i < e.outer * e.count && !*declined; i++) {
        ingot_int8_scale one = scale_at(scale, zero, element, i % e.count);
        convert(step, w, &one, i * e.inner, e.inner);
    }
    return INGOT_OK;
}

static void run_dynamic(const ingot_step *step)
{
    const ingot_value *x = step->inputs[0];
    size_t count = ingot_value_count(x);
    float low, high;
    ingot_int8_range(x->data, count, &low, &high, step->threads);
    ingot_int8_scale s = {.scale = (high - low) / UINT8_MAX};
    float zero = s.scale > 0 ? rintf(fminf(fmaxf(-low / s.scale, 0), UINT8_MAX)) : 0;
    s.zero = (int32_t)zero;
    if (s.scale > 0)
        ingot_int8_quantize(x->data, &s, step->outputs[0]->data, count, step->threads);
    else
        memset(step->outputs[0]->data, 0, count);
    *(float *)step->outputs[1]->data = s.scale;
    *(uint8_t *)step->outputs[2]->data = (uint8_t)zero;
}

static ingot_status run(const ingot_step *step, bool *declined)
{
    way w = *(const way *)((const ingot_cpu_region *)step->region->detail)->detail;
    if (w != DYNAMIC)
        return run_linear(step, w, declined);
    run_dynamic(step);
    return INGOT_OK;
}

const ingot_cpu_family ingot_cpu_quantize = {.name = "quantize", .claim = claim, .tactic = tactic, .run = run};

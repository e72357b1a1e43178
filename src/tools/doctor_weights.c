/* Weights that are not numbers, or so small that arithmetic on them is slow. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/doctor.h"

static const ingot_doctor_rule nonfinite = {"weights-not-finite", INGOT_WARNING,
                                            "look at how the model was trained or converted (float16 overflows at "
                                            "65504): what these weights touch becomes NaN or infinite; masks made of "
                                            "infinities are fine"};
static const ingot_doctor_rule denormal = {
    "denormal-weights", INGOT_NOTE, "round them to zero before the export: they are below 1.2e-38 and change nothing"};

typedef struct content {
    size_t nonfinite, denormal, count;
} content;

static content look_at_floats(const ingot_value *value)
{
    content found = {.count = ingot_value_count(value)};
    for (size_t i = 0; i < found.count; i++) {
        float x; /* constants lie where the file has them, aligned or not */
        memcpy(&x, (const char *)value->data + i * sizeof x, sizeof x);
        int class = fpclassify(x);
        found.nonfinite += class == FP_NAN || class == FP_INFINITE;
        found.denormal += class == FP_SUBNORMAL;
    }
    return found;
}

ingot_status ingot_doctor_check_weights(ingot_diagnosis *d, const ingot_graph *graph, ingot_error *error)
{
    ingot_doctor_tally bad = {0}, small = {0};
    char where[256];
    for (size_t i = 0; i < graph->value_count; i++) {
        const ingot_graph_value *v = graph->values[i];
        if (!v->constant || v->constant->kind != INGOT_KIND_TENSOR || v->constant->element != INGOT_FLOAT ||
            !v->constant->data)
            continue;
        content found = look_at_floats(v->constant);
        snprintf(where, sizeof where, "weights '%s'", v->name);
        if (found.nonfinite > 0 && found.count > 1) /* a single one is a bound, or a mask's filling */
            ingot_doctor_count(&bad, where);
        if (found.denormal * 100 > found.count)
            ingot_doctor_count(&small, where);
    }
    INGOT_TRY(ingot_doctor_add(d, &nonfinite, &bad, error, "%zu weight tensors hold NaN or infinity", bad.count));
    return ingot_doctor_add(d, &denormal, &small, error, "%zu weight tensors hold more than 1 %% denormal numbers",
                            small.count);
}

/* MatMulNBits on floats: some rows of weights at a time become floats in the workspace, for a product of their own. The weights
 * stay as small as they are. */
#include <string.h>

#include "base/threads.h"
#include "cpu/family.h"
#include "cpu/gemm/gemm.h"
#include "cpu/ref/ref_matmul_nbits.h"

#define SLICE 64 /* rows of weights, which are columns of the output */

static ingot_status claim(ingot_cpu_claim *claim, ingot_node *node, bool *claimed)
{
    bool grouped = node->operand_count > INGOT_NBITS_GROUPS && node->inputs[INGOT_NBITS_GROUPS];
    if (strcmp(node->domain, "com.microsoft") != 0 || strcmp(node->op_type, "MatMulNBits") != 0 || grouped ||
        !ingot_cpu_is_float(node->inputs[INGOT_NBITS_A]) || !ingot_cpu_is_float(node->outputs[0]))
        return INGOT_OK;
    return ingot_cpu_claim_whole_node(claim, &ingot_cpu_nbits, node, claimed);
}

static void tactic(const ingot_region *region, ingot_tactic *tactic)
{
    tactic->name = ingot_gemm_kernel_name(ingot_gemm_kernel_best());
}

static const ingot_value *operand(const ingot_region *region, const ingot_value *const *inputs, size_t index)
{
    return index < region->input_count ? inputs[index] : NULL;
}

static size_t aligned(size_t bytes)
{
    return (bytes + INGOT_ALIGNMENT - 1) / INGOT_ALIGNMENT * INGOT_ALIGNMENT;
}

/* The product of a slice; n is that of a whole one. */
static ingot_gemm slice_gemm(const ingot_matmul_nbits_params *p, const ingot_value *a, const float *weights)
{
    size_t k = (size_t)p->k;
    return (ingot_gemm){.m = ingot_value_count(a) / k,
                        .n = SLICE,
                        .k = k,
                        .a = a->data,
                        .a_row = (ptrdiff_t)k,
                        .a_column = 1,
                        .b = weights,
                        .b_row = 1,
                        .b_column = (ptrdiff_t)k,
                        .c_row = (size_t)p->n};
}

/* Bytes that a participant needs: the slice, then the product's own. */
static size_t share(const ingot_matmul_nbits_params *p, const ingot_value *a, size_t *slice_bytes)
{
    ingot_gemm g = slice_gemm(p, a, NULL);
    *slice_bytes = aligned((size_t)p->k * SLICE * sizeof(float));
    return *slice_bytes + aligned(ingot_gemm_f32_workspace(&g, 1));
}

static ingot_status measure(const ingot_region *region, const ingot_tactic *tactic, const ingot_value *const *inputs,
                            const ingot_value *const *outputs, int threads, size_t *bytes, ingot_error *error)
{
    size_t slice_bytes, each = share(region->nodes[0]->params, inputs[INGOT_NBITS_A], &slice_bytes);
    if (!ingot_mul_size(each, (size_t)(threads > 1 ? threads : 1), bytes))
        return ingot_fail_memory(error, each, "the workspace of a product");
    return INGOT_OK;
}

typedef struct nbits_task {
    ingot_nbits_weights weights;
    const ingot_value *a;
    const float *bias;
    float *y;
    char *workspace;
    size_t share, slice_bytes;
} nbits_task;

static void run_slice(void *argument, size_t chunk, int participant)
{
    const nbits_task *t = argument;
    const ingot_matmul_nbits_params *p = t->weights.params;
    char *workspace = t->workspace + (size_t)participant * t->share;
    float *rows = (float *)(void *)workspace;
    size_t first = chunk * SLICE, count = (size_t)p->n - first < SLICE ? (size_t)p->n - first : SLICE;
    for (size_t i = 0; i < count; i++)
        ingot_nbits_read_row(&t->weights, first + i, rows + i * (size_t)p->k);
    ingot_gemm g = slice_gemm(p, t->a, rows);
    g.n = count;
    g.c = t->y + first;
    g.epilogue.column_bias = t->bias ? t->bias + first : NULL;
    ingot_gemm_f32(&g, workspace + t->slice_bytes, 1);
}

static ingot_status run(const ingot_step *step, bool *declined)
{
    const ingot_matmul_nbits_params *p = step->region->nodes[0]->params;
    const ingot_value *bias = operand(step->region, step->inputs, INGOT_NBITS_BIAS);
    nbits_task t = {.weights = {p, step->inputs[INGOT_NBITS_B], step->inputs[INGOT_NBITS_SCALES],
                                operand(step->region, step->inputs, INGOT_NBITS_ZEROS)},
                    .a = step->inputs[INGOT_NBITS_A],
                    .bias = bias ? bias->data : NULL,
                    .y = step->outputs[0]->data,
                    .workspace = step->workspace};
    *declined = ingot_value_count(t.weights.b) == 0 || ingot_value_count(step->outputs[0]) == 0;
    if (*declined)
        return INGOT_OK;
    t.share = share(p, t.a, &t.slice_bytes);
    ingot_parallel(step->threads, ((size_t)p->n + SLICE - 1) / SLICE, run_slice, &t);
    return INGOT_OK;
}

const ingot_cpu_family ingot_cpu_nbits = {
    .name = "nbits", .claim = claim, .tactic = tactic, .measure = measure, .run = run};

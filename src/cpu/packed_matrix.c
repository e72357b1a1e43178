/* Constant matrices as B of products: what families share that read one. */
#include "cpu/family.h"
#include "cpu/gemm/gemm.h"
#include "ops/arrange.h"

_Static_assert(INGOT_PACK_ROWS % INGOT_GEMM_PACK_ROWS == 0, "parts of a constant are parts of a packed matrix");

ingot_node *ingot_cpu_product_of_transposed(const ingot_node *node)
{
    const ingot_graph_value *b = node->operand_count > 0 ? node->inputs[0] : NULL;
    if (!ingot_cpu_is(node, "Transpose") || !ingot_graph_value_is_constant(b) || !ingot_cpu_is_float(b) ||
        b->constant->rank != 2 || ingot_transpose_source(node->params, 2, 0) != 1)
        return NULL;
    const ingot_graph_value *y = node->outputs[0];
    if (!y || y->use_count != 1 || y->output_count > 0)
        return NULL;
    ingot_node *product = y->uses[0].node;
    return product->body_count == 0 && ingot_cpu_is(product, "MatMul") && product->inputs[1] == y ? product : NULL;
}

void ingot_cpu_packs_matrix(ingot_tactic *tactic, const ingot_graph_value *matrix, bool transposed)
{
    const ingot_value *b = matrix->constant;
    tactic->packed_bytes = ingot_gemm_f32_packed_b_size(ingot_gemm_kernel_best(), (size_t)b->dims[transposed],
                                                        (size_t)b->dims[!transposed]);
    tactic->packed_constant = matrix;
    tactic->packed_form = transposed;
}

void ingot_cpu_pack_matrix(const ingot_region *region, const ingot_tactic *tactic, size_t first, size_t count,
                           const void *rows, void *packed)
{
    const int64_t *dims = tactic->packed_constant->constant->dims;
    bool transposed = tactic->packed_form != 0;
    ingot_gemm_f32_pack_b_rows(ingot_gemm_kernel_best(), (size_t)dims[transposed], (size_t)dims[!transposed],
                               transposed, first, count, rows, packed);
}

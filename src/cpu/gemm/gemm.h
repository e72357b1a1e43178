/* FP32 matrix product: C[M,N] = epilogue(A[M,K] * B[K,N]), for one pair or a batch of them.
 *
 * Pointers need the alignment of a float only; packed matrices and workspaces are aligned to INGOT_ALIGNMENT. Nothing
 * outside the matrices is read or written, whatever their size.
 *
 * Same bits: the value of C[m,n] depends on row m of A, column n of B and K alone: K is cut into blocks whose bounds depend
 * on K only, a block is summed in order by fused multiply-add from zero, and the blocks' sums are joined in order. So M, N,
 * the batch, packing, the place in the matrix and the number of threads change no bit. Instruction sets may differ.
 *
 * Threads: a call uses up to threads participants of ingot_parallel and may be made from any thread; a small product runs in
 * the caller. */
#ifndef INGOT_CPU_GEMM_H
#define INGOT_CPU_GEMM_H

#include "cpu/gemm/epilogue.h"

typedef struct ingot_gemm_kernel ingot_gemm_kernel;

#define INGOT_GEMM_BATCH_RANK 6

/* Strides are in floats; those of A and B may be anything (0, negative, transposed). C's columns lie side by side. */
typedef struct ingot_gemm {
    size_t m, n, k;
    const float *a;
    ptrdiff_t a_row, a_column;
    const float *b; /* unused where packed_b is set */
    ptrdiff_t b_row, b_column;
    const float *packed_b; /* by ingot_gemm_f32_pack_b; one B for the whole batch, or NULL */
    float *c;
    size_t c_row;
    /* From the last columns to the first, as far as the threads' order goes: of a B larger than the cache that is read over and
     * over, by turns from either end, a part is still there. */
    bool backwards;
    ingot_epilogue epilogue;
    /* Batch: batch_rank 0 is one product. Index i of dimension d moves A by i * a_batch[d], and so on; add moves as C. */
    int batch_rank;
    size_t batch_dims[INGOT_GEMM_BATCH_RANK];
    ptrdiff_t a_batch[INGOT_GEMM_BATCH_RANK], b_batch[INGOT_GEMM_BATCH_RANK], c_batch[INGOT_GEMM_BATCH_RANK];
    const ingot_gemm_kernel *kernel; /* NULL: the best one that ingot_cpu_features() allows */
} ingot_gemm;

/* Bytes of workspace that ingot_gemm_f32 needs with at most threads participants. Grows with no dimension without
 * bound: some MiB for each thread. */
size_t ingot_gemm_f32_workspace(const ingot_gemm *gemm, int threads);
/* workspace: as many bytes as ingot_gemm_f32_workspace says, for this gemm and these threads, aligned to
 * INGOT_ALIGNMENT; its content is of no meaning before or after. k of 0 gives the epilogue of zero. */
void ingot_gemm_f32(const ingot_gemm *gemm, void *workspace, int threads);

/* A constant B[K,N], rearranged once. Bytes needed, and the rearranging, where B has the strides row and column. The
 * layout is the kernel's (NULL: the best one): a packed matrix belongs to one kernel. */
size_t ingot_gemm_f32_packed_b_size(const ingot_gemm_kernel *kernel, size_t k, size_t n);
void ingot_gemm_f32_pack_b(const ingot_gemm_kernel *kernel, size_t k, size_t n, const float *b, ptrdiff_t row,
                           ptrdiff_t column, float *packed);
/* The same for some rows of the matrix as it lies, [K,N] or, where transposed, [N,K]: rows first ... first + count - 1, both
 * multiples of INGOT_GEMM_PACK_ROWS but for the last rows. */
#define INGOT_GEMM_PACK_ROWS 64 /* whole panels of every kernel */
void ingot_gemm_f32_pack_b_rows(const ingot_gemm_kernel *kernel, size_t k, size_t n, bool transposed, size_t first,
                                size_t count, const float *rows, float *packed);
/* Column number column of a packed B: k numbers. */
void ingot_gemm_f32_unpack_column(const ingot_gemm_kernel *kernel, size_t k, const float *packed, size_t column,
                                  float *to);

/* The kernels of this build, best last, and those that this processor (and INGOT_CPU) allows. */
size_t ingot_gemm_kernel_count(void);
const ingot_gemm_kernel *ingot_gemm_kernel_at(size_t index);
const ingot_gemm_kernel *ingot_gemm_kernel_best(void);
const char *ingot_gemm_kernel_name(const ingot_gemm_kernel *kernel);
bool ingot_gemm_kernel_runs(const ingot_gemm_kernel *kernel);

#endif

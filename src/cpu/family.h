/* Families of fast kernels, as the CPU backend sees them. A family claims nodes that its kernels can run and makes regions of them;
 * what no family claims is run by its reference kernel. One file a family (region_*.c), one line in backend.c's table. */
#ifndef INGOT_CPU_FAMILY_H
#define INGOT_CPU_FAMILY_H

#include "cpu/eltwise/eltwise.h"
#include "cpu/layout/layout.h"
#include "plan/backend.h"

/* Most nodes, and inputs, of a region that a family makes. */
#define INGOT_CPU_MAX_NODES  16
#define INGOT_CPU_MAX_INPUTS 12

typedef struct ingot_cpu_claim {
    const ingot_graph *graph;
    ingot_claim *out;
    bool *taken; /* [node id]: in a region already */
    ingot_error *error;
} ingot_cpu_claim;

/* The tactics of a region in the making. */
typedef struct ingot_cpu_tactics {
    ingot_tactic *list;
    size_t count;
} ingot_cpu_tactics;

typedef struct ingot_cpu_family {
    const char *name;
    /* Results below the normal numbers become 0 (base/float_mode.h): where sums of products or of exponentials round by more
     * than that anyway, and numbers so small come in masses. Elementwise operations keep them. */
    bool flushes;
    /* Makes a region that begins with node, by ingot_cpu_claim_region, or leaves it to the next family. */
    ingot_status (*claim)(ingot_cpu_claim *claim, ingot_node *node, bool *claimed);
    /* Fills name, and packed_bytes where it packs; cost where that is not what reading and writing all operands takes. All
     * operands are plain. */
    void (*tactic)(const ingot_region *region, ingot_tactic *tactic);
    /* The same for other ways to run the region, which have operands in INGOT_LAYOUT_C16 or INGOT_LAYOUT_NHWC: adds them by
     * ingot_cpu_add_tactic. They never decline. NULL: there are none. */
    void (*blocked)(const ingot_region *region, ingot_cpu_tactics *list);
    ingot_status (*pack)(const ingot_region *region, const ingot_tactic *tactic, void *packed,
                         ingot_error *error); /* NULL: packs nothing */
    void (*pack_rows)(const ingot_region *region, const ingot_tactic *tactic, size_t first, size_t count,
                      const void *rows, void *packed); /* where tactics have a packed_constant: in place of pack */
    /* As in backend.h; NULL: no workspace. */
    ingot_status (*measure)(const ingot_region *region, const ingot_tactic *tactic, const ingot_value *const *inputs,
                            const ingot_value *const *outputs, int threads, size_t *bytes, ingot_error *error);
    /* Sets *declined where these shapes are not its business: then the node's reference kernel runs (regions of one node). */
    ingot_status (*run)(const ingot_step *step, bool *declined);
} ingot_cpu_family;

/* What region->detail points to. */
typedef struct ingot_cpu_region {
    const ingot_cpu_family *family;
    const void *detail;     /* the family's own, in the claim's arena */
    ingot_kernel reference; /* of a region of one node; else NULL */
} ingot_cpu_region;

/* A region in the making. */
typedef struct ingot_cpu_draft {
    ingot_node *nodes[INGOT_CPU_MAX_NODES]; /* the first one is what claim was asked about */
    size_t node_count;
    ingot_graph_value *inputs[INGOT_CPU_MAX_INPUTS];
    size_t input_count;
    const void *detail; /* copied, detail_size bytes */
    size_t detail_size;
    uint32_t flags;
    uint32_t packed_inputs; /* as in ingot_region: only where the family never declines */
} ingot_cpu_draft;

/* A draft of the node alone, with its operands as inputs; false where it has too many. */
bool ingot_cpu_draft_node(ingot_node *node, ingot_cpu_draft *draft);
/* Makes the region: its outputs are those of its last node. */
ingot_status ingot_cpu_claim_region(ingot_cpu_claim *claim, const ingot_cpu_family *family,
                                    const ingot_cpu_draft *draft, bool *claimed);

/* A region of the node alone, however many inputs it has, without detail. */
ingot_status ingot_cpu_claim_whole_node(ingot_cpu_claim *claim, const ingot_cpu_family *family, ingot_node *node,
                                        bool *claimed);

/* The only node that uses value, where the value goes nowhere else: not to an output of the graph either. NULL: none. */
ingot_node *ingot_cpu_follower(const ingot_cpu_claim *claim, const ingot_graph_value *value);

/* Element type and rank of an input of a node, as far as inferred. */
static inline bool ingot_cpu_is_float(const ingot_graph_value *value)
{
    return value && value->type.kind == INGOT_KIND_TENSOR && value->type.element == INGOT_FLOAT;
}
/* A tensor whose elements are whole bytes that may be copied. */
static inline bool ingot_cpu_is_copyable(const ingot_graph_value *value)
{
    return value && value->type.kind == INGOT_KIND_TENSOR && value->type.element != INGOT_STRING &&
           value->type.element != INGOT_UNDEFINED && ingot_element_size(value->type.element) > 0;
}
/* Both shapes are known to be the same, by number or by symbol. */
bool ingot_cpu_same_shape(const ingot_graph_value *a, const ingot_graph_value *b);
/* A constant float tensor of one element. */
bool ingot_cpu_scalar(const ingot_graph_value *value, float *result);
/* Whether the node is that operator of ai.onnx. */
bool ingot_cpu_is(const ingot_node *node, const char *op_type);

/* ---- Layouts ---- */

/* A tactic more, plain and without a name; NULL: there is room for no more. */
ingot_tactic *ingot_cpu_add_tactic(ingot_cpu_tactics *list);
/* One whose operands all lie in C16, but those of plain_inputs (bit i: input i); what is left out does not count. */
ingot_tactic *ingot_cpu_add_blocked(ingot_cpu_tactics *list, const ingot_region *region, const char *name,
                                    uint32_t plain_inputs);
/* Whether such a value can lie in C16: a float tensor of known rank 3 or 4. */
bool ingot_cpu_can_block(const ingot_graph_value *value);
/* Whether such a value can lie in NHWC: a tensor of bytes of known rank 4. */
bool ingot_cpu_can_be_channels_last(const ingot_graph_value *value);
/* A tactic whose inputs of the bit mask (bit i: input i), and output 0, lie in NHWC. */
ingot_tactic *ingot_cpu_add_channels_last(ingot_cpu_tactics *list, const char *name, uint32_t inputs);
/* Both shapes have the same batch and channels. */
bool ingot_cpu_same_channels(const ingot_graph_value *a, const ingot_graph_value *b);
/* Whether input 0 does in the step's tactic. */
static inline bool ingot_cpu_is_blocked(const ingot_step *step)
{
    return step->tactic->input_layouts[0] == INGOT_LAYOUT_C16;
}
/* Nanoseconds that moving so many bytes, and so many multiplications and additions in fast kernels take: for costs. */
static inline double ingot_cpu_guess_cost(double bytes, double flops)
{
    return 100 + bytes / 10 + flops / 100;
}

/* What it takes to move a tactic's operands: the cost of tactics that state none. */
double ingot_cpu_moving_cost(const ingot_region *region, const ingot_tactic *tactic);

/* ---- Constant matrices, packed for products ---- */

/* The MatMul whose B is node's result, a constant matrix transposed; NULL: none. */
ingot_node *ingot_cpu_product_of_transposed(const ingot_node *node);
/* The tactic packs the constant matrix as B of a product, [K,N] or, where transposed, [N,K]; ingot_cpu_pack_matrix is its pack_rows. */
void ingot_cpu_packs_matrix(ingot_tactic *tactic, const ingot_graph_value *matrix, bool transposed);
void ingot_cpu_pack_matrix(const ingot_region *region, const ingot_tactic *tactic, size_t first, size_t count,
                           const void *rows, void *packed);

/* ---- Epilogues: what is done to a product before it is stored ---- */

typedef struct ingot_cpu_epilogue {
    size_t column_bias; /* index among the region's inputs of a constant [columns]; SIZE_MAX: none */
    size_t add;         /* index of a tensor of the output's shape; SIZE_MAX: none */
    bool add_last;
    ingot_unary activation;
} ingot_cpu_epilogue;

/* Takes nodes after the draft's last one into it, as far as an epilogue can do their work with the same bits. columns: size of
 * the last axis where a constant bias along it may be added; 0: none may. */
void ingot_cpu_absorb(const ingot_cpu_claim *claim, ingot_cpu_draft *draft, int64_t columns,
                      ingot_cpu_epilogue *epilogue);
/* After it: the same for nodes that follow the last one behind a view, which comes into the draft with them. For families of plain
 * operands that ask for their number of elements alone. */
void ingot_cpu_absorb_behind_view(const ingot_cpu_claim *claim, ingot_cpu_draft *draft, int64_t columns,
                                  ingot_cpu_epilogue *epilogue);

/* The operation of a one-operand node as a kernel of eltwise.h has it; false where there is none, or its bounds are no
 * constants. */
bool ingot_cpu_unary_of(const ingot_node *node, ingot_unary *unary);

/* ---- The families ---- */
extern const ingot_cpu_family ingot_cpu_chain;
extern const ingot_cpu_family ingot_cpu_convolution;
extern const ingot_cpu_family ingot_cpu_transposed_convolution;
extern const ingot_cpu_family ingot_cpu_product;
extern const ingot_cpu_family ingot_cpu_attention;
extern const ingot_cpu_family ingot_cpu_unary;
extern const ingot_cpu_family ingot_cpu_binary;
extern const ingot_cpu_family ingot_cpu_softmax;
extern const ingot_cpu_family ingot_cpu_reduction;
extern const ingot_cpu_family ingot_cpu_normalization;
extern const ingot_cpu_family ingot_cpu_batch_norm;
extern const ingot_cpu_family ingot_cpu_pool;
extern const ingot_cpu_family ingot_cpu_move;
extern const ingot_cpu_family ingot_cpu_join;
extern const ingot_cpu_family ingot_cpu_pad;
extern const ingot_cpu_family ingot_cpu_gather;
extern const ingot_cpu_family ingot_cpu_prelu;
extern const ingot_cpu_family ingot_cpu_resize;
extern const ingot_cpu_family ingot_cpu_shape;
extern const ingot_cpu_family ingot_cpu_cast;
extern const ingot_cpu_family ingot_cpu_recurrent;
extern const ingot_cpu_family ingot_cpu_nbits;
extern const ingot_cpu_family ingot_cpu_int8_convolution;
extern const ingot_cpu_family ingot_cpu_int8_product;
extern const ingot_cpu_family ingot_cpu_int8_binary;
extern const ingot_cpu_family ingot_cpu_int8_pool;
extern const ingot_cpu_family ingot_cpu_int8_chain;
extern const ingot_cpu_family ingot_cpu_quantize;
extern const ingot_cpu_family ingot_cpu_reference;

#endif

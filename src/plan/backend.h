/* The backend ABI: what a kind of hardware must offer to run regions of a graph. Used by the CPU like by any other.
 *
 * Life of a region: the planner asks claim for regions, tactics for ways to run each, picks one, lets pack lay its weights
 * out once; for each set of shapes measure tells workspace; run is called for every step of every run.
 * All state hangs on an ingot_device or a region; nothing is global. A device may be used by many threads: everything of a
 * device and a region is constant after pack, but what is passed to run. Locked to the build: not installed before 1.0. */
#ifndef INGOT_PLAN_BACKEND_H
#define INGOT_PLAN_BACKEND_H

#include "ops/kernel.h"

#define INGOT_BACKEND_ABI 1

typedef enum ingot_space {
    INGOT_SPACE_HOST = 0,
    INGOT_SPACE_DEVICE = 1,
    INGOT_SPACE_PINNED = 2,
} ingot_space;

/* How a tensor lies in memory. Reorder, cast and copy are one kind of step: from one format to another. */
typedef struct ingot_format {
    ingot_element element;
    uint16_t layout; /* 0: row-major without gaps; others are the backend's own */
    uint8_t space;   /* ingot_space */
    uint8_t device;
} ingot_format;

#define INGOT_LAYOUT_PLAIN 0
#define INGOT_MAX_LAYOUTS  4 /* of a backend, the plain one included: numbers 0 ... 3 */

typedef struct ingot_device ingot_device; /* the backend's own */

/* Flags that only regions have. A part that lies at its place in the whole is not copied. Which place that is the plan tells from
 * sizes alone, so such a region's tactics may have operands only in layouts where memory goes along the axes in their order, if
 * need be in blocks along one of them: in no layout that puts an outer axis inside, as channels last do. */
enum {
    INGOT_REGION_JOINS = 1 << 16,  /* output 0 is all inputs side by side along one axis */
    INGOT_REGION_SPLITS = 1 << 17, /* input 0 is all outputs side by side along one axis */
};

/* Nodes that run as one, in data-flow order; the last one's outputs come out, inner values do not leave it. Made by claim, in
 * the arena it is given. */
typedef struct ingot_region {
    ingot_node **nodes;
    size_t node_count;
    ingot_graph_value **inputs; /* NULL: an optional operand left out; captures do not occur */
    size_t input_count;
    ingot_graph_value **outputs; /* NULL: left out */
    size_t output_count;
    uint32_t packed_inputs; /* bit i: constant input i is read by pack alone, never by run */
    uint32_t flags;         /* INGOT_OP_IN_PLACE, INGOT_OP_SIZES_OUTPUT of the region as a whole; INGOT_REGION_... */
    const void *detail;     /* the backend's own */
} ingot_region;

/* Where claim puts regions. Every node of the graph that is no control flow and no view must come in exactly one region. */
typedef struct ingot_claim {
    ingot_arena *arena;
    ingot_region *regions;
    size_t count, capacity; /* add with ingot_claim_add */
} ingot_claim;

ingot_status ingot_claim_add(ingot_claim *claim, const ingot_region *region, ingot_error *error);

#define INGOT_MAX_TACTICS 16
/* Operands past these are plain in every tactic. */
#define INGOT_MAX_LAID_OUT 32

/* One way to run a region. */
typedef struct ingot_tactic {
    const char *name; /* a constant string: "gemm_f32_14x32_avx512" */
    uint32_t id;      /* the backend's own */
    uint8_t input_layouts[INGOT_MAX_LAID_OUT], output_layouts[INGOT_MAX_LAID_OUT];
    size_t packed_bytes; /* of weights in the kernel's layout; 0: uses them where they lie */
    /* Where packed is made of this constant alone: pack_rows makes it, and regions whose tactics agree in it, packed_form and
     * packed_bytes share one. NULL: pack makes it. */
    const ingot_graph_value *packed_constant;
    uint32_t packed_form; /* the backend's own */
    double cost;          /* nanoseconds, a guess from the graph alone; smaller is better */
} ingot_tactic;

/* Layout of operand number index in such a list. */
static inline unsigned ingot_layout_at(const uint8_t *layouts, size_t index)
{
    return index < INGOT_MAX_LAID_OUT ? layouts[index] : INGOT_LAYOUT_PLAIN;
}

/* Sizes of a tensor for guesses of costs: a size that the graph does not know counts as small. type->rank sizes, none where the
 * rank is not known. */
void ingot_guess_dims(const ingot_type *type, int64_t *dims);

/* Rows of a constant come to pack_rows in multiples of so many, but for the last ones. */
#define INGOT_PACK_ROWS 64

/* One execution of a region. */
typedef struct ingot_step {
    const ingot_region *region;
    const ingot_tactic *tactic;
    const void *packed;
    const ingot_value *const *inputs;
    ingot_value *const *outputs; /* with shape and memory, but where the region has INGOT_OP_SIZES_OUTPUT */
    void *workspace;             /* as many bytes as measure said, aligned to INGOT_ALIGNMENT */
    size_t workspace_bytes;
    ingot_block *scratch; /* of the context, grows: for reference kernels */
    int threads;
    ingot_budget *budget;
    ingot_error *error;
} ingot_step;

typedef struct ingot_backend {
    uint32_t abi;
    const char *name; /* "cpu" */

    /* Number of devices here; 0 and a reason in error where there is none. */
    int (*probe)(ingot_error *error);
    ingot_status (*open)(int index, ingot_device **device, ingot_error *error);
    void (*close)(ingot_device *device);

    ingot_status (*claim)(ingot_device *device, const ingot_graph *graph, ingot_claim *claim, ingot_error *error);
    /* Fills at most INGOT_MAX_TACTICS, zeroed before; the first one is plain throughout. At least one, or INGOT_UNSUPPORTED
     * naming the node. */
    ingot_status (*tactics)(ingot_device *device, const ingot_region *region, ingot_tactic *tactics, size_t *count,
                            ingot_error *error);
    /* Writes tactic->packed_bytes; the region's constants are in its nodes' inputs. */
    ingot_status (*pack)(ingot_device *device, const ingot_region *region, const ingot_tactic *tactic, void *packed,
                         ingot_error *error);
    /* The same for rows first ... first + count - 1, along the first axis, of tactic->packed_constant: they lie at rows. Called
     * for one part after the other, so that the whole constant is never in memory beside what is packed. */
    void (*pack_rows)(ingot_device *device, const ingot_region *region, const ingot_tactic *tactic, size_t first,
                      size_t count, const void *rows, void *packed);
    /* Workspace of one run where inputs and outputs have these shapes (values without data). */
    ingot_status (*measure)(ingot_device *device, const ingot_region *region, const ingot_tactic *tactic,
                            const ingot_value *const *inputs, const ingot_value *const *outputs, int threads,
                            size_t *workspace_bytes, ingot_error *error);
    ingot_status (*run)(ingot_device *device, const ingot_step *step, void *stream);

    /* Layouts of the backend's own; NULL where there are none. Bytes of a tensor, false where that layout has no such tensors or
     * where they are beyond any memory; a name for people. */
    bool (*layout_bytes)(unsigned layout, ingot_element element, int rank, const int64_t *dims, size_t *bytes);
    const char *(*layout_name)(unsigned layout);
    /* The same tensor in another layout; one of the two is the plain one. */
    void (*reorder)(ingot_device *device, const ingot_value *from, unsigned from_layout, const ingot_value *to,
                    unsigned to_layout, int threads, void *stream);

    /* Memory of a space that the device owns, copies and events in stream order; NULL where host memory is all there is. */
    ingot_status (*alloc)(ingot_device *device, ingot_space space, size_t bytes, void **memory, ingot_error *error);
    void (*free)(ingot_device *device, ingot_space space, void *memory);
    ingot_status (*copy_async)(ingot_device *device, void *to, ingot_format to_format, const void *from,
                               ingot_format from_format, size_t count, void *stream, ingot_error *error);
    ingot_status (*event_record)(ingot_device *device, void **event, void *stream, ingot_error *error);
    ingot_status (*event_wait)(ingot_device *device, void *event, ingot_error *error);
} ingot_backend;

/* The CPU backend: src/cpu. */
extern const ingot_backend ingot_cpu_backend;
/* The reference kernel of an operator form; NULL: none. What folding runs. */
ingot_kernel ingot_reference_kernel(const ingot_op *op);

#endif

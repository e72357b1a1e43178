/* The plan of a graph: what runs, in which order, and where values live. Symbolic: it holds for every shape. A layout is what a
 * plan becomes for one set of input shapes: sizes, offsets in the arena, workspace. */
#ifndef INGOT_PLAN_PLAN_H
#define INGOT_PLAN_PLAN_H

#include <pthread.h>

#include "base/cancel.h"
#include "plan/backend.h"

#define INGOT_NO_SLOT SIZE_MAX

typedef struct ingot_plan ingot_plan;
typedef struct ingot_layout ingot_layout;

/* Where the value of a slot lives. The slot of a graph value has the number value->id and holds it in the plain layout; where
 * steps want it in another, slots past those of the graph hold it so, and the plain one may have no memory. */
typedef enum ingot_place {
    INGOT_PLACE_NONE, /* dead, or inside a region: no memory */
    INGOT_PLACE_CONSTANT,
    INGOT_PLACE_INPUT,  /* the caller's, or the default */
    INGOT_PLACE_BUFFER, /* a slice of the arena where its size is known, else a buffer of the context */
    INGOT_PLACE_VIEW,   /* the bytes of its root under another shape */
} ingot_place;

/* A place where a step holds a slot. */
typedef struct ingot_operand {
    size_t step, index; /* among the step's inputs or outputs */
    bool is_output;
} ingot_operand;

typedef struct ingot_slot {
    const ingot_graph_value *value;
    ingot_place place;
    unsigned layout; /* the backend's own, or INGOT_LAYOUT_PLAIN */
    bool is_home;    /* the layout in which the value is made: others come from it by a reorder */
    size_t root;     /* VIEW: the slot that has the memory (BUFFER, INPUT or CONSTANT); else the slot itself */
    size_t first_step, last_step; /* of a root: from being written to the last use of it or a view of it */
    bool escapes;                 /* of a root: it or a view of it is an output of the graph */
    bool is_read;                 /* of a constant root: a run reads it, not only pack */
    ingot_operand *operands;      /* of a buffer that escapes: its memory may be another in every run */
    size_t operand_count;
} ingot_slot;

typedef enum ingot_step_kind {
    INGOT_STEP_REGION,
    INGOT_STEP_VIEW,
    INGOT_STEP_CONTROL,
    INGOT_STEP_REORDER, /* input 0 in another layout */
} ingot_step_kind;

typedef struct ingot_plan_step {
    ingot_step_kind kind;
    const ingot_node *node; /* the last node of a region; of a reorder the one it is made for */
    const char *operators;  /* of the region, joined by '+', for people; given by who owns the plan */
    ingot_region region;    /* of kind REGION */
    ingot_tactic tactic;
    void *packed;             /* tactic.packed_bytes, or NULL */
    bool shares_packed;       /* it belongs to an earlier step */
    size_t *inputs, *outputs; /* slots; INGOT_NO_SLOT: left out */
    size_t input_count, output_count;
    ingot_plan **bodies; /* of kind CONTROL: one for each of node->bodies */
} ingot_plan_step;

struct ingot_plan {
    const ingot_graph *graph;
    const ingot_backend *backend;
    ingot_device *device;
    ingot_budget *budget; /* borrowed */
    ingot_arena *arena;   /* of the outermost plan; inner ones borrow it */
    ingot_plan_step *steps;
    size_t step_count;
    size_t first_number; /* of the first step; steps are numbered through the outermost plan, then its bodies */
    ingot_slot *slots;
    size_t slot_count;
    size_t max_operands;        /* of any node: inputs and outputs together */
    size_t max_region_operands; /* of any step */
    size_t packed_bytes;
    struct { /* the bounded cache of layouts, least recently used ones leave */
        pthread_mutex_t lock;
        ingot_layout **entries;
        size_t count, limit;
        uint64_t tick;
    } cache;
    bool owns_arena;
};

typedef struct ingot_plan_options {
    const ingot_backend *backend;
    ingot_device *device;
    ingot_budget *budget;
    size_t layout_limit; /* layouts that the cache keeps */
    const ingot_cancel *cancel;
    /* Told of bytes of constants that were packed or copied and will not be read again; NULL: nobody. */
    void (*packed)(void *argument, const void *data, size_t bytes);
    void *argument;
} ingot_plan_options;

/* Plans the graph and all bodies, and packs weights. The graph must not change as long as the plan lives. */
ingot_status ingot_plan_create(const ingot_graph *graph, const ingot_plan_options *options, ingot_plan **plan,
                               ingot_error *error);
void ingot_plan_release(ingot_plan *plan);

/* Bytes of the slot's memory for a tensor of this shape; false where they are beyond any memory. */
bool ingot_plan_slot_bytes(const ingot_plan *plan, size_t slot, ingot_element element, int rank, const int64_t *dims,
                           size_t *bytes);

/* Number of steps of the plan and all bodies in it. */
size_t ingot_plan_count_steps(const ingot_plan *plan);

/* ---- Shapes of one step, as numbers ---- */

/* Runs the shape rules of the step's nodes. types[id] holds what is known of each graph value, and gets the outputs'; content
 * (may be NULL) gives the value of a slot where it is at hand. scratch holds max_operands + 1 elements. Sizes that the rules
 * cannot tell stay INGOT_DIM_UNKNOWN. */
typedef const ingot_value *(*ingot_slot_content)(void *argument, size_t slot);
typedef struct ingot_shape_values {
    ingot_type *types;       /* [slot_count] */
    const ingot_dim **known; /* [slot_count], NULL where no content is carried; or NULL as a whole */
    size_t *known_counts;    /* [slot_count] */
    ingot_arena *arena;      /* for known content; NULL together with known */
    ingot_slot_content content;
    void *argument;
    ingot_infer_value *scratch;
} ingot_shape_values;
ingot_status ingot_plan_shape_step(const ingot_plan *plan, const ingot_plan_step *step,
                                   const ingot_shape_values *values, ingot_error *error);

/* ---- Layouts ---- */

typedef struct ingot_layout_slot {
    uint8_t element; /* ingot_element; small, since a session keeps many layouts */
    uint8_t rank;
    bool known;    /* shape and type are known before the run; else the step finds them out */
    uint32_t dims; /* index of the first size in layout->dims */
    size_t bytes;
    size_t offset; /* in the arena; INGOT_NO_SLOT: no memory of its own there */
} ingot_layout_slot;

struct ingot_layout {
    atomic_size_t references;
    uint64_t hash, used; /* of the key; tick of the last use */
    int64_t *key;        /* ranks and sizes of all inputs */
    size_t key_count;
    ingot_layout_slot *slots; /* [plan->slot_count] */
    int64_t *dims;
    size_t *workspace_offset, *workspace_bytes; /* [plan->step_count] */
    size_t arena_bytes, arena_bound;            /* bound: all that is live at once, at least: no arena can be smaller */
};

/* The layout for these inputs (of plan->graph's inputs, in order; only shapes are read): from the cache, or made and put
 * there. The caller gives its reference back with ingot_layout_release. Allocates only where it makes one. */
ingot_status ingot_plan_layout(ingot_plan *plan, const ingot_value *const *inputs, int threads, ingot_layout **layout,
                               ingot_error *error);
void ingot_layout_release(ingot_layout *layout);
/* Empties the cache, of bodies too. Layouts in use stay with who uses them. */
void ingot_plan_forget_layouts(ingot_plan *plan);
size_t ingot_plan_cached_layouts(ingot_plan *plan);

#endif

/* A diagnosis in the making: rules look at one view of the model each (its file, its typed graph, its session) and add findings. */
#ifndef INGOT_TOOLS_DOCTOR_H
#define INGOT_TOOLS_DOCTOR_H

#include "graph/graph.h"
#include "ingot/tools.h"
#include "onnx/import.h"
#include "onnx/proto.h"

struct ingot_diagnosis {
    ingot_arena *arena; /* of all strings */
    ingot_finding *findings;
    size_t count, capacity;
    ingot_buffer stub; /* NUL-terminated once something is in it */
};

/* A rule's own facts. */
typedef struct ingot_doctor_rule {
    const char *name;
    ingot_severity severity;
    const char *advice;
} ingot_doctor_rule;

/* What a rule counts while it looks around. */
typedef struct ingot_doctor_tally {
    size_t count;
    char where[256]; /* the first place */
} ingot_doctor_tally;

void ingot_doctor_count(ingot_doctor_tally *tally, const char *where);
void ingot_doctor_count_node(ingot_doctor_tally *tally, const ingot_node *node);

/* Adds a finding of count places; does nothing where tally (may be NULL: one place, the model) counted none. */
ingot_status ingot_doctor_add(ingot_diagnosis *d, const ingot_doctor_rule *rule, const ingot_doctor_tally *tally,
                              ingot_error *error, const char *what, ...) INGOT_PRINTF(5, 6);
/* Adds text to the stub. */
ingot_status ingot_doctor_write_stub(ingot_diagnosis *d, ingot_error *error, const char *format, ...)
    INGOT_PRINTF(3, 4);

/* Whether the node is that operator of ai.onnx, or one of a NULL-ended list. */
bool ingot_doctor_is(const ingot_node *node, const char *op_type);
bool ingot_doctor_is_any(const ingot_node *node, const char *const *op_types);

/* The views. */
ingot_status ingot_doctor_check_file(ingot_diagnosis *d, const char *path, bool no_mmap, ingot_error *error);
ingot_status ingot_doctor_check_operators(ingot_diagnosis *d, const ingot_model_proto *proto, ingot_error *error);
ingot_status ingot_doctor_check_graph(ingot_diagnosis *d, const ingot_model *model, ingot_error *error);
ingot_status ingot_doctor_check_quantization(ingot_diagnosis *d, const ingot_graph *graph, ingot_error *error);
ingot_status ingot_doctor_check_weights(ingot_diagnosis *d, const ingot_graph *graph, ingot_error *error);
ingot_status ingot_doctor_check_session(ingot_diagnosis *d, const ingot_session *session, ingot_error *error);

#endif

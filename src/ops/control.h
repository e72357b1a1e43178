/* Control flow: If, Loop, Scan, SequenceMap. Their bodies are graphs of their own, with captures as explicit inputs. */
#ifndef INGOT_OPS_CONTROL_H
#define INGOT_OPS_CONTROL_H

#include "ops/op.h"

typedef enum ingot_control {
    INGOT_CONTROL_IF,
    INGOT_CONTROL_LOOP,
    INGOT_CONTROL_SCAN,
    INGOT_CONTROL_SEQUENCE_MAP,
    INGOT_CONTROL_SEARCH, /* see ops/search.h */
} ingot_control;

typedef struct ingot_control_params {
    ingot_control control; /* first in the params of every control operator */
    /* Of Scan; empty lists stand for all zero, all axes as the model gives them. */
    int64_t scan_input_count;
    ingot_ints input_axes, input_directions, output_axes, output_directions;
} ingot_control_params;

/* Body of the node by its attribute's name; NULL: none. */
const ingot_body *ingot_node_body(const ingot_node *node, const char *attribute);

/* The type of a formal input of a body, as the operator feeds it. */
void ingot_control_set_input(const ingot_body *body, size_t input, const ingot_type *type);
/* Captures get the type and known content of what is captured. */
void ingot_control_set_captures(const ingot_node *node, const ingot_body *body);

/* Scan: number of state variables, and element index of a list that may be empty (then 0). */
size_t ingot_scan_state_count(const ingot_node *node, const ingot_control_params *params);
static inline int64_t ingot_ints_or_zero(const ingot_ints *list, size_t index)
{
    return index < list->count ? list->data[index] : 0;
}

#endif

/* Whether constants, attributes and nodes are the same bit by bit, and a hash for each that equal ones share. */
#ifndef INGOT_PASSES_TWINS_H
#define INGOT_PASSES_TWINS_H

#include "graph/graph.h"

/* Tensors of equal type, shape and content; other kinds are equal to themselves alone. */
bool ingot_same_content(const ingot_value *a, const ingot_value *b);
/* Of large tensors only some bytes go into the hash. */
uint64_t ingot_hash_content(const ingot_value *value);

/* Nodes that give the same: operator, opset, attributes, inputs. a must have every output that b has. */
bool ingot_same_node(const ingot_node *a, const ingot_node *b);
uint64_t ingot_hash_node(const ingot_node *node);

#endif

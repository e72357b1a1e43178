/* Attention as exporters write it: MatMul, what scales and masks the scores, Softmax, MatMul; with what puts the operands and
 * the result in order around them. */
#ifndef INGOT_CPU_ATTENTION_PATTERN_H
#define INGOT_CPU_ATTENTION_PATTERN_H

#include "cpu/attention/attention.h"
#include "cpu/family.h"
#include "ops/arrange.h"

enum { INGOT_QUERIES, INGOT_KEYS, INGOT_VALUES, INGOT_QKV };
#define INGOT_ATTENTION_STEPS 4

/* How an operand is found in an input of the region: through these nodes, the first one reads the input. */
typedef struct ingot_attention_chain {
    ingot_node *nodes[INGOT_ATTENTION_STEPS];
    int count;
    bool scaled;
    float scale;
} ingot_attention_chain;

/* What is done to the scores, in data-flow order. */
typedef struct ingot_attention_change {
    ingot_binary_kind kind;
    size_t input; /* SIZE_MAX: number */
    float number;
    const ingot_type *space; /* its scores' shape where there are views between, else NULL */
} ingot_attention_change;

typedef struct ingot_attention_pattern {
    ingot_attention_chain chains[INGOT_QKV];
    ingot_attention_change changes[INGOT_ATTENTION_CHANGES];
    size_t change_count;
    bool viewed;                         /* there are views among the scores' nodes */
    const ingot_transpose_params *order; /* of the result, or NULL */
} ingot_attention_pattern;

/* Finds it around the Softmax: fills the pattern, and the draft's nodes and inputs (Q's, K's and V's, then masks). */
bool ingot_attention_find(const ingot_cpu_claim *claim, ingot_node *softmax, ingot_attention_pattern *pattern,
                          ingot_cpu_draft *draft);

#endif

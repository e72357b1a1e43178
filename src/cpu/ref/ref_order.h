/* Putting elements in order: what TopK, NonMaxSuppression and Unique share. */
#ifndef INGOT_CPU_REF_REF_ORDER_H
#define INGOT_CPU_REF_REF_ORDER_H

#include "cpu/ref/ref_move.h"

/* An element by its place in the order: the greater key comes first, of equal keys the lower index. */
typedef struct ingot_ranked {
    uint64_t key;
    size_t index;
} ingot_ranked;

/* A key that orders numbers as they are: equal ones (0 and -0) have one key, and NaN comes after all. */
uint64_t ingot_ref_order_key(ingot_element element, const void *data, size_t index);

/* The first keep of what is added, in any order of adding: a heap with the last of them on top. */
typedef struct ingot_ranking {
    ingot_ranked *items; /* keep of them */
    size_t count, keep;
} ingot_ranking;

void ingot_ranking_add(ingot_ranking *ranking, ingot_ranked item);
/* Puts the items in order; ends the ranking. */
void ingot_ranking_sort(ingot_ranking *ranking);

#endif

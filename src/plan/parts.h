/* Values of a layout that lie inside of others: the parts of what is joined or split. */
#ifndef INGOT_PLAN_PARTS_H
#define INGOT_PLAN_PARTS_H

#include "plan/plan.h"

/* All of it by slot. {0} is empty. */
typedef struct ingot_parts {
    size_t *whole;  /* 1 + the slot that it is a part of; 0: none */
    size_t *offset; /* of the part in it, in bytes */
    size_t *living; /* of an outermost whole: values that still need its block, it included; 0: it has no parts */
} ingot_parts;

ingot_status ingot_parts_create(const ingot_plan *plan, ingot_parts *parts, ingot_error *error);
void ingot_parts_clear(ingot_parts *parts);
/* From the sizes of a layout. */
void ingot_parts_find(const ingot_plan *plan, const ingot_layout *layout, ingot_parts *parts);
/* The slot whose block a slot lies in, and where; itself where it is no part. */
size_t ingot_parts_place(const ingot_parts *parts, size_t slot, size_t *offset);

#endif

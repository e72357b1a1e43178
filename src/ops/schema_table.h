/* The generated tables behind schema.h; only schema.c reads them. Schemas are sorted by domain, name and version, the
 * lists of equal content share their rows. */
#ifndef INGOT_OPS_SCHEMA_TABLE_H
#define INGOT_OPS_SCHEMA_TABLE_H

#include "ops/schema.h"

typedef struct ingot_schema_domain {
    const char *name;
    int min_opset, max_opset;
} ingot_schema_domain;

extern const ingot_schema_domain ingot_schema_domains[];
extern const size_t ingot_schema_domain_count;
extern const ingot_schema ingot_schemas[];
extern const size_t ingot_schema_count;
extern const ingot_schema_value ingot_schema_values[];
extern const ingot_schema_attribute ingot_schema_attributes[];
extern const ingot_schema_constraint ingot_schema_constraints[];
extern const int64_t ingot_schema_ints[];
extern const float ingot_schema_floats[];
extern const char *const ingot_schema_strings[];

#endif

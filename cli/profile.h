/* What ingot profile has measured, and its forms: tables, JSON, a trace. */
#ifndef INGOT_CLI_PROFILE_H
#define INGOT_CLI_PROFILE_H

#include <jansson.h>

#include "ingot/tools.h"

typedef struct cli_profile_region {
    ingot_profile_region last; /* of the last run */
    double ms;                 /* the median of all runs; of control flow, less that of its bodies' regions */
} cli_profile_region;

/* Regions of the same operators together. */
typedef struct cli_profile_operator {
    const char *operators;
    size_t regions;
    uint64_t calls;
    double ms, flops, bytes;
} cli_profile_operator;

typedef struct cli_profile {
    int threads;
    size_t runs;
    double noted_ms, plain_ms;      /* medians of a run with steps noted and without */
    double flops_peak, memory_peak; /* a second */
    cli_profile_region *regions;    /* as ingot_profile_get numbers them */
    size_t region_count;
    cli_profile_operator *operators; /* longest time first */
    size_t operator_count;
    cli_profile_region **order; /* those that ran, longest time first */
    size_t order_count;
    double total_ms; /* of all regions */
} cli_profile;

/* Fills operators, order and total_ms. */
ingot_status cli_profile_finish(cli_profile *profile, ingot_error *error);
void cli_profile_free(cli_profile *profile);

/* top: most regions to print. */
void cli_profile_print(const cli_profile *profile, size_t top);
json_t *cli_profile_json(const cli_profile *profile);

/* The last run as a Chrome trace. */
ingot_status cli_profile_write_trace(const char *path, const ingot_profile *events, const cli_profile *profile,
                                     ingot_error *error);

#endif

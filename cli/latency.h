/* Times of many runs, kept in fixed memory: counts in buckets, 512 to each doubling, so a percentile is right to .1 %. */
#ifndef INGOT_CLI_LATENCY_H
#define INGOT_CLI_LATENCY_H

#include <stddef.h>
#include <stdint.h>

enum { CLI_LATENCY_STEPS = 512, CLI_LATENCY_DOUBLINGS = 40 };

typedef struct cli_latency {
    uint64_t count, sum, least, greatest; /* nanoseconds, but for count */
    uint64_t buckets[CLI_LATENCY_STEPS * CLI_LATENCY_DOUBLINGS];
} cli_latency;

/* Adds a time; makes no allocation. */
void cli_latency_add(cli_latency *latency, uint64_t nanoseconds);

/* The time, in milliseconds, that the fraction (0 to 1) of all times lies below; the mean. 0 where there is none. */
double cli_latency_percentile(const cli_latency *latency, double fraction);
double cli_latency_mean(const cli_latency *latency);

#endif

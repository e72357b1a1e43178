/* ingot bench --peak: the machine's own limits. */
#ifndef INGOT_CLI_BENCH_PEAK_H
#define INGOT_CLI_BENCH_PEAK_H

#include <stdbool.h>

/* Measures and prints them, with one thread and with threads (0: all that there are), in about that many seconds; returns the exit
 * code. */
int cli_bench_peak(const char *verb, int threads, double seconds, bool json);

#endif

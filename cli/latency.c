#include "latency.h"

/* Times under 2 * STEPS have a bucket each; above, each doubling has STEPS of them. */
static size_t bucket_of(uint64_t nanoseconds)
{
    size_t doubling = 0;
    while (nanoseconds >> doubling >= 2 * CLI_LATENCY_STEPS)
        doubling++;
    size_t bucket = doubling * CLI_LATENCY_STEPS + (size_t)(nanoseconds >> doubling);
    size_t last = CLI_LATENCY_STEPS * CLI_LATENCY_DOUBLINGS - 1;
    return bucket < last ? bucket : last;
}

/* The middle of a bucket. */
static double time_of(size_t bucket)
{
    if (bucket < 2 * CLI_LATENCY_STEPS)
        return (double)bucket;
    size_t doubling = bucket / CLI_LATENCY_STEPS - 1;
    uint64_t width = (uint64_t)1 << doubling;
    return (double)((uint64_t)(bucket - doubling * CLI_LATENCY_STEPS) * width) + (double)(width - 1) / 2;
}

void cli_latency_add(cli_latency *latency, uint64_t nanoseconds)
{
    if (latency->count++ == 0 || nanoseconds < latency->least)
        latency->least = nanoseconds;
    if (nanoseconds > latency->greatest)
        latency->greatest = nanoseconds;
    latency->sum += nanoseconds;
    latency->buckets[bucket_of(nanoseconds)]++;
}

double cli_latency_percentile(const cli_latency *latency, double fraction)
{
    uint64_t rank = (uint64_t)((double)latency->count * fraction), passed = 0;
    if (latency->count == 0)
        return 0;
    rank = rank < latency->count ? rank : latency->count - 1;
    size_t bucket = 0;
    while ((passed += latency->buckets[bucket]) <= rank)
        bucket++;
    double time = time_of(bucket), least = (double)latency->least, greatest = (double)latency->greatest;
    return (time < least ? least : time > greatest ? greatest : time) * 1e-6;
}

double cli_latency_mean(const cli_latency *latency)
{
    return latency->count ? (double)latency->sum / (double)latency->count * 1e-6 : 0;
}

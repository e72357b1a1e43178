/* The tables and the JSON of ingot profile. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile.h"
#include "report.h"
#include "value.h"

/* ---- Sums ---- */

static int longer_region(const void *a, const void *b)
{
    const cli_profile_region *x = *(cli_profile_region *const *)a, *y = *(cli_profile_region *const *)b;
    return (x->ms < y->ms) - (x->ms > y->ms);
}

static int longer_operator(const void *a, const void *b)
{
    const cli_profile_operator *x = a, *y = b;
    return (x->ms < y->ms) - (x->ms > y->ms);
}

static void add_to_operator(cli_profile *p, const cli_profile_region *region)
{
    size_t i = 0;
    while (i < p->operator_count && strcmp(p->operators[i].operators, region->last.region.operators) != 0)
        i++;
    if (i == p->operator_count)
        p->operators[p->operator_count++] = (cli_profile_operator){.operators = region->last.region.operators};
    cli_profile_operator *o = &p->operators[i];
    o->regions++;
    o->calls += region->last.calls;
    o->ms += region->ms;
    o->flops += region->last.region.flops;
    o->bytes += region->last.bytes;
}

ingot_status cli_profile_finish(cli_profile *p, ingot_error *error)
{
    p->order = calloc(p->region_count + 1, sizeof *p->order);
    p->operators = calloc(p->region_count + 1, sizeof *p->operators);
    if (!p->order || !p->operators)
        return cli_fail_memory(error, "the times");
    for (size_t i = 0; i < p->region_count; i++) /* those of bodies come behind the region that holds them */
        if (p->regions[i].last.calls > 0 && p->regions[i].last.body)
            p->regions[p->regions[i].last.parent].ms -= p->regions[i].ms;
    for (size_t i = 0; i < p->region_count; i++) {
        if (p->regions[i].last.calls == 0)
            continue;
        p->regions[i].ms = p->regions[i].ms < 0 ? 0 : p->regions[i].ms;
        p->order[p->order_count++] = &p->regions[i];
        p->total_ms += p->regions[i].ms;
        add_to_operator(p, &p->regions[i]);
    }
    qsort(p->order, p->order_count, sizeof *p->order, longer_region);
    qsort(p->operators, p->operator_count, sizeof *p->operators, longer_operator);
    return INGOT_OK;
}

void cli_profile_free(cli_profile *p)
{
    free(p->regions);
    free(p->operators);
    free(p->order);
}

/* ---- The roof ---- */

/* Part of the time that the machine would need at its best, and what it would wait for. */
typedef struct roof {
    double fraction;
    const char *limit;
} roof;

static roof roof_of(const cli_profile *p, double ms, double flops, double bytes)
{
    double arithmetic = p->flops_peak > 0 ? flops / p->flops_peak * 1e3 : 0;
    double memory = p->memory_peak > 0 ? bytes / p->memory_peak * 1e3 : 0;
    double best = arithmetic > memory ? arithmetic : memory;
    return (roof){ms > 0 ? best / ms : 0, best == 0 ? "none" : arithmetic > memory ? "arithmetic" : "memory"};
}

/* ---- Tables ---- */

static void print_figures(const cli_profile *p, double ms, double flops, double bytes)
{
    roof r = roof_of(p, ms, flops, bytes);
    printf("%10.4f %6.2f %10.3f %10.3f %9.1f %8.2f %6.1f  %-10s", ms, p->total_ms > 0 ? 100 * ms / p->total_ms : 0,
           flops * 1e-6, bytes / 1024 / 1024, ms > 0 ? flops / ms * 1e-6 : 0, ms > 0 ? bytes / ms * 1e-6 : 0,
           100 * r.fraction, r.limit);
}

#define FIGURES "        ms      %      MFLOP        MiB   GFLOP/s     GB/s  roof%  limit     "

static void print_region(const cli_profile *p, const cli_profile_region *region)
{
    const ingot_region_info *info = &region->last.region;
    print_figures(p, region->ms, info->flops, region->last.bytes);
    printf(" %7llu  %-28s %s: ", (unsigned long long)region->last.calls, info->tactic, info->operators);
    cli_print_text(stdout, info->name);
    if (region->last.body)
        printf("  (in %s of %s)", region->last.body, p->regions[region->last.parent].last.region.operators);
    putchar('\n');
}

void cli_profile_print(const cli_profile *p, size_t top)
{
    double flops = 0, bytes = 0;
    for (size_t i = 0; i < p->operator_count; i++) {
        flops += p->operators[i].flops;
        bytes += p->operators[i].bytes;
    }
    printf("run          %10.3f ms, the median of %zu runs; %+.1f %% with steps noted\n", p->plain_ms, p->runs,
           100 * (p->noted_ms / p->plain_ms - 1));
    printf("roof         %10.1f GFLOP/s FP32, %.1f GB/s from memory, with %d thread%s\n\n", p->flops_peak * 1e-9,
           p->memory_peak * 1e-9, p->threads, p->threads == 1 ? "" : "s");
    puts(FIGURES "   calls  tactic                       operators: last node");
    for (size_t i = 0; i < p->order_count && i < top; i++)
        print_region(p, p->order[i]);
    if (p->order_count > top)
        printf("and %zu more regions: --top\n", p->order_count - top);
    puts("\n" FIGURES "   calls  regions  operators");
    for (size_t i = 0; i < p->operator_count; i++) {
        const cli_profile_operator *o = &p->operators[i];
        print_figures(p, o->ms, o->flops, o->bytes);
        printf(" %7llu  %7zu  %s\n", (unsigned long long)o->calls, o->regions, o->operators);
    }
    print_figures(p, p->total_ms, flops, bytes);
    printf("          %7zu  all\n", p->order_count);
}

/* ---- JSON ---- */

static json_t *region_json(const cli_profile *p, size_t index)
{
    const cli_profile_region *region = &p->regions[index];
    const ingot_profile_region *last = &region->last;
    roof r = roof_of(p, region->ms, last->region.flops, last->bytes);
    return json_pack("{s:I, s:o, s:s, s:s, s:s, s:I, s:o, s:o, s:I, s:f, s:f, s:f, s:f, s:f, s:s}", "region",
                     (json_int_t)index, "name", cli_json_text(last->region.name), "operators", last->region.operators,
                     "backend", last->region.backend, "tactic", last->region.tactic, "depth", (json_int_t)last->depth,
                     "parent", last->body ? json_integer((json_int_t)last->parent) : json_null(), "body",
                     last->body ? json_string(last->body) : json_null(), "calls", (json_int_t)last->calls, "ms",
                     region->ms, "share", p->total_ms > 0 ? region->ms / p->total_ms : 0, "flops", last->region.flops,
                     "bytes", last->bytes, "roof", r.fraction, "limit", r.limit);
}

static json_t *operator_json(const cli_profile *p, const cli_profile_operator *o)
{
    roof r = roof_of(p, o->ms, o->flops, o->bytes);
    return json_pack("{s:s, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:s}", "operators", o->operators, "regions",
                     (json_int_t)o->regions, "calls", (json_int_t)o->calls, "ms", o->ms, "share",
                     p->total_ms > 0 ? o->ms / p->total_ms : 0, "flops", o->flops, "bytes", o->bytes, "roof",
                     r.fraction, "limit", r.limit);
}

json_t *cli_profile_json(const cli_profile *p)
{
    json_t *regions = json_array(), *operators = json_array();
    for (size_t i = 0; i < p->region_count; i++)
        if (p->regions[i].last.calls > 0)
            json_array_append_new(regions, region_json(p, i));
    for (size_t i = 0; i < p->operator_count; i++)
        json_array_append_new(operators, operator_json(p, &p->operators[i]));
    return json_pack("{s:i, s:I, s:f, s:f, s:f, s:f, s:f, s:o, s:o}", "threads", p->threads, "runs",
                     (json_int_t)p->runs, "p50_ms", p->plain_ms, "noted_p50_ms", p->noted_ms, "regions_ms", p->total_ms,
                     "peak_flops", p->flops_peak, "peak_bytes", p->memory_peak, "regions", regions, "operators",
                     operators);
}

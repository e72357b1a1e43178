/* ingot bench --peak: the machine's own limits. */
#include "bench_peak.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingot/tools.h"
#include "progress.h"
#include "report.h"
#include "value.h"

enum { MAX_PEAKS = 64 };

typedef struct peaks {
    ingot_peak one[MAX_PEAKS], all[MAX_PEAKS]; /* with one thread, with all */
    size_t count;
} peaks;

static ingot_status measure(int threads, double seconds, peaks *found, ingot_error *error)
{
    found->count = ingot_peak_count() < MAX_PEAKS ? ingot_peak_count() : MAX_PEAKS;
    double each = seconds / (double)(2 * found->count);
    for (size_t i = 0; i < found->count; i++) {
        CLI_TRY(ingot_peak_measure(i, 1, each, &found->one[i], error));
        CLI_TRY(ingot_peak_measure(i, threads, each, &found->all[i], error));
    }
    return INGOT_OK;
}

static double per_cycle(const ingot_peak *peak)
{
    return peak->clock > 0 ? peak->rate / peak->clock / peak->threads : 0;
}

static const char *unit_of(const ingot_peak *peak)
{
    return peak->clock == 0 ? "GB/s" : strncmp(peak->name, "int", 3) == 0 ? "GOP/s" : "GFLOP/s";
}

static void print(const peaks *found)
{
    printf("processor: %s\n\n%-12s %12s %12d          %9s %9s\n", ingot_cpu_description(), "threads", "1",
           found->all[0].threads, "GHz", "a cycle");
    for (size_t i = 0; i < found->count; i++) {
        const ingot_peak *one = &found->one[i];
        printf("%-12s %12.1f %12.1f %-8s", one->name, one->rate * 1e-9, found->all[i].rate * 1e-9, unit_of(one));
        if (one->clock > 0)
            printf(" %9.3f %9.1f", one->clock * 1e-9, per_cycle(one));
        putchar('\n');
    }
}

static json_t *peak_json(const ingot_peak *peak)
{
    return json_pack("{s:s, s:i, s:f, s:f, s:f}", "name", peak->name, "threads", peak->threads, "rate", peak->rate,
                     "clock", peak->clock, "per_cycle", per_cycle(peak));
}

static json_t *to_json(const peaks *found)
{
    json_t *list = json_array();
    for (size_t i = 0; i < found->count; i++) {
        json_array_append_new(list, peak_json(&found->one[i]));
        if (found->all[i].threads > 1)
            json_array_append_new(list, peak_json(&found->all[i]));
    }
    return json_pack("{s:s, s:o}", "processor", ingot_cpu_description(), "peaks", list);
}

int cli_bench_peak(const char *verb, int threads, double seconds, bool json)
{
    peaks found = {0};
    ingot_error error = {0};
    cli_progress_begin("measuring the machine");
    ingot_status status = measure(threads, seconds, &found, &error);
    cli_progress_end();
    if (status != INGOT_OK)
        return cli_report(verb, NULL, &error);
    if (!json)
        print(&found);
    else if (!cli_json_print(verb, to_json(&found)))
        return CLI_FAILED;
    return CLI_DONE;
}

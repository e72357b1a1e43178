/* ingot profile: where the time of a run goes. */
#include "profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model.h"
#include "progress.h"
#include "report.h"
#include "value.h"
#include "verbs.h"

enum { MAX_RUNS = 2000, MAX_EVENTS = 200000, MAX_STRIDE = 16 };

#define NOTE_MS  60e-6 /* what noting a step may take */
#define MAX_COST 0.015 /* of a run's time, for noting */

typedef struct profile_settings {
    cli_session_settings session;
    cli_input_settings input;
    double seconds;
    const char *trace;
    int64_t top;
    bool json;
} profile_settings;

static const cli_option options[] = {
    {"seconds", "S", "how long to run, at least three times; default 2", CLI_NUMBER,
     offsetof(profile_settings, seconds), 0, 86400},
    {"top", "N", "regions to show, those that take longest; default 40", CLI_INTEGER, offsetof(profile_settings, top),
     0, 1 << 30},
    {"trace", "FILE", "write the last run as a timeline for chrome://tracing or Perfetto", CLI_TEXT,
     offsetof(profile_settings, trace), 0, 0},
    {"batch", "N", "the first free size of each input that is made of random numbers", CLI_INTEGER,
     offsetof(profile_settings, input.batch), 1, 1 << 20},
    CLI_INPUT_OPTIONS(profile_settings, input),
    CLI_SESSION_OPTIONS(profile_settings, session),
    CLI_JSON_OPTION(profile_settings, json),
};

typedef struct profile_state {
    ingot_model *model;
    ingot_session *session;
    ingot_context *context;
    ingot_profile *profile;
    cli_inputs inputs;
    cli_profile result;
    size_t stride;         /* runs that note every region once */
    double *noted, *plain; /* [MAX_RUNS] milliseconds of a run, noted or not */
    double *times;         /* [region][MAX_RUNS] milliseconds in the region */
    size_t *counts;        /* [region] of them */
} profile_state;

static void free_state(profile_state *state)
{
    ingot_profile_release(state->profile);
    ingot_context_release(state->context);
    ingot_session_release(state->session);
    cli_inputs_free(&state->inputs);
    ingot_model_release(state->model);
    cli_profile_free(&state->result);
    free(state->noted);
    free(state->plain);
    free(state->times);
    free(state->counts);
}

static ingot_status load(const char *path, const profile_settings *settings, profile_state *state, ingot_error *error)
{
    CLI_TRY(cli_model_open(path, &settings->session, &state->model, error));
    CLI_TRY(cli_inputs_read(state->model, &settings->input, &state->inputs, error));
    CLI_TRY(cli_session_create(state->model, &settings->session, &state->inputs, &state->session, error));
    CLI_TRY(ingot_context_create(state->session, &state->context, error));
    for (size_t i = 0; i < state->inputs.count; i++)
        CLI_TRY(ingot_context_bind_input(state->context, state->inputs.names[i], state->inputs.values[i], error));
    CLI_TRY(ingot_profile_create(state->context, settings->trace ? MAX_EVENTS : 0, &state->profile, error));
    state->result.region_count = ingot_profile_region_count(state->profile);
    state->result.regions = calloc(state->result.region_count + 1, sizeof *state->result.regions);
    state->noted = calloc(MAX_RUNS, sizeof *state->noted);
    state->plain = calloc(MAX_RUNS, sizeof *state->plain);
    state->times = calloc(state->result.region_count + 1, MAX_RUNS * sizeof *state->times);
    state->counts = calloc(state->result.region_count + 1, sizeof *state->counts);
    if (!state->result.regions || !state->noted || !state->plain || !state->times || !state->counts)
        return cli_fail_memory(error, "the times");
    return INGOT_OK;
}

/* ---- Measuring ---- */

static ingot_status run_once(profile_state *state, bool noted, double *ms, ingot_error *error)
{
    ingot_profile_set_active(state->profile, noted);
    double start = cli_now_ms();
    CLI_TRY(ingot_context_run(state->context, NULL, error));
    *ms = cli_now_ms() - start;
    return INGOT_OK;
}

static void keep_times(profile_state *state)
{
    ingot_profile_region region;
    for (size_t i = 0; ingot_profile_get(state->profile, i, &region); i++) {
        if (region.calls == 0 && state->counts[i] > 0)
            continue;
        state->result.regions[i].last = region;
        if (region.calls > 0)
            state->times[i * MAX_RUNS + state->counts[i]++] = (double)region.ns * 1e-6;
    }
}

/* Runs for a while that does not count, then finds the stride with which noting costs little. */
static ingot_status settle(double seconds, profile_state *state, ingot_error *error)
{
    double ms, least = 1e9, end = cli_now_ms() + (seconds < 1 ? seconds : 1) * 300;
    do {
        CLI_TRY(run_once(state, false, &ms, error));
        least = ms < least ? ms : least;
    } while (cli_now_ms() < end);
    CLI_TRY(run_once(state, true, &ms, error));
    double all = (double)ingot_profile_event_total(state->profile) * NOTE_MS, part = all;
    for (state->stride = 1; part > MAX_COST * least && state->stride < MAX_STRIDE;)
        part = 2 * all / (double)(state->stride *= 2); /* alone, a step needs the time of its beginning, too */
    ingot_profile_set_stride(state->profile, state->stride);
    return INGOT_OK;
}

/* Runs that are noted and runs that are not, in turn, each first as often as the other: the difference is what noting costs. */
static ingot_status measure(double seconds, profile_state *state, ingot_error *error)
{
    size_t runs = 0, least = 3 * state->stride;
    double end = cli_now_ms() + seconds * 1e3;
    for (; runs < MAX_RUNS && (runs < least || cli_now_ms() < end); runs++) {
        for (size_t i = 0; i < 2; i++) {
            bool noted = (i + runs) % 2;
            CLI_TRY(run_once(state, noted, noted ? &state->noted[runs] : &state->plain[runs], error));
        }
        keep_times(state);
    }
    state->result.runs = runs;
    return INGOT_OK;
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *numbers, size_t count)
{
    if (count == 0)
        return 0;
    qsort(numbers, count, sizeof *numbers, compare_numbers);
    return count % 2 ? numbers[count / 2] : (numbers[count / 2 - 1] + numbers[count / 2]) / 2;
}

/* The best arithmetic and the memory of this machine, with as many threads. */
static ingot_status measure_roof(const profile_settings *settings, cli_profile *result, ingot_error *error)
{
    ingot_peak peak;
    for (size_t i = 0; i < ingot_peak_count(); i++) {
        CLI_TRY(ingot_peak_measure(i, (int)settings->session.threads, 0, &peak, error));
        bool arithmetic = strncmp(peak.name, "f32_", 4) == 0, memory = strcmp(peak.name, "memory_read") == 0;
        if (!arithmetic && !memory)
            continue;
        CLI_TRY(ingot_peak_measure(i, (int)settings->session.threads, 0.1, &peak, error));
        if (memory)
            result->memory_peak = peak.rate;
        else if (peak.rate > result->flops_peak)
            result->flops_peak = peak.rate;
        result->threads = peak.threads;
    }
    return INGOT_OK;
}

/* One more run with every step noted. */
static ingot_status trace(const char *path, profile_state *state, ingot_error *error)
{
    double ms;
    ingot_profile_set_stride(state->profile, 1);
    CLI_TRY(run_once(state, true, &ms, error));
    return cli_profile_write_trace(path, state->profile, &state->result, error);
}

static ingot_status profile(const char *path, const profile_settings *settings, profile_state *state,
                            ingot_error *error)
{
    cli_progress_begin("loading");
    CLI_TRY(load(path, settings, state, error));
    cli_progress_begin("measuring the machine");
    CLI_TRY(measure_roof(settings, &state->result, error));
    cli_progress_begin("running");
    CLI_TRY(settle(settings->seconds, state, error));
    CLI_TRY(measure(settings->seconds, state, error));
    cli_profile *result = &state->result;
    for (size_t i = 0; i < result->region_count; i++)
        result->regions[i].ms = median(state->times + i * MAX_RUNS, state->counts[i]);
    result->noted_ms = median(state->noted, result->runs);
    result->plain_ms = median(state->plain, result->runs);
    CLI_TRY(cli_profile_finish(result, error));
    return settings->trace ? trace(settings->trace, state, error) : INGOT_OK;
}

static int run_verb(const cli_verb *verb, int argc, char **argv)
{
    profile_settings settings = {
        .session = CLI_SESSION_DEFAULTS, .input = {.random_all = true}, .seconds = 2, .top = 40};
    cli_list arguments = {NULL, 0};
    profile_state state = {0};
    ingot_error error = {0};
    int code;
    if (!cli_arguments_parse(verb, argc, argv, &settings, &arguments, &code))
        return code;
    const char *path = arguments.items[0];
    if (cli_inputs_check(&settings.input, &error) != INGOT_OK) {
        code = cli_malformed(verb->name, "%s", error.message);
    } else {
        ingot_status status = profile(path, &settings, &state, &error);
        cli_progress_end();
        if (status != INGOT_OK)
            code = cli_report(verb->name, path, &error);
        else if (!settings.json)
            cli_profile_print(&state.result, (size_t)settings.top);
        else if (!cli_json_print(verb->name, cli_profile_json(&state.result)))
            code = CLI_FAILED;
        free_state(&state);
    }
    cli_arguments_free(verb, &settings, &arguments);
    return code;
}

const cli_verb cli_verb_profile = {
    .name = "profile",
    .arguments = "MODEL",
    .summary = "show where the time of a run goes",
    .details =
        "Shows for each region its time (the median of all runs), its share, its arithmetic and memory traffic, and\n"
        "how near it comes to the roof: the time that the machine's peak of FP32 arithmetic or its memory bandwidth,\n"
        "measured here with as many threads, would ask for, whichever is more. Traffic that a cache serves can pass\n"
        "that roof. Inputs that are not given are made of random numbers.",
    .example = "ingot profile resnet.onnx --threads 1 --trace resnet.json",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .least = 1,
    .most = 1,
    .run = run_verb,
};

/* ingot bench: how long loading and running take, and how much memory. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench_peak.h"
#include "latency.h"
#include "model.h"
#include "outputs.h"
#include "progress.h"
#include "report.h"
#include "value.h"
#include "verbs.h"

typedef struct bench_settings {
    cli_session_settings session;
    cli_input_settings input;
    double seconds;
    const char *output_dir;
    bool json, peak;
} bench_settings;

static const cli_option options[] = {
    {"seconds", "S", "how long to time runs, at least ten of them; default 2", CLI_NUMBER,
     offsetof(bench_settings, seconds), 0, 86400},
    {"batch", "N", "the first free size of each input that is made of random numbers", CLI_INTEGER,
     offsetof(bench_settings, input.batch), 1, 1 << 20},
    CLI_INPUT_OPTIONS(bench_settings, input),
    {"output-dir", "DIR", "write the outputs of the last run to DIR, as ingot run does", CLI_TEXT,
     offsetof(bench_settings, output_dir), 0, 0},
    {"peak", NULL, "measure the machine instead of a model: its arithmetic, its memory", CLI_FLAG,
     offsetof(bench_settings, peak), 0, 0},
    CLI_SESSION_OPTIONS(bench_settings, session),
    CLI_JSON_OPTION(bench_settings, json),
};

/* What is measured, and on what. */
typedef struct bench_state {
    ingot_model *model;
    ingot_session *session;
    ingot_context *context;
    cli_inputs inputs;
    cli_latency *latency;
    ingot_statistics statistics;
    double load_ms, first_ms, timed_ms, peak_mb;
} bench_state;

static void free_state(bench_state *state)
{
    ingot_context_release(state->context);
    ingot_session_release(state->session);
    cli_inputs_free(&state->inputs);
    ingot_model_release(state->model);
    free(state->latency);
}

/* The most memory that the process has held at once, in MiB; 0 where the system does not say. */
static double peak_memory(void)
{
    char line[256];
    unsigned long kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmHWM: %lu", &kib) == 1)
            break;
    if (status)
        fclose(status);
    return (double)kib / 1024;
}

/* Loading ends when the first run can start: inputs are bound; the time of reading them does not count. */
static ingot_status load(const char *path, const bench_settings *settings, bench_state *state, ingot_error *error)
{
    double start = cli_now_ms();
    CLI_TRY(cli_model_open(path, &settings->session, &state->model, error));
    state->load_ms = cli_now_ms() - start;
    CLI_TRY(cli_inputs_read(state->model, &settings->input, &state->inputs, error));
    start = cli_now_ms();
    CLI_TRY(cli_session_create(state->model, &settings->session, &state->inputs, &state->session, error));
    CLI_TRY(ingot_context_create(state->session, &state->context, error));
    for (size_t i = 0; i < state->inputs.count; i++)
        CLI_TRY(ingot_context_bind_input(state->context, state->inputs.names[i], state->inputs.values[i], error));
    state->load_ms += cli_now_ms() - start;
    return INGOT_OK;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The first run, a short stretch that is not counted, then runs back to back. */
static ingot_status measure(double seconds, bench_state *state, ingot_error *error)
{
    uint64_t start = now_ns();
    CLI_TRY(ingot_context_run(state->context, NULL, error));
    state->first_ms = (double)(now_ns() - start) * 1e-6;
    uint64_t end = now_ns() + (uint64_t)((seconds < 1 ? seconds : 1) * 0.3e9);
    while (now_ns() < end)
        CLI_TRY(ingot_context_run(state->context, NULL, error));
    uint64_t begin = now_ns(), before = begin, after;
    end = begin + (uint64_t)(seconds * 1e9);
    while (before < end || state->latency->count < 10) {
        CLI_TRY(ingot_context_run(state->context, NULL, error));
        after = now_ns();
        cli_latency_add(state->latency, after - before);
        before = after;
    }
    state->timed_ms = (double)(before - begin) * 1e-6;
    state->peak_mb = peak_memory();
    return INGOT_OK;
}

static ingot_status write_outputs(const char *folder, const bench_state *state, ingot_error *error)
{
    size_t count = ingot_session_output_count(state->session);
    const char **names = calloc(count + 1, sizeof *names);
    const ingot_value **values = calloc(count + 1, sizeof *values);
    ingot_status status = names && values ? INGOT_OK : cli_fail_memory(error, "the outputs");
    for (size_t i = 0; i < count && status == INGOT_OK; i++) {
        names[i] = ingot_session_output(state->session, i)->name;
        values[i] = ingot_context_output(state->context, i);
    }
    if (status == INGOT_OK)
        status = cli_outputs_write(folder, names, values, count, error);
    free(names);
    free(values);
    return status;
}

static ingot_status bench(const char *path, const bench_settings *settings, bench_state *state, ingot_error *error)
{
    state->latency = calloc(1, sizeof *state->latency);
    if (!state->latency)
        return cli_fail_memory(error, "the times");
    cli_progress_begin("loading");
    CLI_TRY(load(path, settings, state, error));
    cli_progress_begin("timing");
    CLI_TRY(measure(settings->seconds, state, error));
    ingot_statistics_init(&state->statistics);
    CLI_TRY(ingot_session_statistics(state->session, &state->statistics, error));
    return settings->output_dir ? write_outputs(settings->output_dir, state, error) : INGOT_OK;
}

static void print(const bench_state *state)
{
    const cli_latency *latency = state->latency;
    char text[CLI_TYPE_TEXT];
    for (size_t i = 0; i < state->inputs.count; i++) {
        fputs("input        ", stdout);
        cli_print_text(stdout, state->inputs.names[i]);
        printf("  %s\n", cli_value_text(state->inputs.values[i], text, sizeof text));
    }
    printf("load         %10.3f ms  (optimize %.1f, plan %.1f, pack %.1f, warm up %.1f)\n", state->load_ms,
           state->statistics.optimize_ms, state->statistics.plan_ms, state->statistics.pack_ms,
           state->statistics.warmup_ms);
    printf("first run    %10.3f ms\n", state->first_ms);
    printf("p50          %10.3f ms\n", cli_latency_percentile(latency, 0.5));
    printf("p90          %10.3f ms\n", cli_latency_percentile(latency, 0.9));
    printf("p99          %10.3f ms\n", cli_latency_percentile(latency, 0.99));
    printf("p99.9        %10.3f ms\n", cli_latency_percentile(latency, 0.999));
    printf("min, mean    %10.3f ms, %.3f ms over %llu runs\n", (double)latency->least * 1e-6, cli_latency_mean(latency),
           (unsigned long long)latency->count);
    printf("throughput   %10.2f runs/s\n", (double)latency->count / state->timed_ms * 1e3);
    printf("peak memory  %10.1f MiB  (arena %.1f, of which %.1f at once)\n", state->peak_mb,
           (double)state->statistics.peak_arena_bytes / (1 << 20),
           (double)state->statistics.bound_arena_bytes / (1 << 20));
}

static json_t *to_json(const bench_state *state)
{
    const cli_latency *latency = state->latency;
    return json_pack(
        "{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:I, s:f, s:f, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f}",
        "load_ms", state->load_ms, "first_ms", state->first_ms, "p50_ms", cli_latency_percentile(latency, 0.5),
        "p90_ms", cli_latency_percentile(latency, 0.9), "p99_ms", cli_latency_percentile(latency, 0.99), "p999_ms",
        cli_latency_percentile(latency, 0.999), "min_ms", (double)latency->least * 1e-6, "max_ms",
        (double)latency->greatest * 1e-6, "mean_ms", cli_latency_mean(latency), "runs", (json_int_t)latency->count,
        "throughput", (double)latency->count / state->timed_ms * 1e3, "rss_mb", state->peak_mb, "arena_bytes",
        (json_int_t)state->statistics.arena_bytes, "packed_bytes", (json_int_t)state->statistics.packed_bytes,
        "peak_arena_bytes", (json_int_t)state->statistics.peak_arena_bytes, "bound_arena_bytes",
        (json_int_t)state->statistics.bound_arena_bytes, "optimize_ms", state->statistics.optimize_ms, "plan_ms",
        state->statistics.plan_ms, "pack_ms", state->statistics.pack_ms, "warmup_ms", state->statistics.warmup_ms);
}

static int run_verb(const cli_verb *verb, int argc, char **argv)
{
    bench_settings settings = {.session = CLI_SESSION_DEFAULTS, .input = {.random_all = true}, .seconds = 2};
    cli_list arguments = {NULL, 0};
    bench_state state = {0};
    ingot_error error = {0};
    int code;
    if (!cli_arguments_parse(verb, argc, argv, &settings, &arguments, &code))
        return code;
    const char *path = arguments.count ? arguments.items[0] : NULL;
    if (!path != settings.peak) {
        code = cli_malformed(verb->name, settings.peak ? "--peak takes no MODEL" : "an argument is missing: MODEL");
    } else if (settings.peak) {
        code = cli_bench_peak(verb->name, (int)settings.session.threads, settings.seconds, settings.json);
    } else if (cli_inputs_check(&settings.input, &error) != INGOT_OK) {
        code = cli_malformed(verb->name, "%s", error.message);
    } else {
        ingot_status status = bench(path, &settings, &state, &error);
        cli_progress_end();
        if (status != INGOT_OK)
            code = cli_report(verb->name, path, &error);
        else if (!settings.json)
            print(&state);
        else if (!cli_json_print(verb->name, to_json(&state)))
            code = CLI_FAILED;
        free_state(&state);
    }
    cli_arguments_free(verb, &settings, &arguments);
    return code;
}

const cli_verb cli_verb_bench = {
    .name = "bench",
    .arguments = "MODEL | --peak",
    .summary = "time loading and running a model",
    .details =
        "load is the time until the first run can start: opening the model, making a session for the shapes of\n"
        "the inputs, binding them. The percentiles are over all runs, back to back, that follow the first one and\n"
        "a short stretch that is not counted. Inputs that are not given are made of random numbers.",
    .example = "ingot bench resnet.onnx --threads 4 --batch 8 --seconds 10",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .least = 0,
    .most = 1,
    .run = run_verb,
};

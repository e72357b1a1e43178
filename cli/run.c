/* ingot run: run a model once. */
#include <stdlib.h>

#include "labels.h"
#include "model.h"
#include "outputs.h"
#include "progress.h"
#include "report.h"
#include "value.h"
#include "verbs.h"

typedef struct run_settings {
    cli_session_settings session;
    cli_input_settings input;
    const char *output_dir, *labels;
    int64_t top;
    bool json;
} run_settings;

static const cli_option options[] = {
    CLI_INPUT_OPTIONS(run_settings, input),
    {"output-dir", "DIR",
     "write each output to DIR: NAME.npy, or .pb and .json for what NumPy\nlacks; '/' and ':' in a NAME "
     "become '_'",
     CLI_TEXT, offsetof(run_settings, output_dir), 0, 0},
    {"top", "K", "print the K best classes of each output of scores", CLI_INTEGER, offsetof(run_settings, top), 1,
     100000},
    {"labels", "FILE", "names of the classes, a line each, or @KEY: from the model's metadata", CLI_TEXT,
     offsetof(run_settings, labels), 0, 0},
    CLI_SESSION_OPTIONS(run_settings, session),
    CLI_JSON_OPTION(run_settings, json),
};

/* All that a run makes; freed as a whole. */
typedef struct run_state {
    ingot_model *model;
    ingot_session *session;
    cli_inputs inputs;
    cli_labels labels;
    const char **names;
    ingot_value **outputs;
    size_t count;
    double load_ms, run_ms;
} run_state;

static void free_state(run_state *state)
{
    for (size_t i = 0; state->outputs && i < state->count; i++)
        ingot_value_release(state->outputs[i]);
    free(state->outputs);
    free(state->names);
    cli_labels_free(&state->labels);
    cli_inputs_free(&state->inputs);
    ingot_session_release(state->session);
    ingot_model_release(state->model);
}

static ingot_status load(const char *path, const run_settings *settings, run_state *state, ingot_error *error)
{
    double start = cli_now_ms();
    CLI_TRY(cli_model_open(path, &settings->session, &state->model, error));
    state->load_ms = cli_now_ms() - start;
    if (settings->labels)
        CLI_TRY(cli_labels_read(settings->labels, state->model, &state->labels, error));
    CLI_TRY(cli_inputs_read(state->model, &settings->input, &state->inputs, error));
    start = cli_now_ms();
    CLI_TRY(cli_session_create(state->model, &settings->session, &state->inputs, &state->session, error));
    state->load_ms += cli_now_ms() - start;
    return INGOT_OK;
}

static ingot_status run(const run_settings *settings, run_state *state, ingot_error *error)
{
    state->count = ingot_session_output_count(state->session);
    state->names = calloc(state->count + 1, sizeof *state->names);
    state->outputs = calloc(state->count + 1, sizeof *state->outputs);
    if (!state->names || !state->outputs)
        return cli_fail_memory(error, "the outputs");
    for (size_t i = 0; i < state->count; i++)
        state->names[i] = ingot_session_output(state->session, i)->name;
    double start = cli_now_ms();
    CLI_TRY(ingot_session_run(state->session, NULL, state->inputs.names,
                              (const ingot_value *const *)state->inputs.values, state->inputs.count, state->names,
                              state->outputs, state->count, error));
    state->run_ms = cli_now_ms() - start;
    if (settings->output_dir)
        return cli_outputs_write(settings->output_dir, state->names, (const ingot_value *const *)state->outputs,
                                 state->count, error);
    return INGOT_OK;
}

static void print(const run_settings *settings, const run_state *state)
{
    for (size_t i = 0; i < state->count; i++) {
        const ingot_value *output = state->outputs[i];
        if (settings->top && cli_top_applies(output))
            cli_top_print(state->names[i], output, (size_t)settings->top, &state->labels);
        else
            cli_outputs_print(&state->names[i], &output, 1);
    }
    printf("load %.2f ms, run %.2f ms\n", state->load_ms, state->run_ms);
}

static json_t *to_json(const run_settings *settings, const run_state *state)
{
    json_t *outputs = json_array();
    for (size_t i = 0; i < state->count; i++) {
        const ingot_value *output = state->outputs[i];
        char type[CLI_TYPE_TEXT];
        json_t *entry = json_pack("{s:o, s:s}", "name", cli_json_text(state->names[i]), "type",
                                  cli_value_text(output, type, sizeof type));
        if (settings->top && cli_top_applies(output))
            json_object_set_new(entry, "top", cli_top_json(output, (size_t)settings->top, &state->labels));
        json_array_append_new(outputs, entry);
    }
    return json_pack("{s:o, s:f, s:f}", "outputs", outputs, "load_ms", state->load_ms, "run_ms", state->run_ms);
}

static int run_verb(const cli_verb *verb, int argc, char **argv)
{
    run_settings settings = {.session = CLI_SESSION_DEFAULTS};
    cli_list arguments = {NULL, 0};
    run_state state = {0};
    ingot_error error = {0};
    int code;
    if (!cli_arguments_parse(verb, argc, argv, &settings, &arguments, &code))
        return code;
    const char *path = arguments.items[0];
    if (settings.labels && !settings.top)
        code = cli_malformed(verb->name, "--labels needs --top K");
    else if (cli_inputs_check(&settings.input, &error) != INGOT_OK)
        code = cli_malformed(verb->name, "%s", error.message);
    if (code == CLI_DONE) {
        cli_progress_begin("running");
        ingot_status status = load(path, &settings, &state, &error);
        if (status == INGOT_OK)
            status = run(&settings, &state, &error);
        cli_progress_end();
        if (status != INGOT_OK)
            code = cli_report(verb->name, path, &error);
        else if (!settings.json)
            print(&settings, &state);
        else if (!cli_json_print(verb->name, to_json(&settings, &state)))
            code = CLI_FAILED;
        free_state(&state);
    }
    cli_arguments_free(verb, &settings, &arguments);
    return code;
}

const cli_verb cli_verb_run = {
    .name = "run",
    .arguments = "MODEL",
    .summary = "run a model once and show or keep its outputs",
    .details = "Prints name, type, shape and first elements of each output, and the time it took.\n"
               "Sizes that the model leaves free are those of the inputs.",
    .example = "ingot run resnet.onnx --input photo.jpg --preprocess imagenet --top 5 --labels classes.txt",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .least = 1,
    .most = 1,
    .run = run_verb,
};

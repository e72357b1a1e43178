/* ingot inspect: what a model is, and whether and how it runs. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "model.h"
#include "progress.h"
#include "report.h"
#include "value.h"
#include "verbs.h"

typedef struct inspect_settings {
    cli_session_settings session;
    bool json;
} inspect_settings;

static const cli_option options[] = {
    CLI_SESSION_OPTIONS(inspect_settings, session),
    CLI_JSON_OPTION(inspect_settings, json),
};

typedef const ingot_value_info *(*model_value)(const ingot_model *model, size_t index);

static void print_values(const char *title, const ingot_model *model, model_value get)
{
    char type[CLI_TYPE_TEXT];
    const ingot_value_info *info;
    printf("\n%s\n", title);
    for (size_t i = 0; (info = get(model, i)); i++) {
        fputs("  ", stdout);
        cli_print_text(stdout, info->name);
        fputs("  ", stdout);
        cli_print_text(stdout, cli_type_text(info->type, type, sizeof type));
        puts(info->has_default ? "  (has a default)" : "");
    }
}

static void print_line(const char *title, const char *text)
{
    if (!text[0])
        return;
    printf("%-14s", title);
    cli_print_text(stdout, text);
    putchar('\n');
}

/* The first line of a metadata value, cut where it is long. */
static void print_metadata(const ingot_model *model)
{
    const char *key, *value;
    for (size_t i = 0; (key = ingot_model_metadata(model, i, &value)); i++) {
        char shown[64];
        int length = snprintf(shown, sizeof shown, "%s", value);
        if (i == 0)
            puts("\nmetadata");
        fputs("  ", stdout);
        cli_print_text(stdout, key);
        fputs(" = ", stdout);
        cli_print_text(stdout, shown);
        puts(length >= (int)sizeof shown ? "..." : "");
    }
}

static void print_model(const char *path, int64_t size, const ingot_model *model)
{
    int64_t version;
    size_t nodes;
    const char *name;
    printf("%-14s", "file");
    cli_print_text(stdout, path);
    printf(" (%" PRId64 " bytes)\n%-14s%" PRId64 "\n", size, "IR version", ingot_model_ir_version(model));
    print_line("producer", ingot_model_producer(model));
    print_line("graph", ingot_model_graph_name(model));
    print_line("description", ingot_model_description(model));
    printf("%-14s", "opsets");
    for (size_t i = 0; (name = ingot_model_opset(model, i, &version)); i++)
        printf("%s%s %" PRId64, i ? ", " : "", name, version);
    printf("\n%-14s%zu, %zu bytes\n", "initializers", ingot_model_initializer_count(model),
           ingot_model_initializer_bytes(model));
    print_values("inputs", model, ingot_model_input);
    print_values("outputs", model, ingot_model_output);
    print_metadata(model);
    puts("\noperators");
    for (size_t i = 0; (name = ingot_model_operator(model, i, &nodes)); i++)
        printf("  %6zu  %s\n", nodes, name);
}

static void print_session(const ingot_session *session, const ingot_statistics *statistics)
{
    ingot_region_info region;
    printf("\nsession\n  %zu nodes after the passes, %zu regions\n  %zu bytes of packed weights, %zu bytes of "
           "activations\n"
           "  arena of %zu bytes, of which %zu are in use at once\n",
           statistics->node_count, statistics->region_count, statistics->packed_bytes, statistics->arena_bytes,
           statistics->peak_arena_bytes, statistics->bound_arena_bytes);
    puts("\nregions");
    printf("  %-8s %-28s %10s %12s  %s\n", "backend", "tactic", "MFLOP", "packed bytes", "operators: last node");
    for (size_t i = 0; ingot_session_region(session, i, &region); i++) {
        char flops[32] = "-"; /* sizes that are free give no number */
        if (region.flops > 0)
            snprintf(flops, sizeof flops, "%.3f", region.flops * 1e-6);
        printf("  %-8s %-28s %10s %12zu  %s: ", region.backend, region.tactic, flops, region.packed_bytes,
               region.operators);
        cli_print_text(stdout, region.name);
        putchar('\n');
    }
}

static json_t *values_json(const ingot_model *model, model_value get)
{
    json_t *list = json_array();
    const ingot_value_info *info;
    for (size_t i = 0; (info = get(model, i)); i++) {
        char type[CLI_TYPE_TEXT];
        json_t *shape = cli_shape_json(info->type);
        json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:b}", "name", cli_json_text(info->name), "type",
                                              cli_json_text(cli_type_text(info->type, type, sizeof type)), "shape",
                                              shape ? shape : json_null(), "has_default", info->has_default));
    }
    return list;
}

static json_t *model_json(const char *path, int64_t size, const ingot_model *model)
{
    json_t *opsets = json_object(), *metadata = json_object(), *operators = json_object();
    int64_t version;
    size_t nodes;
    const char *name, *value;
    for (size_t i = 0; (name = ingot_model_opset(model, i, &version)); i++)
        json_object_set_new(opsets, name, json_integer(version));
    for (size_t i = 0; (name = ingot_model_metadata(model, i, &value)); i++)
        json_object_set_new(metadata, name, cli_json_text(value));
    for (size_t i = 0; (name = ingot_model_operator(model, i, &nodes)); i++)
        json_object_set_new(operators, name, json_integer((json_int_t)nodes));
    return json_pack(
        "{s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:{s:I, s:I}}", "file", cli_json_text(path), "size",
        (json_int_t)size, "ir_version", (json_int_t)ingot_model_ir_version(model), "producer",
        cli_json_text(ingot_model_producer(model)), "graph", cli_json_text(ingot_model_graph_name(model)),
        "description", cli_json_text(ingot_model_description(model)), "opsets", opsets, "inputs",
        values_json(model, ingot_model_input), "outputs", values_json(model, ingot_model_output), "metadata", metadata,
        "operators", operators, "initializers", "count", (json_int_t)ingot_model_initializer_count(model), "bytes",
        (json_int_t)ingot_model_initializer_bytes(model));
}

static json_t *session_json(const ingot_session *session, const ingot_statistics *statistics)
{
    json_t *regions = json_array();
    ingot_region_info region;
    for (size_t i = 0; ingot_session_region(session, i, &region); i++)
        json_array_append_new(regions, json_pack("{s:o, s:s, s:s, s:s, s:f, s:I}", "name", cli_json_text(region.name),
                                                 "operators", region.operators, "backend", region.backend, "tactic",
                                                 region.tactic, "flops", region.flops, "packed_bytes",
                                                 (json_int_t)region.packed_bytes));
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "nodes", (json_int_t)statistics->node_count, "steps",
                     (json_int_t)statistics->region_count, "packed_bytes", (json_int_t)statistics->packed_bytes,
                     "arena_bytes", (json_int_t)statistics->arena_bytes, "peak_arena_bytes",
                     (json_int_t)statistics->peak_arena_bytes, "bound_arena_bytes",
                     (json_int_t)statistics->bound_arena_bytes, "regions", regions);
}

/* Prints what the model is, then what its session is, or why there is none: error, which the caller reports. */
static bool show(const cli_verb *verb, const inspect_settings *settings, const char *path, const ingot_model *model,
                 const ingot_session *session, const ingot_error *error)
{
    ingot_statistics statistics;
    ingot_statistics_init(&statistics);
    if (session)
        ingot_session_statistics(session, &statistics, NULL);
    if (!settings->json) {
        print_model(path, cli_file_size(path), model);
        if (session)
            print_session(session, &statistics);
        return true;
    }
    json_t *document = model_json(path, cli_file_size(path), model);
    json_object_set_new(document, "session", session ? session_json(session, &statistics) : json_null());
    json_object_set_new(document, "error", session ? json_null() : cli_json_text(error->message));
    return cli_json_print(verb->name, document);
}

static int inspect(const cli_verb *verb, const inspect_settings *settings, const char *path)
{
    ingot_model *model = NULL;
    ingot_session *session = NULL;
    ingot_error error = {0};
    int code = CLI_DONE;
    cli_progress_begin("loading");
    ingot_status status = cli_model_open(path, &settings->session, &model, &error);
    if (status == INGOT_OK)
        status = cli_session_create(model, &settings->session, NULL, &session, &error);
    cli_progress_end();
    if (model && !show(verb, settings, path, model, session, &error))
        code = CLI_FAILED;
    if (status != INGOT_OK)
        code = cli_report(verb->name, path, &error);
    ingot_session_release(session);
    ingot_model_release(model);
    return code;
}

static int run_verb(const cli_verb *verb, int argc, char **argv)
{
    inspect_settings settings = {.session = CLI_SESSION_DEFAULTS};
    cli_list arguments = {NULL, 0};
    int code;
    if (!cli_arguments_parse(verb, argc, argv, &settings, &arguments, &code))
        return code;
    code = inspect(verb, &settings, arguments.items[0]);
    cli_arguments_free(verb, &settings, &arguments);
    return code;
}

const cli_verb cli_verb_inspect = {
    .name = "inspect",
    .arguments = "MODEL",
    .summary = "show what a model is and how it runs",
    .details =
        "Loads the model as ingot run does. A model that cannot run is shown as far as it can be read; the reason\n"
        "goes to standard error and the exit code is 1.",
    .example = "ingot inspect resnet.onnx",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .least = 1,
    .most = 1,
    .run = run_verb,
};

#include "verify_case.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "outputs.h"
#include "report.h"
#include "value.h"

/* The case at work. */
typedef struct verify_case {
    char *folder; /* without slashes at its end */
    FILE *report;
    ingot_model *model;
    ingot_session *session;
    cli_tolerance tolerance;
    size_t failures;
} verify_case;

/* One data set of it. */
typedef struct data_set {
    char *folder;
    cli_inputs inputs; /* of the session; shapes are not used */
    const char **output_names;
    ingot_value **outputs;
    size_t output_count;
} data_set;

static ingot_status read_tolerance(const char *path, cli_tolerance *tolerance, ingot_error *error)
{
    json_error_t why;
    json_t *json = json_load_file(path, 0, &why);
    const json_t *relative = json_object_get(json, "rtol"), *absolute = json_object_get(json, "atol");
    bool good = json_is_number(relative) && json_is_number(absolute);
    if (good)
        *tolerance = (cli_tolerance){json_number_value(relative), json_number_value(absolute)};
    else if (json)
        cli_fail(error, INGOT_INVALID_INPUT, "%s: needs the numbers rtol and atol", path);
    else
        cli_fail(error, INGOT_INVALID_INPUT, "%s: line %d: %s", path, why.line, why.text);
    json_decref(json);
    return good ? INGOT_OK : INGOT_INVALID_INPUT;
}

static ingot_status load_tolerance(verify_case *c, ingot_error *error)
{
    c->tolerance = (cli_tolerance){1e-3, 1e-7};
    char *path = cli_format("%s/tolerance.json", c->folder);
    if (!path)
        return cli_fail_memory(error, "the name of a file");
    ingot_status status = cli_file_exists(path) ? read_tolerance(path, &c->tolerance, error) : INGOT_OK;
    free(path);
    return status;
}

/* ---- Inputs ---- */

/* Input files are numbered as the inputs of the graph are. Where there are fewer files than inputs, initializers that are
 * inputs too have none. */
static const ingot_value_info *input_of_file(const verify_case *c, size_t file, size_t file_count)
{
    size_t count = ingot_model_input_count(c->model);
    if (file_count == count)
        return ingot_model_input(c->model, file);
    for (size_t i = 0; i < count; i++) {
        const ingot_value_info *info = ingot_model_input(c->model, i);
        if (!info->has_default && file-- == 0)
            return info;
    }
    return NULL;
}

static char *numbered_file(const char *folder, const char *stem, size_t index, const char *extension)
{
    return cli_format("%s/%s_%zu.%s", folder, stem, index, extension);
}

static bool has_file(const char *folder, const char *stem, size_t index, const char *extension)
{
    char *path = numbered_file(folder, stem, index, extension);
    bool exists = path && cli_file_exists(path);
    free(path);
    return exists;
}

static bool is_bound(const data_set *set, const char *name)
{
    for (size_t i = 0; i < set->inputs.count; i++)
        if (strcmp(set->inputs.names[i], name) == 0)
            return true;
    return false;
}

/* A recorded value. ONNX before 1.13 had no bfloat16 to record: it wrote the bits as uint16. */
static ingot_status read_recorded(const char *path, const ingot_type_info *type, ingot_value **value,
                                  ingot_error *error)
{
    CLI_TRY(cli_value_read(path, type, value, error));
    if (type->kind != INGOT_KIND_TENSOR || type->element != INGOT_BFLOAT16 ||
        ingot_value_kind(*value) != INGOT_KIND_TENSOR || ingot_value_element(*value) != INGOT_UINT16)
        return INGOT_OK;
    ingot_value *bits = *value, *copy = NULL;
    ingot_status status = ingot_value_create_tensor(INGOT_BFLOAT16, ingot_value_rank(bits), ingot_value_dims(bits),
                                                    NULL, 0, &copy, error);
    if (status == INGOT_OK && ingot_value_bytes(bits) > 0)
        memcpy(ingot_value_data(copy), ingot_value_data(bits), ingot_value_bytes(bits));
    ingot_value_release(bits);
    *value = copy;
    return status;
}

/* An optional input without a file is an empty optional. */
static ingot_status add_empty_inputs(const verify_case *c, data_set *set, ingot_error *error)
{
    for (size_t i = 0; i < ingot_model_input_count(c->model); i++) {
        const ingot_value_info *info = ingot_model_input(c->model, i);
        if (info->type->kind != INGOT_KIND_OPTIONAL || info->has_default || is_bound(set, info->name))
            continue;
        CLI_TRY(ingot_value_create_optional(NULL, &set->inputs.values[set->inputs.count], error));
        set->inputs.names[set->inputs.count++] = info->name;
    }
    return INGOT_OK;
}

static ingot_status read_inputs(const verify_case *c, data_set *set, ingot_error *error)
{
    size_t count = 0, most;
    while (has_file(set->folder, "input", count, "pb"))
        count++;
    most = count + ingot_model_input_count(c->model) + 1;
    set->inputs.names = calloc(most, sizeof *set->inputs.names);
    set->inputs.values = calloc(most, sizeof *set->inputs.values);
    if (!set->inputs.names || !set->inputs.values)
        return cli_fail_memory(error, "the inputs");
    for (size_t i = 0; i < count; i++) {
        const ingot_value_info *info = input_of_file(c, i, count);
        if (!info)
            return cli_fail(error, INGOT_INVALID_INPUT, "input_%zu.pb: the model has fewer inputs", i);
        char *path = numbered_file(set->folder, "input", i, "pb");
        if (!path)
            return cli_fail_memory(error, "the name of a file");
        ingot_status status = read_recorded(path, info->type, &set->inputs.values[i], error);
        free(path);
        CLI_TRY(status);
        set->inputs.names[i] = info->name;
        set->inputs.count = i + 1;
    }
    return add_empty_inputs(c, set, error);
}

/* ---- Outputs ---- */

static ingot_status compare_json_file(const char *path, const ingot_value *got, cli_tolerance tolerance,
                                      cli_difference *difference, ingot_error *error)
{
    json_error_t why;
    json_t *wanted = json_load_file(path, JSON_DECODE_ANY, &why);
    if (!wanted)
        return cli_fail(error, INGOT_INVALID_INPUT, "%s: line %d: %s", path, why.line, why.text);
    json_t *json = cli_value_json(got);
    if (json)
        cli_compare_json(json, wanted, tolerance, difference);
    else
        cli_fail_memory(error, "an output as JSON");
    json_decref(json);
    json_decref(wanted);
    return error->status;
}

static ingot_status compare_proto_file(const char *path, const ingot_type_info *type, const ingot_value *got,
                                       cli_tolerance tolerance, cli_difference *difference, ingot_error *error)
{
    ingot_value *wanted = NULL;
    CLI_TRY(read_recorded(path, type, &wanted, error));
    cli_compare_values(got, wanted, tolerance, difference);
    ingot_value_release(wanted);
    return INGOT_OK;
}

/* Compares output number index; *recorded says whether the data set has it. */
static ingot_status compare_output(const verify_case *c, const data_set *set, size_t index, bool *recorded,
                                   cli_difference *difference, ingot_error *error)
{
    bool json = has_file(set->folder, "output", index, "json");
    *recorded = json || has_file(set->folder, "output", index, "pb");
    if (!*recorded)
        return INGOT_OK;
    char *path = numbered_file(set->folder, "output", index, json ? "json" : "pb");
    if (!path)
        return cli_fail_memory(error, "the name of a file");
    ingot_status status = json ? compare_json_file(path, set->outputs[index], c->tolerance, difference, error)
                               : compare_proto_file(path, ingot_session_output(c->session, index)->type,
                                                    set->outputs[index], c->tolerance, difference, error);
    free(path);
    return status;
}

static void report_difference(verify_case *c, const data_set *set, size_t index, const cli_difference *difference)
{
    c->failures++;
    fprintf(c->report, "%s: output '", set->folder);
    cli_print_text(c->report, set->output_names[index]);
    fprintf(c->report, "': largest difference %.4g %s", difference->largest, difference->text);
    if (difference->count > 1)
        fprintf(c->report, " (%zu elements differ)", difference->count);
    putc('\n', c->report);
}

static ingot_status compare_outputs(verify_case *c, const data_set *set, ingot_error *error)
{
    size_t compared = 0;
    for (size_t i = 0; i < set->output_count; i++) {
        cli_difference difference = {0, 0, ""};
        bool recorded = false;
        CLI_TRY(compare_output(c, set, i, &recorded, &difference, error));
        compared += recorded;
        if (difference.count)
            report_difference(c, set, i, &difference);
    }
    if (has_file(set->folder, "output", set->output_count, "pb"))
        return cli_fail(error, INGOT_INVALID_INPUT, "output_%zu.pb: the model has %zu outputs", set->output_count,
                        set->output_count);
    return compared ? INGOT_OK : cli_fail(error, INGOT_NOT_FOUND, "holds no output_J.pb and no output_J.json");
}

/* ---- Data sets ---- */

static void free_set(data_set *set)
{
    for (size_t i = 0; set->outputs && i < set->output_count; i++)
        ingot_value_release(set->outputs[i]);
    free(set->outputs);
    free(set->output_names);
    cli_inputs_free(&set->inputs);
    free(set->folder);
}

static ingot_status run_set(verify_case *c, data_set *set, ingot_error *error)
{
    CLI_TRY(read_inputs(c, set, error));
    set->output_count = ingot_session_output_count(c->session);
    set->output_names = calloc(set->output_count + 1, sizeof *set->output_names);
    set->outputs = calloc(set->output_count + 1, sizeof *set->outputs);
    if (!set->output_names || !set->outputs)
        return cli_fail_memory(error, "the outputs");
    for (size_t i = 0; i < set->output_count; i++)
        set->output_names[i] = ingot_session_output(c->session, i)->name;
    CLI_TRY(ingot_session_run(c->session, NULL, set->inputs.names, (const ingot_value *const *)set->inputs.values,
                              set->inputs.count, set->output_names, set->outputs, set->output_count, error));
    return compare_outputs(c, set, error);
}

static void report_error(verify_case *c, const char *place, const ingot_error *error)
{
    c->failures++;
    if (strncmp(error->message, place, strlen(place)) != 0)
        fprintf(c->report, "%s: ", place);
    cli_print_text(c->report, error->message);
    putc('\n', c->report);
}

/* Runs test_data_set_0, test_data_set_1, ... as far as there are any. */
static ingot_status run_sets(verify_case *c, ingot_error *error)
{
    for (size_t number = 0;; number++) {
        data_set set = {0};
        ingot_error why = {0};
        set.folder = cli_format("%s/test_data_set_%zu", c->folder, number);
        if (!set.folder)
            return cli_fail_memory(error, "the name of a file");
        bool exists = cli_file_exists(set.folder);
        if (exists && run_set(c, &set, &why) != INGOT_OK)
            report_error(c, set.folder, &why);
        free_set(&set);
        if (!exists)
            return number ? INGOT_OK : cli_fail(error, INGOT_NOT_FOUND, "holds no test_data_set_0");
    }
}

static ingot_status run_case(verify_case *c, const cli_session_settings *settings, ingot_error *error)
{
    CLI_TRY(load_tolerance(c, error));
    char *path = cli_format("%s/model.onnx", c->folder);
    if (!path)
        return cli_fail_memory(error, "the name of a file");
    ingot_status status = cli_model_open(path, settings, &c->model, error);
    free(path);
    CLI_TRY(status);
    CLI_TRY(cli_session_create(c->model, settings, NULL, &c->session, error));
    return run_sets(c, error);
}

static char *without_slashes(const char *folder)
{
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/')
        length--;
    return strndup(folder, length);
}

bool cli_verify_case(const char *folder, const cli_session_settings *settings, FILE *report)
{
    verify_case c = {.folder = without_slashes(folder), .report = report};
    ingot_error error = {0};
    ingot_status status = c.folder ? run_case(&c, settings, &error) : cli_fail_memory(&error, "the name of a folder");
    if (status != INGOT_OK)
        report_error(&c, c.folder ? c.folder : folder, &error);
    ingot_session_release(c.session);
    ingot_model_release(c.model);
    free(c.folder);
    return c.failures == 0;
}

/* ingot doctor: what is wrong or slow with a model, and what to do. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingot/tools.h"
#include "model.h"
#include "progress.h"
#include "report.h"
#include "value.h"
#include "verbs.h"

typedef struct doctor_settings {
    cli_session_settings session;
    cli_list ort_options;
    const char *stub;
    bool json;
} doctor_settings;

static const cli_option options[] = {
    {"stub", "FILE", "write C source with a custom operator to fill in for each that is not supported", CLI_TEXT,
     offsetof(doctor_settings, stub), 0, 0},
    {"ort-option", "NAME", "say what this session option of ONNX Runtime does here; may be repeated", CLI_LIST,
     offsetof(doctor_settings, ort_options), 0, 0},
    CLI_SESSION_OPTIONS(doctor_settings, session),
    CLI_JSON_OPTION(doctor_settings, json),
};

static const char *const severities[] = {[INGOT_NOTE] = "note", [INGOT_WARNING] = "warning", [INGOT_FAULT] = "fault"};

/* What is known of an option: an entry that says so where nothing is. */
static ingot_ort_option_info find_option(const char *name)
{
    ingot_ort_option_info info;
    for (size_t i = 0; ingot_ort_option(i, &info); i++)
        if (strcmp(info.name, name) == 0)
            return info;
    return (ingot_ort_option_info){name, false, "not an option that Ingot knows: it has no meaning here"};
}

/* ---- Printing ---- */

static void print_finding(const ingot_finding *finding)
{
    printf("%-8s %s: ", severities[finding->severity], finding->rule);
    cli_print_text(stdout, finding->what);
    if (finding->where[0]) {
        fputs("\n         where: ", stdout);
        cli_print_text(stdout, finding->where);
        if (finding->count > 1)
            printf(" and %zu more", finding->count - 1);
    }
    printf("\n         %s\n", finding->advice);
}

static void print_options(const cli_list *names)
{
    for (size_t i = 0; i < names->count; i++) {
        ingot_ort_option_info info = find_option(names->items[i]);
        printf("%-8s option ", info.has_effect ? "note" : "ignored");
        cli_print_text(stdout, info.name);
        printf(": %s\n", info.effect);
    }
}

static json_t *findings_json(const ingot_diagnosis *diagnosis)
{
    json_t *list = json_array();
    ingot_finding f;
    for (size_t i = 0; ingot_diagnosis_finding(diagnosis, i, &f); i++)
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:o, s:o, s:s, s:I}", "severity", severities[f.severity], "rule",
                                        f.rule, "what", cli_json_text(f.what), "where", cli_json_text(f.where),
                                        "advice", f.advice, "count", (json_int_t)f.count));
    return list;
}

static json_t *options_json(const cli_list *names)
{
    json_t *list = json_array();
    for (size_t i = 0; i < names->count; i++) {
        ingot_ort_option_info info = find_option(names->items[i]);
        json_array_append_new(list, json_pack("{s:o, s:b, s:s}", "name", cli_json_text(info.name), "has_effect",
                                              info.has_effect, "effect", info.effect));
    }
    return list;
}

static bool show(const cli_verb *verb, const doctor_settings *settings, const ingot_diagnosis *diagnosis)
{
    ingot_finding finding;
    size_t counts[3] = {0};
    if (settings->json)
        return cli_json_print(verb->name, json_pack("{s:o, s:o}", "findings", findings_json(diagnosis), "ort_options",
                                                    options_json(&settings->ort_options)));
    for (size_t i = 0; ingot_diagnosis_finding(diagnosis, i, &finding); i++) {
        print_finding(&finding);
        counts[finding.severity]++;
    }
    print_options(&settings->ort_options);
    printf("%zu faults, %zu warnings, %zu notes\n", counts[INGOT_FAULT], counts[INGOT_WARNING], counts[INGOT_NOTE]);
    return true;
}

/* ---- The verb ---- */

static ingot_status write_stub(const char *path, const char *text, ingot_error *error)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return cli_fail(error, INGOT_IO_ERROR, "%s: the stub could not be written there", path);
    bool written = fputs(text, file) >= 0;
    if (fclose(file) != 0 || !written)
        return cli_fail(error, INGOT_IO_ERROR, "%s: the stub could not be written in whole", path);
    return INGOT_OK;
}

static bool has_fault(const ingot_diagnosis *diagnosis)
{
    ingot_finding first; /* faults come first */
    return ingot_diagnosis_finding(diagnosis, 0, &first) && first.severity == INGOT_FAULT;
}

static ingot_status diagnose(const doctor_settings *settings, const char *path, ingot_diagnosis **diagnosis,
                             ingot_error *error)
{
    ingot_model_options model_options;
    ingot_session_options session_options;
    CLI_TRY(cli_register_custom_ops(&settings->session, error));
    cli_model_options(&settings->session, &model_options);
    cli_session_options(&settings->session, NULL, &session_options);
    return ingot_diagnose(path, &model_options, &session_options, diagnosis, error);
}

static int examine(const cli_verb *verb, const doctor_settings *settings, const char *path)
{
    ingot_diagnosis *diagnosis = NULL;
    ingot_error error = {0};
    cli_progress_begin("looking");
    ingot_status status = diagnose(settings, path, &diagnosis, &error);
    cli_progress_end();
    if (status == INGOT_OK && settings->stub && ingot_diagnosis_stub(diagnosis)[0])
        status = write_stub(settings->stub, ingot_diagnosis_stub(diagnosis), &error);
    int code = status == INGOT_OK ? CLI_DONE : cli_report(verb->name, path, &error);
    if (code == CLI_DONE && (!show(verb, settings, diagnosis) || has_fault(diagnosis)))
        code = CLI_FAILED;
    ingot_diagnosis_release(diagnosis);
    return code;
}

static int run_verb(const cli_verb *verb, int argc, char **argv)
{
    doctor_settings settings = {.session = CLI_SESSION_DEFAULTS};
    cli_list arguments = {NULL, 0};
    int code;
    if (!cli_arguments_parse(verb, argc, argv, &settings, &arguments, &code))
        return code;
    code = examine(verb, &settings, arguments.items[0]);
    cli_arguments_free(verb, &settings, &arguments);
    return code;
}

const cli_verb cli_verb_doctor = {
    .name = "doctor",
    .arguments = "MODEL",
    .summary = "say what is wrong or slow with a model, and what to do",
    .details =
        "Faults keep the model from running: all operators that are not supported are named, not only the first one.\n"
        "Warnings are likely not what was meant, or slow; notes are good to know. The exit code is 1 where there is a "
        "fault.",
    .example = "ingot doctor model.onnx --stub my_operators.c",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .least = 1,
    .most = 1,
    .run = run_verb,
};

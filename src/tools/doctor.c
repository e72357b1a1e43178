/* Diagnoses: collecting findings, and the order in which a model is looked at. */
#include "tools/doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void ingot_doctor_count(ingot_doctor_tally *tally, const char *where)
{
    if (tally->count++ == 0)
        snprintf(tally->where, sizeof tally->where, "%s", where);
}

void ingot_doctor_count_node(ingot_doctor_tally *tally, const ingot_node *node)
{
    char text[sizeof tally->where];
    ingot_doctor_count(tally, tally->count == 0 ? ingot_node_describe(node, text, sizeof text) : "");
}

bool ingot_doctor_is(const ingot_node *node, const char *op_type)
{
    return node && strcmp(node->domain, "ai.onnx") == 0 && strcmp(node->op_type, op_type) == 0;
}

bool ingot_doctor_is_any(const ingot_node *node, const char *const *op_types)
{
    for (; *op_types; op_types++)
        if (ingot_doctor_is(node, *op_types))
            return true;
    return false;
}

static ingot_status keep(ingot_diagnosis *d, const char *text, const char **kept, ingot_error *error)
{
    *kept = ingot_arena_strndup(d->arena, text, strlen(text));
    return *kept ? INGOT_OK : ingot_fail_memory(error, strlen(text), "a diagnosis");
}

ingot_status ingot_doctor_add(ingot_diagnosis *d, const ingot_doctor_rule *rule, const ingot_doctor_tally *tally,
                              ingot_error *error, const char *what, ...)
{
    char text[1024];
    ingot_finding finding = {.severity = rule->severity, .rule = rule->name, .advice = rule->advice, .count = 1};
    if (tally && tally->count == 0)
        return INGOT_OK;
    va_list arguments;
    va_start(arguments, what);
    vsnprintf(text, sizeof text, what, arguments);
    va_end(arguments);
    INGOT_TRY(keep(d, text, &finding.what, error));
    INGOT_TRY(keep(d, tally ? tally->where : "", &finding.where, error));
    if (tally)
        finding.count = tally->count;
    INGOT_TRY(ingot_grow(&d->findings, &d->capacity, d->count + 1, sizeof *d->findings, error));
    d->findings[d->count++] = finding;
    return INGOT_OK;
}

ingot_status ingot_doctor_write_stub(ingot_diagnosis *d, ingot_error *error, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof text)
        return ingot_fail(error, INGOT_INTERNAL, "a line of the stub of a custom operator is too long");
    size_t wanted = d->stub.size + (size_t)length + 1;
    INGOT_TRY(ingot_grow(&d->stub.data, &d->stub.capacity, wanted, 1, error));
    memcpy(d->stub.data + d->stub.size, text, (size_t)length + 1);
    d->stub.size += (size_t)length;
    return INGOT_OK;
}

/* ---- A whole diagnosis ---- */

static const ingot_doctor_rule cannot_run = {
    "cannot-run", INGOT_FAULT, "the message says where; faults named above, if there are any, are its cause"};

static ingot_status check_session(ingot_diagnosis *d, ingot_model *model, const ingot_session_options *options,
                                  ingot_error *error)
{
    ingot_session *session = NULL;
    ingot_error inner = {0};
    if (ingot_session_create(model, options, &session, &inner) != INGOT_OK)
        return ingot_doctor_add(d, &cannot_run, NULL, error, "no session can be made of it: %s", inner.message);
    ingot_status status = ingot_doctor_check_session(d, session, error);
    ingot_session_release(session);
    return status;
}

static ingot_status check_model(ingot_diagnosis *d, const char *path, const ingot_model_options *model_options,
                                const ingot_session_options *session_options, ingot_error *error)
{
    ingot_model *model = NULL;
    ingot_error inner = {0};
    INGOT_TRY(ingot_doctor_check_file(d, path, model_options && model_options->no_mmap, error));
    if (ingot_model_open(path, model_options, &model, &inner) != INGOT_OK)
        return ingot_doctor_add(d, &cannot_run, NULL, error, "it cannot be opened: %s", inner.message);
    ingot_status status = ingot_doctor_check_graph(d, model, error);
    if (status == INGOT_OK)
        status = check_session(d, model, session_options, error);
    ingot_model_release(model);
    return status;
}

/* Faults first, in the order they were found otherwise. */
static void sort(ingot_diagnosis *d)
{
    for (size_t i = 1; i < d->count; i++) {
        ingot_finding moving = d->findings[i];
        size_t to = i;
        for (; to > 0 && d->findings[to - 1].severity < moving.severity; to--)
            d->findings[to] = d->findings[to - 1];
        d->findings[to] = moving;
    }
}

ingot_status ingot_diagnose(const char *path, const ingot_model_options *model_options,
                            const ingot_session_options *session_options, ingot_diagnosis **diagnosis,
                            ingot_error *error)
{
    if (!path || !diagnosis)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT, "ingot_diagnose: path and diagnosis must be given");
    *diagnosis = NULL;
    ingot_diagnosis *d = ingot_calloc(1, sizeof *d);
    if (!d)
        return ingot_fail_memory(error, sizeof *d, "a diagnosis");
    d->arena = ingot_arena_create();
    ingot_status status = d->arena ? check_model(d, path, model_options, session_options, error)
                                   : ingot_fail_memory(error, 0, "a diagnosis");
    if (status != INGOT_OK) {
        ingot_diagnosis_release(d);
        return status;
    }
    sort(d);
    *diagnosis = d;
    return INGOT_OK;
}

void ingot_diagnosis_release(ingot_diagnosis *d)
{
    if (!d)
        return;
    ingot_arena_release(d->arena);
    ingot_free(d->findings);
    ingot_free(d->stub.data);
    ingot_free(d);
}

bool ingot_diagnosis_finding(const ingot_diagnosis *d, size_t index, ingot_finding *finding)
{
    if (!d || !finding || index >= d->count)
        return false;
    *finding = d->findings[index];
    return true;
}

const char *ingot_diagnosis_stub(const ingot_diagnosis *d)
{
    return d && d->stub.data ? d->stub.data : "";
}

/* Opening a model and making a session as the options that run, inspect, bench and verify share say. */
#ifndef INGOT_CLI_MODEL_H
#define INGOT_CLI_MODEL_H

#include "arguments.h"
#include "inputs.h"

typedef struct cli_session_settings {
    int64_t threads, opt_level;
    const char *device, *precision, *disable_passes;
    cli_list custom_ops;
    size_t memory_limit;
    bool no_mmap;
} cli_session_settings;

#define CLI_SESSION_DEFAULTS       \
    {                              \
        .opt_level = INGOT_OPT_ALL \
    }

/* The options, for the table of a verb whose settings are of this type and hold cli_session_settings in field. */
#define CLI_SESSION_OPTIONS(type, field)                                                                             \
    {"threads",                                                                                                      \
     "N",                                                                                                            \
     "threads of one run; default: as many as there are cores for it",                                               \
     CLI_INTEGER,                                                                                                    \
     offsetof(type, field.threads),                                                                                  \
     1,                                                                                                              \
     1024},                                                                                                          \
        {"device", "DEVICE", "cpu (the default), cuda or cuda:N", CLI_TEXT, offsetof(type, field.device), 0, 0},     \
        {"precision",                                                                                                \
         "fp32|tf32|fp16|bf16|int8",                                                                                 \
         "of the arithmetic; default fp32",                                                                          \
         CLI_CHOICE,                                                                                                 \
         offsetof(type, field.precision),                                                                            \
         0,                                                                                                          \
         0},                                                                                                         \
        {"opt-level",                                                                                                \
         "0|1|2",                                                                                                    \
         "passes over the graph: none, those that keep every bit, all (default)",                                    \
         CLI_INTEGER,                                                                                                \
         offsetof(type, field.opt_level),                                                                            \
         0,                                                                                                          \
         2},                                                                                                         \
        {"disable-passes", "NAME,...", "passes to leave out", CLI_TEXT, offsetof(type, field.disable_passes), 0, 0}, \
        {"memory-limit",                                                                                             \
         "BYTES",                                                                                                    \
         "most memory to use, such as 512M or 4G; default: .8 of the machine's",                                     \
         CLI_BYTES,                                                                                                  \
         offsetof(type, field.memory_limit),                                                                         \
         0,                                                                                                          \
         0},                                                                                                         \
        {"custom-ops",                                                                                               \
         "LIBRARY",                                                                                                  \
         "shared library of custom operators (ingot/custom_op.h); may be repeated",                                  \
         CLI_LIST,                                                                                                   \
         offsetof(type, field.custom_ops),                                                                           \
         0,                                                                                                          \
         0},                                                                                                         \
    {                                                                                                                \
        "no-mmap", NULL, "read the model into memory instead of mapping its file", CLI_FLAG,                         \
            offsetof(type, field.no_mmap), 0, 0                                                                      \
    }

#define CLI_JSON_OPTION(type, field)                                                 \
    {                                                                                \
        "json", NULL, "print one JSON object", CLI_FLAG, offsetof(type, field), 0, 0 \
    }

/* The options of the library that settings say; the shapes of inputs (may be NULL) are the warm-up shapes. */
void cli_model_options(const cli_session_settings *settings, ingot_model_options *options);
void cli_session_options(const cli_session_settings *settings, const cli_inputs *inputs,
                         ingot_session_options *options);
/* Registers the libraries of --custom-ops. */
ingot_status cli_register_custom_ops(const cli_session_settings *settings, ingot_error *error);

ingot_status cli_model_open(const char *path, const cli_session_settings *settings, ingot_model **model,
                            ingot_error *error);

ingot_status cli_session_create(ingot_model *model, const cli_session_settings *settings, const cli_inputs *inputs,
                                ingot_session **session, ingot_error *error);

/* Milliseconds of a clock that only goes forward. */
double cli_now_ms(void);

#endif

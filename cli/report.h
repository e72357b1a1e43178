/* Failing with a message, and telling the user: every message goes to standard error, nothing else does. */
#ifndef INGOT_CLI_REPORT_H
#define INGOT_CLI_REPORT_H

#include <stdio.h>

#include "ingot/ingot.h"

/* Exit codes of the command. */
enum {
    CLI_DONE = 0,
    CLI_FAILED = 1,   /* the model, the input or the work failed */
    CLI_MALFORMED = 2 /* the command line is malformed */
};

#if defined(__GNUC__)
#define CLI_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define CLI_PRINTF(text, first)
#endif

/* Returns the status of a failed call from the caller. */
#define CLI_TRY(expression)                   \
    do {                                      \
        ingot_status cli_try_ = (expression); \
        if (cli_try_ != INGOT_OK)             \
            return cli_try_;                  \
    } while (0)

/* Fills error, unless it holds one already, and returns status. */
ingot_status cli_fail(ingot_error *error, ingot_status status, const char *format, ...) CLI_PRINTF(3, 4);

/* The same for memory that could not be had for what. */
ingot_status cli_fail_memory(ingot_error *error, const char *what);

/* Puts "text: " in front of the message of an error that is set; returns the error's status. */
ingot_status cli_fail_at(ingot_error *error, const char *format, ...) CLI_PRINTF(2, 3);

/* Prints "ingot VERB: FILE: message" and returns CLI_FAILED. FILE is left out where it is NULL or the message starts with
 * it. */
int cli_report(const char *verb, const char *file, const ingot_error *error);

/* Prints "ingot VERB: text" and the way to the help, and returns CLI_MALFORMED. */
int cli_malformed(const char *verb, const char *format, ...) CLI_PRINTF(2, 3);

/* Prints text from a model or a file: control characters, which could steer a terminal, and bytes that are no
 * UTF-8 as \xNN. */
void cli_print_text(FILE *stream, const char *text);

/* Flushes standard output; CLI_FAILED with a message where anything written to it was lost, else code. */
int cli_finish(const char *verb, int code);

#endif

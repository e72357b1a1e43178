/* A line that says what is being done: on standard error, only where that is a terminal, only after a second. */
#ifndef INGOT_CLI_PROGRESS_H
#define INGOT_CLI_PROGRESS_H

#include <stddef.h>

/* Starts the wait for text, which stays the caller's until cli_progress_end or the next cli_progress_begin. */
void cli_progress_begin(const char *text);

/* Removes the line where it is shown. */
void cli_progress_end(void);

#endif

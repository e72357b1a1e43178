/* One case of ingot verify: a folder with a model and recorded inputs and outputs. */
#ifndef INGOT_CLI_VERIFY_CASE_H
#define INGOT_CLI_VERIFY_CASE_H

#include <stdio.h>

#include "model.h"

/* Runs all data sets of the case, and prints a line for each failure to report. True where there is none. */
bool cli_verify_case(const char *folder, const cli_session_settings *settings, FILE *report);

#endif

/* The verbs of the command, each in a file of its own. */
#ifndef INGOT_CLI_VERBS_H
#define INGOT_CLI_VERBS_H

#include "arguments.h"

extern const cli_verb cli_verb_bench, cli_verb_doctor, cli_verb_inspect, cli_verb_ops, cli_verb_profile, cli_verb_run,
    cli_verb_verify;

#endif

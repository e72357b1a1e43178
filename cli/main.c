/* The command ingot: finds the verb and hands the rest of the command line to it. */
#include <stdio.h>
#include <string.h>

#include "ingot/ingot.h"
#include "report.h"
#include "verbs.h"

/* The verbs, in the order of the help. A verb is one file and one line here. */
static const cli_verb *const verbs[] = {
    &cli_verb_run,     &cli_verb_inspect, &cli_verb_bench, &cli_verb_doctor,
    &cli_verb_profile, &cli_verb_verify,  &cli_verb_ops,
};
enum { VERB_COUNT = sizeof verbs / sizeof verbs[0] };

static void print_usage(FILE *stream)
{
    fputs("usage: ingot VERB [arguments] [options]\n\nIngot runs ONNX models.\n\nverbs:\n", stream);
    for (size_t i = 0; i < VERB_COUNT; i++)
        fprintf(stream, "  %-10s%s\n", verbs[i]->name, verbs[i]->summary);
    fputs("\n  ingot VERB --help     the options of a verb, with an example\n"
          "  ingot --version       the version of the library in use\n",
          stream);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stderr);
        return CLI_MALFORMED;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        print_usage(stdout);
        return cli_finish(name, CLI_DONE);
    }
    if (strcmp(name, "--version") == 0) {
        printf("ingot %s\n", ingot_version());
        return cli_finish(name, CLI_DONE);
    }
    for (size_t i = 0; i < VERB_COUNT; i++)
        if (strcmp(verbs[i]->name, name) == 0)
            return cli_finish(name, verbs[i]->run(verbs[i], argc - 2, argv + 2));
    fprintf(stderr, "ingot: there is no verb '%s'; the verbs are:", name);
    for (size_t i = 0; i < VERB_COUNT; i++)
        fprintf(stderr, " %s", verbs[i]->name);
    fputs("\n", stderr);
    return CLI_MALFORMED;
}

/* ingot ops: the operators that this ingot runs. */
#include <stdio.h>

#include "model.h"
#include "report.h"
#include "value.h"
#include "verbs.h"

typedef struct ops_settings {
    bool json;
} ops_settings;

static const cli_option options[] = {
    CLI_JSON_OPTION(ops_settings, json),
};

static json_t *to_json(void)
{
    json_t *list = json_array();
    ingot_operator_info info;
    for (size_t i = 0; ingot_operator(i, &info); i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:i, s:s, s:s, s:s}", "domain", info.domain, "name",
                                              info.name, "since_version", info.since_version, "types", info.types,
                                              "backends", info.backends, "summary", info.summary));
    return json_pack("{s:o}", "operators", list);
}

static void print(void)
{
    ingot_operator_info info;
    size_t count = 0;
    printf("%-14s %-30s %5s  %-10s %s\n", "domain", "operator", "since", "backends", "types");
    for (; ingot_operator(count, &info); count++)
        printf("%-14s %-30s %5d  %-10s %s\n", info.domain, info.name, info.since_version, info.backends, info.types);
    printf("%zu operator versions\n", count);
}

static int run_verb(const cli_verb *verb, int argc, char **argv)
{
    ops_settings settings = {false};
    cli_list arguments = {NULL, 0};
    int code;
    if (!cli_arguments_parse(verb, argc, argv, &settings, &arguments, &code))
        return code;
    if (!settings.json)
        print();
    else if (!cli_json_print(verb->name, to_json()))
        code = CLI_FAILED;
    cli_arguments_free(verb, &settings, &arguments);
    return code;
}

const cli_verb cli_verb_ops = {
    .name = "ops",
    .arguments = "",
    .summary = "list the operators that can be run",
    .details = "A line for each operator and each opset version that changed it.",
    .example = "ingot ops --json",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .least = 0,
    .most = 0,
    .run = run_verb,
};

#include "arguments.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

bool cli_parse_integer(const char *text, int64_t *value)
{
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (end == text || *end || errno || (text[0] != '-' && (text[0] < '0' || text[0] > '9')))
        return false;
    *value = number;
    return true;
}

bool cli_parse_bytes(const char *text, size_t *value)
{
    static const char units[] = "KMGT";
    char *end;
    if (text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (errno)
        return false;
    if (*end) {
        const char *unit = strchr(units, *end);
        if (!unit || end[1])
            return false;
        int shift = 10 * (int)(unit - units + 1);
        if (number > (SIZE_MAX >> shift))
            return false;
        number <<= shift;
    }
    *value = (size_t)number;
    return number <= SIZE_MAX;
}

bool cli_parse_number(const char *text, double *value)
{
    char *end;
    double number = strtod(text, &end);
    if (end == text)
        return false;
    if (*end == '/') {
        const char *divisor = end + 1;
        number /= strtod(divisor, &end);
        if (end == divisor)
            return false;
    }
    *value = number;
    return *end == '\0' && isfinite(number);
}

static bool is_choice(const char *choices, const char *text)
{
    size_t length = strlen(text);
    for (const char *word = choices; word; word = strchr(word, '|')) {
        word += *word == '|';
        if (strncmp(word, text, length) == 0 && (word[length] == '|' || word[length] == '\0'))
            return length > 0;
    }
    return false;
}

/* Appends word to list; its memory, enough for every word of the command line, is made on first use. */
static bool append(cli_list *list, const char *word, int argc)
{
    if (!list->items)
        list->items = calloc((size_t)argc + 1, sizeof *list->items);
    if (!list->items)
        return false;
    list->items[list->count++] = word;
    return true;
}

static int bad_value(const cli_verb *verb, const cli_option *option, const char *text, const char *expected)
{
    return cli_malformed(verb->name, "--%s %s: expected %s", option->name, text, expected);
}

static int out_of_range(const cli_verb *verb, const cli_option *option, const char *text, const char *what)
{
    char expected[96];
    snprintf(expected, sizeof expected, "%s from %.10g to %.10g", what, option->minimum, option->maximum);
    return bad_value(verb, option, text, expected);
}

/* Stores the value of an option in its field; the exit code where it is no such value. */
static int store(const cli_verb *verb, const cli_option *option, const char *text, char *settings, int argc)
{
    void *field = settings + option->offset;
    int64_t integer;
    double number;
    switch (option->kind) {
    case CLI_FLAG:
        *(bool *)field = true;
        return CLI_DONE;
    case CLI_TEXT:
        *(const char **)field = text;
        return CLI_DONE;
    case CLI_CHOICE:
        if (!is_choice(option->argument, text))
            return bad_value(verb, option, text, option->argument);
        *(const char **)field = text;
        return CLI_DONE;
    case CLI_LIST:
        return append(field, text, argc) ? CLI_DONE : cli_malformed(verb->name, "no memory for the options");
    case CLI_INTEGER:
        if (!cli_parse_integer(text, &integer) || (double)integer < option->minimum ||
            (double)integer > option->maximum)
            return out_of_range(verb, option, text, "a whole number");
        *(int64_t *)field = integer;
        return CLI_DONE;
    case CLI_NUMBER:
        if (!cli_parse_number(text, &number) || number < option->minimum || number > option->maximum)
            return out_of_range(verb, option, text, "a number");
        *(double *)field = number;
        return CLI_DONE;
    case CLI_BYTES:
        if (!cli_parse_bytes(text, field))
            return bad_value(verb, option, text, "a number of bytes such as 512M or 4G");
        return CLI_DONE;
    }
    return CLI_MALFORMED;
}

/* Prints help, its lines after the first indented by column. */
static void print_lines(const char *help, int column)
{
    const char *end;
    while ((end = strchr(help, '\n'))) {
        printf("%.*s\n%*s", (int)(end - help), help, column, "");
        help = end + 1;
    }
    puts(help);
}

static void print_option(const char *name, const char *argument, const char *help)
{
    enum { COLUMN = 27 };
    char left[128];
    snprintf(left, sizeof left, "  --%s%s%s", name, argument ? " " : "", argument ? argument : "");
    if (strlen(left) < COLUMN - 1)
        printf("%-*s", COLUMN, left);
    else
        printf("%s\n%*s", left, COLUMN, "");
    print_lines(help, COLUMN);
}

static void print_help(const cli_verb *verb)
{
    printf("usage: ingot %s%s%s [options]\n\n%s\n", verb->name, verb->arguments[0] ? " " : "", verb->arguments,
           verb->summary);
    if (verb->details[0])
        printf("\n%s\n", verb->details);
    puts("\noptions:");
    for (size_t i = 0; i < verb->option_count; i++)
        print_option(verb->options[i].name, verb->options[i].argument, verb->options[i].help);
    print_option("help", NULL, "this text");
    printf("\nexample:\n  %s\n", verb->example);
}

static const cli_option *find_option(const cli_verb *verb, const char *name, size_t length)
{
    for (size_t i = 0; i < verb->option_count; i++) {
        const cli_option *option = &verb->options[i];
        if (strlen(option->name) == length && memcmp(option->name, name, length) == 0)
            return option;
    }
    return NULL;
}

/* Reads the option at argv[*index] and its value, which moves *index on where it is the next word. */
static int parse_option(const cli_verb *verb, int argc, char **argv, int *index, char *settings)
{
    const char *word = argv[*index], *name = word + 2, *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const cli_option *option = find_option(verb, name, length);
    if (!option)
        return cli_malformed(verb->name, "unknown option --%.*s", (int)length, name);
    if (option->kind == CLI_FLAG) {
        if (equals)
            return cli_malformed(verb->name, "--%s takes no value", option->name);
        return store(verb, option, NULL, settings, argc);
    }
    if (equals)
        return store(verb, option, equals + 1, settings, argc);
    if (*index + 1 >= argc)
        return cli_malformed(verb->name, "--%s needs a value: %s", option->name, option->argument);
    return store(verb, option, argv[++*index], settings, argc);
}

static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static int parse_words(const cli_verb *verb, int argc, char **argv, void *settings, cli_list *arguments)
{
    bool options_ended = false;
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        int code = CLI_DONE;
        if (!options_ended && strcmp(word, "--") == 0)
            options_ended = true;
        else if (!options_ended && strncmp(word, "--", 2) == 0)
            code = parse_option(verb, argc, argv, &i, settings);
        else if (!options_ended && word[0] == '-' && word[1])
            code = cli_malformed(verb->name, "unknown option %s", word);
        else if (arguments->count == verb->most)
            code = cli_malformed(verb->name, "one argument too many: %s", word);
        else if (!append(arguments, word, argc))
            code = cli_malformed(verb->name, "no memory for the arguments");
        if (code != CLI_DONE)
            return code;
    }
    if (arguments->count < verb->least)
        return cli_malformed(verb->name, "an argument is missing: %s", verb->arguments);
    return CLI_DONE;
}

bool cli_arguments_parse(const cli_verb *verb, int argc, char **argv, void *settings, cli_list *arguments, int *code)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (is_help(argv[i])) {
            print_help(verb);
            *code = CLI_DONE;
            return false;
        }
    }
    *code = parse_words(verb, argc, argv, settings, arguments);
    if (*code == CLI_DONE)
        return true;
    cli_arguments_free(verb, settings, arguments);
    return false;
}

void cli_arguments_free(const cli_verb *verb, void *settings, cli_list *arguments)
{
    for (size_t i = 0; i < verb->option_count; i++) {
        if (verb->options[i].kind != CLI_LIST)
            continue;
        cli_list *list = (void *)((char *)settings + verb->options[i].offset);
        free(list->items);
        *list = (cli_list){NULL, 0};
    }
    free(arguments->items);
    *arguments = (cli_list){NULL, 0};
}

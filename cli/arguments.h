/* The command line of a verb: one table of options gives its parsing, its --help text and its error messages. */
#ifndef INGOT_CLI_ARGUMENTS_H
#define INGOT_CLI_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum cli_option_kind {
    CLI_FLAG,    /* bool; no value */
    CLI_TEXT,    /* const char * */
    CLI_CHOICE,  /* const char *; one of the words that argument lists, separated by '|' */
    CLI_LIST,    /* cli_list; may be given many times */
    CLI_INTEGER, /* int64_t between minimum and maximum */
    CLI_NUMBER,  /* double between minimum and maximum */
    CLI_BYTES,   /* size_t; a number that may end in K, M, G or T, powers of 1024 */
} cli_option_kind;

typedef struct cli_option {
    const char *name;     /* without the dashes */
    const char *argument; /* what --help calls the value; NULL for a flag */
    const char *help;     /* lines separated by \n */
    cli_option_kind kind;
    size_t offset; /* of the field in the verb's settings */
    double minimum, maximum;
} cli_option;

/* Words of the command line, in their order. The words are borrowed; free(items) is cli_arguments_free's. */
typedef struct cli_list {
    const char **items;
    size_t count;
} cli_list;

typedef struct cli_verb {
    const char *name;
    const char *arguments; /* what follows the options: "MODEL" */
    const char *summary;   /* one line */
    const char *details;   /* more lines of --help, "" for none */
    const char *example;   /* a whole command line */
    const cli_option *options;
    size_t option_count;
    size_t least, most; /* how many arguments beside the options */
    int (*run)(const struct cli_verb *verb, int argc,
               char **argv); /* returns the exit code; argv starts after the verb */
} cli_verb;

/* Fills settings, which the caller has set to its defaults, and arguments. Returns true when the verb is to go on; else
 * help was printed or the command line was malformed, *code is the exit code, and nothing is left to free. */
bool cli_arguments_parse(const cli_verb *verb, int argc, char **argv, void *settings, cli_list *arguments, int *code);

/* Frees the lists that parsing made. */
void cli_arguments_free(const cli_verb *verb, void *settings, cli_list *arguments);

/* Reads a whole number or a byte count such as "512M" from text; false where it is none or too large. */
bool cli_parse_integer(const char *text, int64_t *value);
bool cli_parse_bytes(const char *text, size_t *value);
/* Reads a finite number, or a quotient of two such as "1/255". */
bool cli_parse_number(const char *text, double *value);

#endif

/* Names of classes, and the best classes of an output. */
#ifndef INGOT_CLI_LABELS_H
#define INGOT_CLI_LABELS_H

#include <jansson.h>

#include "ingot/ingot.h"

typedef struct cli_labels {
    char *text;         /* holds all lines; both are freed by cli_labels_free */
    const char **lines; /* line index is the name of class index */
    size_t count;
} cli_labels;

/* Reads the lines of a file, or, where source is "@KEY", the model's metadata entry KEY: its lines, or its parts between
 * commas where it is one line. */
ingot_status cli_labels_read(const char *source, const ingot_model *model, cli_labels *labels, ingot_error *error);
void cli_labels_free(cli_labels *labels);

/* True where the output holds scores: a tensor of numbers with fractions. */
bool cli_top_applies(const ingot_value *output);

/* The count best classes of each row (each index of the first of several dimensions): printed, or as a JSON array of rows
 * of {"index", "score", "label"}. */
void cli_top_print(const char *name, const ingot_value *output, size_t count, const cli_labels *labels);
json_t *cli_top_json(const ingot_value *output, size_t count, const cli_labels *labels);

#endif

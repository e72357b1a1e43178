#include "labels.h"

#include <stdlib.h>
#include <string.h>

#include "element.h"
#include "file.h"
#include "report.h"
#include "value.h"

/* Splits labels->text in place. A separator at the end begins no line; spaces around a line are no part of it. */
static ingot_status split(cli_labels *labels, char separator, ingot_error *error)
{
    size_t lines = 1;
    for (const char *at = labels->text; *at; at++)
        lines += *at == separator;
    labels->lines = calloc(lines, sizeof *labels->lines);
    if (!labels->lines)
        return cli_fail_memory(error, "the labels");
    for (char *line = labels->text; line && *line;) {
        char *end = strchr(line, separator), *next = end ? end + 1 : NULL;
        end = end ? end : line + strlen(line);
        while (*line == ' ' || *line == '\t')
            line++;
        while (end > line && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
            end--;
        *end = '\0';
        labels->lines[labels->count++] = line;
        line = next;
    }
    return INGOT_OK;
}

static ingot_status read_metadata(const char *key, const ingot_model *model, cli_labels *labels, ingot_error *error)
{
    for (size_t i = 0; i < ingot_model_metadata_count(model); i++) {
        const char *value;
        if (strcmp(ingot_model_metadata(model, i, &value), key) != 0)
            continue;
        labels->text = strdup(value);
        if (!labels->text)
            return cli_fail_memory(error, "the labels");
        return split(labels, strchr(value, '\n') ? '\n' : ',', error);
    }
    return cli_fail(error, INGOT_NOT_FOUND,
                    "--labels @%s: the model's metadata has no such key; ingot inspect lists them", key);
}

ingot_status cli_labels_read(const char *source, const ingot_model *model, cli_labels *labels, ingot_error *error)
{
    ingot_status status;
    cli_bytes file;
    *labels = (cli_labels){NULL, NULL, 0};
    if (source[0] == '@') {
        status = read_metadata(source + 1, model, labels, error);
    } else {
        CLI_TRY(cli_file_read(source, &file, error));
        labels->text = (char *)file.data;
        status = split(labels, '\n', error);
    }
    if (status != INGOT_OK)
        cli_labels_free(labels);
    return status;
}

void cli_labels_free(cli_labels *labels)
{
    free(labels->text);
    free(labels->lines);
    *labels = (cli_labels){NULL, NULL, 0};
}

bool cli_top_applies(const ingot_value *output)
{
    return ingot_value_kind(output) == INGOT_KIND_TENSOR && cli_element_is_real(ingot_value_element(output)) &&
           cli_element_trait(ingot_value_element(output))->parts == 1 && ingot_value_count(output) > 0;
}

/* The rows of an output and the classes of each. */
static size_t count_rows(const ingot_value *output, size_t *classes)
{
    size_t rows = ingot_value_rank(output) > 1 ? (size_t)ingot_value_dims(output)[0] : 1;
    *classes = ingot_value_count(output) / rows;
    return rows;
}

typedef struct score {
    size_t index;
    double score;
} score;

/* Finds the most best elements of classes from first on, the best first, the lower index first among equals; NaN never.
 * Returns how many were found. */
static size_t find_best(const ingot_value *output, size_t first, size_t classes, score *best, size_t most)
{
    size_t found = 0;
    for (size_t i = 0; i < classes; i++) {
        double number = cli_value_number(output, first + i);
        if (!(found < most ? number == number : number > best[found - 1].score))
            continue;
        size_t place = found < most ? found++ : found - 1;
        for (; place > 0 && best[place - 1].score < number; place--)
            best[place] = best[place - 1];
        best[place] = (score){i, number};
    }
    return found;
}

static const char *label_of(const cli_labels *labels, size_t index)
{
    return index < labels->count ? labels->lines[index] : NULL;
}

void cli_top_print(const char *name, const ingot_value *output, size_t count, const cli_labels *labels)
{
    size_t classes, rows = count_rows(output, &classes);
    score *best = calloc(count, sizeof *best);
    for (size_t row = 0; row < rows && best; row++) {
        cli_print_text(stdout, name);
        if (rows > 1)
            printf("[%zu]", row);
        putchar('\n');
        size_t found = find_best(output, row * classes, classes, best, count);
        for (size_t i = 0; i < found; i++) {
            const char *label = label_of(labels, best[i].index);
            printf("  %10.5g  %zu%s", best[i].score, best[i].index, label ? "  " : "");
            cli_print_text(stdout, label ? label : "");
            putchar('\n');
        }
    }
    free(best);
}

json_t *cli_top_json(const ingot_value *output, size_t count, const cli_labels *labels)
{
    size_t classes, rows = count_rows(output, &classes);
    score *best = calloc(count, sizeof *best);
    json_t *all = json_array();
    for (size_t row = 0; row < rows && best; row++) {
        json_t *list = json_array();
        size_t found = find_best(output, row * classes, classes, best, count);
        for (size_t i = 0; i < found; i++) {
            const char *label = label_of(labels, best[i].index);
            json_array_append_new(list, json_pack("{s:I, s:o, s:o}", "index", (json_int_t)best[i].index, "score",
                                                  cli_json_number(best[i].score), "label",
                                                  label ? cli_json_text(label) : json_null()));
        }
        json_array_append_new(all, list);
    }
    free(best);
    return all;
}

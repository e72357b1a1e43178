/* Comparing what came out with what should have. */
#ifndef INGOT_CLI_COMPARE_H
#define INGOT_CLI_COMPARE_H

#include <jansson.h>

#include "ingot/ingot.h"

/* |got - wanted| <= absolute + relative * |wanted| for numbers with fractions, <= absolute for whole numbers; bfloat16 is
 * allowed a relative difference of 2^-6 at least, as ONNX's own runner does; NaN equals NaN, infinities must be equal, and
 * all else too. */
typedef struct cli_tolerance {
    double relative, absolute;
} cli_tolerance;

/* The largest of the differences that are too large. */
typedef struct cli_difference {
    size_t count;   /* how many there are */
    double largest; /* infinite where one of the two is no finite number, or they are no numbers */
    char text[512]; /* where it is, what came and what was wanted; "" while there is none */
} cli_difference;

/* Adds the differences between two values; a type or shape that differs is one. */
void cli_compare_values(const ingot_value *got, const ingot_value *wanted, cli_tolerance tolerance,
                        cli_difference *difference);

/* The same for JSON: numbers by the tolerance of numbers with fractions, all else exactly. */
void cli_compare_json(const json_t *got, const json_t *wanted, cli_tolerance tolerance, cli_difference *difference);

#endif

/* Element types seen one element at a time: what ONNX packs into bytes, as C numbers. */
#ifndef INGOT_CLI_ELEMENT_H
#define INGOT_CLI_ELEMENT_H

#include "ingot/ingot.h"

typedef enum cli_element_kind {
    CLI_ELEMENT_NONE, /* no numbers: strings, undefined */
    CLI_ELEMENT_BOOL,
    CLI_ELEMENT_SIGNED,
    CLI_ELEMENT_UNSIGNED,
    CLI_ELEMENT_REAL,  /* float, double, and complex ones of them */
    CLI_ELEMENT_SMALL, /* floating point of at most 16 bits */
} cli_element_kind;

/* Which bit patterns of a small floating point type are no numbers. */
typedef enum cli_small_rule {
    CLI_SMALL_IEEE,     /* all exponent bits set: infinity, or NaN with a fraction */
    CLI_SMALL_LAST_NAN, /* all exponent and fraction bits set: NaN; no infinity */
    CLI_SMALL_ZERO_NAN, /* minus zero: NaN; no infinity */
    CLI_SMALL_FINITE,   /* every pattern is a number */
} cli_small_rule;

typedef struct cli_element_traits {
    cli_element_kind kind;
    unsigned parts;    /* numbers of one element: 2 of a complex one */
    char numpy;        /* the letter of NumPy's type, 0 where NumPy has none */
    unsigned exponent; /* bits of a small floating point type, and its bias and rule */
    unsigned fraction;
    int bias;
    cli_small_rule rule;
} cli_element_traits;

const cli_element_traits *cli_element_trait(ingot_element element);

/* Number index at data as a double, or as a whole number where the kind is SIGNED or UNSIGNED. */
double cli_element_number(ingot_element element, const void *data, size_t index);
int64_t cli_element_signed(ingot_element element, const void *data, size_t index);
uint64_t cli_element_unsigned(ingot_element element, const void *data, size_t index);

/* Stores number as element index at data, rounded to nearest and saturated; for real types and whole numbers of a byte
 * or more. False for other types. */
bool cli_element_store(ingot_element element, void *data, size_t index, double number);

#endif

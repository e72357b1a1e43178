/* Looking at values and types: their description for people, their elements as numbers, their content as JSON. */
#ifndef INGOT_CLI_VALUE_H
#define INGOT_CLI_VALUE_H

#include <jansson.h>

#include "ingot/ingot.h"

/* Room for the description of any type: deeper ones are cut. */
#define CLI_TYPE_TEXT 512

/* "float[1,3,N,?]" or "sequence of map of int64 to float"; returns text. */
const char *cli_type_text(const ingot_type_info *type, char *text, size_t size);
/* "float[1,3,8,8]" or "sequence of 3"; returns text. */
const char *cli_value_text(const ingot_value *value, char *text, size_t size);
/* "[1,3,8,8]"; symbols may be NULL; -1 is a free size. Returns text. */
const char *cli_shape_text(int rank, const int64_t *dims, const char *const *symbols, char *text, size_t size);
/* The same as a JSON array: numbers, names of free sizes, null where they have none. NULL (not JSON null) without rank. */
json_t *cli_shape_json(const ingot_type_info *type);

/* True for the types whose elements have fractions (complex ones too), and for whole numbers (bool is none). */
bool cli_element_is_real(ingot_element element);
bool cli_element_is_integer(ingot_element element);

/* Element index of a tensor of numbers or bools as a double; of a complex one, real and imaginary parts count as two
 * elements each. cli_value_numbers is how many there are. */
double cli_value_number(const ingot_value *value, size_t index);
size_t cli_value_numbers(const ingot_value *value);

/* Element index of a tensor, as text: whole numbers exactly, strings in quotes; returns text. */
const char *cli_value_element_text(const ingot_value *value, size_t index, char *text, size_t size);
/* The same as JSON; null for NaN and infinities, which JSON lacks. */
json_t *cli_value_element_json(const ingot_value *value, size_t index);

/* A value as JSON: a map is {key: value}, a sequence an array, an empty optional null, a tensor the flat array of its
 * elements. NULL where memory ends or a string is no UTF-8. */
json_t *cli_value_json(const ingot_value *value);

/* A JSON string of text, bytes that are no UTF-8 as '?'. */
json_t *cli_json_text(const char *text);
/* A JSON number, null where JSON has none for it. */
json_t *cli_json_number(double number);
/* Prints a JSON document and releases it; false with a message where memory ended while it was made. */
bool cli_json_print(const char *verb, json_t *document);

#endif

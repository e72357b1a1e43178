/* NumPy's .npy files: one array each. Versions 1 to 3, little and big endian, both orders, strings included. */
#ifndef INGOT_CLI_NPY_H
#define INGOT_CLI_NPY_H

#include "ingot/ingot.h"

/* Reads an array from the bytes of a file. */
ingot_status cli_npy_read(const void *data, size_t size, ingot_value **value, ingot_error *error);

/* True for the element types that NumPy has. */
bool cli_npy_holds(ingot_element element);

/* Writes a tensor. Strings are written as <U, or as |S bytes where one of them is no UTF-8. */
ingot_status cli_npy_write(const char *path, const ingot_value *tensor, ingot_error *error);

#endif

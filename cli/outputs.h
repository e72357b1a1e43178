/* The outputs of a run: files for machines, a few lines for people. */
#ifndef INGOT_CLI_OUTPUTS_H
#define INGOT_CLI_OUTPUTS_H

#include "ingot/ingot.h"

/* Writes the values into folder, which is made where it is missing: a tensor to NAME.npy, or NAME.pb where NumPy lacks its
 * type; a map, a sequence of maps, an empty sequence and an empty optional to NAME.json; item I of another sequence as
 * NAME.I; what an optional holds as NAME. In a NAME, '/' and ':' become '_', and of two that are equal then, the later
 * gets '_' behind it; an empty NAME is "_". */
ingot_status cli_outputs_write(const char *folder, const char *const *names, const ingot_value *const *values,
                               size_t count, ingot_error *error);

/* Prints name, type, shape and first elements of each value, a line each. */
void cli_outputs_print(const char *const *names, const ingot_value *const *values, size_t count);

#endif

/* Inputs made of random numbers, the same for the same seed on every machine. */
#ifndef INGOT_CLI_RANDOM_H
#define INGOT_CLI_RANDOM_H

#include "ingot/ingot.h"

/* Fills a tensor of the input's type and this shape: numbers with fractions from 0 up to 1, whole numbers and bools 0 or 1,
 * which every index, mask and token number allows. */
ingot_status cli_random_tensor(const ingot_value_info *input, int rank, const int64_t *dims, uint64_t seed,
                               ingot_value **value, ingot_error *error);

#endif

/* The header of a .npy file: a line of Python, of which exactly this is accepted: a dict with the keys descr (a string),
 * fortran_order (True or False) and shape (a tuple of whole numbers), each once. */
#ifndef INGOT_CLI_NPY_HEADER_H
#define INGOT_CLI_NPY_HEADER_H

#include "ingot/ingot.h"

typedef struct cli_npy_header {
    bool big_endian, fortran_order;
    char letter;      /* of the type: b i u f c U S */
    size_t item_size; /* bytes of an element */
    int rank;
    int64_t dims[INGOT_MAX_RANK];
    size_t count;      /* product of dims */
    size_t data_start; /* where the elements start in the file; they reach to its end */
} cli_npy_header;

ingot_status cli_npy_header_read(const unsigned char *data, size_t size, cli_npy_header *header, ingot_error *error);

#endif

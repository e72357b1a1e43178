/* Failing with a message, and passing failure on. */
#ifndef INGOT_BASE_STATUS_H
#define INGOT_BASE_STATUS_H

#include <stdarg.h>

#include "ingot/ingot.h"

#if defined(__GNUC__)
#define INGOT_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define INGOT_PRINTF(text, first)
#endif

/* Returns status from the caller where it is not INGOT_OK. */
#define INGOT_TRY(expression)                          \
    do {                                               \
        ingot_status ingot_try_status_ = (expression); \
        if (ingot_try_status_ != INGOT_OK)             \
            return ingot_try_status_;                  \
    } while (0)

/* Fills error (where it is not NULL and holds no error yet) and returns status. The message says what happened, where, and
 * what to do; bytes that are no UTF-8 become '?'. Never allocates. */
ingot_status ingot_fail(ingot_error *error, ingot_status status, const char *format, ...) INGOT_PRINTF(3, 4);
ingot_status ingot_fail_va(ingot_error *error, ingot_status status, const char *format, va_list arguments);

/* Puts "text: " in front of the message of an error that is set: the outer place, such as the file or the node. Keeps
 * and returns the error's status. */
ingot_status ingot_fail_at(ingot_error *error, const char *format, ...) INGOT_PRINTF(2, 3);

/* ingot_fail with INGOT_OUT_OF_MEMORY: what could not be had, and its size. */
ingot_status ingot_fail_memory(ingot_error *error, size_t bytes, const char *what);

#endif

/* RE2's syntax in PCRE2's words. */
#ifndef INGOT_BASE_REGEX_SYNTAX_H
#define INGOT_BASE_REGEX_SYNTAX_H

#include "base/memory.h"

/* Bytes that the result may take, beside the pattern's own, for each of its bytes. */
#define INGOT_REGEX_GROWTH 10

/* Writes pattern as PCRE2 wants it to text (at least INGOT_REGEX_GROWTH * size bytes), its length to *length. Refuses what RE2
 * does not have; what is wrong in both is left to PCRE2. */
ingot_status ingot_regex_translate(const char *pattern, size_t size, char *text, size_t *length, ingot_error *error);

#endif

/* Regular expressions in RE2's syntax, matched in time that grows with pattern times text, whatever the two are.
 *
 * PCRE2 does the work, by its breadth-first matcher, which finds the longest match and never goes back. What only PCRE2's
 * syntax has (look-around, back references, possessive repetition, verbs) is refused, and what means another thing there is
 * rewritten. A build without PCRE2 refuses every pattern, naming the library. */
#ifndef INGOT_BASE_REGEX_H
#define INGOT_BASE_REGEX_H

#include "base/memory.h"

/* A compiled pattern: immutable, may be used by many threads; lives in the arena that it was compiled into. */
typedef struct ingot_regex ingot_regex;

/* INGOT_INVALID_MODEL where the pattern is none, saying where it breaks; INGOT_UNSUPPORTED without PCRE2. */
ingot_status ingot_regex_compile(ingot_arena *arena, const char *pattern, size_t size, const ingot_regex **regex,
                                 ingot_error *error);

/* Memory of a search: ints of the caller, anything in them. */
typedef struct ingot_regex_space {
    int *data;
    size_t count;
} ingot_regex_space;

#define INGOT_REGEX_SPACE     ((size_t)1 << 12) /* enough for usual patterns */
#define INGOT_REGEX_SPACE_MAX ((size_t)1 << 22) /* more are not worth trying */

typedef enum ingot_regex_result {
    INGOT_REGEX_FOUND,
    INGOT_REGEX_NOT_FOUND,
    INGOT_REGEX_MORE_SPACE, /* try again with more */
    INGOT_REGEX_NO_UTF8,    /* of the text */
    INGOT_REGEX_FAILED,     /* a limit of the library */
} ingot_regex_result;

/* Whether the whole text matches. */
ingot_regex_result ingot_regex_match(const ingot_regex *regex, const char *text, size_t size, ingot_regex_space space);
/* The longest match at the first place from start on where there is one: text[*first] ... text[*end - 1]. */
ingot_regex_result ingot_regex_find(const ingot_regex *regex, const char *text, size_t size, size_t start,
                                    ingot_regex_space space, size_t *first, size_t *end);

#endif

/* Operators on strings. */
#ifndef INGOT_OPS_TEXT_H
#define INGOT_OPS_TEXT_H

#include "base/regex.h"
#include "ops/key_table.h"
#include "ops/op.h"

typedef enum ingot_case_change {
    INGOT_CASE_NONE,
    INGOT_CASE_LOWER,
    INGOT_CASE_UPPER,
} ingot_case_change;

typedef struct ingot_string_normalizer_params {
    int change; /* ingot_case_change */
    bool case_sensitive;
    bool turkic; /* i and I have their own dotted and dotless partners */
    ingot_texts stopwords;
    ingot_text locale;
    ingot_key_table stops; /* filled by check: of the stop words, folded unless case_sensitive */
} ingot_string_normalizer_params;

typedef struct ingot_string_split_params {
    ingot_text delimiter; /* empty: white space */
    int64_t most;         /* splits; negative: no limit */
    bool limited;         /* maxsplit is given */
} ingot_string_split_params;

typedef struct ingot_regex_params {
    ingot_text pattern;
    const ingot_regex *regex; /* filled by check */
} ingot_regex_params;

/* Of com.microsoft's Tokenizer: tokens are what token matches, or what lies between matches of separators; neither: every
 * character is one. */
typedef struct ingot_tokenizer_params {
    bool mark;          /* begin every row of tokens with U+0002, end it with U+0003 */
    int64_t least;      /* characters of a token: shorter ones are left out */
    ingot_text padding; /* fills rows up */
    ingot_texts separator_texts;
    ingot_text token_text;
    bool token_given;
    const ingot_regex *token; /* filled by check; NULL: none */
    const ingot_regex **separators;
    size_t separator_count;
} ingot_tokenizer_params;

/* Writes text with another case to result (INGOT_UTF8_MAX bytes for each of its bytes) and returns the length; SIZE_MAX: it
 * is no UTF-8. */
size_t ingot_change_case(const char *text, size_t size, ingot_case_change change, bool turkic, char *result);
/* The same so that texts which differ in case only become the same. */
size_t ingot_fold_case(const char *text, size_t size, char *result);

#endif

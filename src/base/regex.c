#include "base/regex.h"

#include "base/regex_syntax.h"

#ifdef INGOT_HAVE_PCRE2

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

struct ingot_regex {
    const pcre2_code *code;
};

static void *arena_malloc(size_t size, void *arena)
{
    return ingot_arena_alloc(arena, size);
}

/* The memory goes with what it was taken from. */
static void keep_memory(void *memory, void *owner)
{
}

static ingot_status compile(ingot_arena *arena, const char *text, size_t length, const pcre2_code **code,
                            ingot_error *error)
{
    pcre2_general_context *general = pcre2_general_context_create(arena_malloc, keep_memory, arena);
    pcre2_compile_context *context = general ? pcre2_compile_context_create(general) : NULL;
    int number;
    PCRE2_SIZE at;
    if (!context)
        return ingot_fail_memory(error, length, "a regular expression");
    pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    *code = pcre2_compile((PCRE2_SPTR)text, length, PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C, &number,
                          &at, context);
    if (*code)
        return INGOT_OK;
    PCRE2_UCHAR message[160] = "";
    pcre2_get_error_message(number, message, sizeof message);
    return ingot_fail(error, INGOT_INVALID_MODEL, "the pattern is no regular expression: %s, about byte %zu",
                      (const char *)message, (size_t)at);
}

ingot_status ingot_regex_compile(ingot_arena *arena, const char *pattern, size_t size, const ingot_regex **regex,
                                 ingot_error *error)
{
    size_t bytes, length;
    ingot_regex *r = ingot_arena_alloc(arena, sizeof *r);
    char *text = ingot_mul_size(size + 1, INGOT_REGEX_GROWTH, &bytes) ? ingot_arena_alloc(arena, bytes) : NULL;
    if (!r || !text)
        return ingot_fail_memory(error, size, "a regular expression");
    INGOT_TRY(ingot_regex_translate(pattern, size, text, &length, error));
    INGOT_TRY(compile(arena, text, length, &r->code, error));
    *regex = r;
    return INGOT_OK;
}

/* ---- Searching ---- */

/* Room for the library's own small structures of one search. */
typedef struct room {
    _Alignas(max_align_t) char bytes[2048];
    size_t used;
} room;

static void *room_malloc(size_t size, void *owner)
{
    room *r = owner;
    size_t aligned = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
    if (aligned < size || aligned > sizeof r->bytes - r->used)
        return NULL;
    r->used += aligned;
    return r->bytes + (r->used - aligned);
}

static ingot_regex_result search(const ingot_regex *regex, const char *text, size_t size, size_t start,
                                 uint32_t options, ingot_regex_space space, size_t *first, size_t *end)
{
    room memory = {.used = 0};
    pcre2_general_context *general = pcre2_general_context_create(room_malloc, keep_memory, &memory);
    pcre2_match_data *data = general ? pcre2_match_data_create(1, general) : NULL;
    if (!data)
        return INGOT_REGEX_FAILED;
    int found =
        pcre2_dfa_match(regex->code, (PCRE2_SPTR)text, size, start, options, data, NULL, space.data, space.count);
    if (found == PCRE2_ERROR_NOMATCH)
        return INGOT_REGEX_NOT_FOUND;
    if (found == PCRE2_ERROR_DFA_WSSIZE)
        return INGOT_REGEX_MORE_SPACE;
    if (found < 0)
        return found <= PCRE2_ERROR_UTF8_ERR1 && found >= PCRE2_ERROR_UTF8_ERR21 ? INGOT_REGEX_NO_UTF8
                                                                                 : INGOT_REGEX_FAILED;
    const PCRE2_SIZE *bounds = pcre2_get_ovector_pointer(data); /* the first pair is the longest match */
    *first = bounds[0];
    *end = bounds[1];
    return INGOT_REGEX_FOUND;
}

ingot_regex_result ingot_regex_match(const ingot_regex *regex, const char *text, size_t size, ingot_regex_space space)
{
    size_t first, end;
    return search(regex, text, size, 0, PCRE2_ANCHORED | PCRE2_ENDANCHORED, space, &first, &end);
}

ingot_regex_result ingot_regex_find(const ingot_regex *regex, const char *text, size_t size, size_t start,
                                    ingot_regex_space space, size_t *first, size_t *end)
{
    return search(regex, text, size, start, start > 0 ? PCRE2_NO_UTF_CHECK : 0, space, first, end);
}

#else

ingot_status ingot_regex_compile(ingot_arena *arena, const char *pattern, size_t size, const ingot_regex **regex,
                                 ingot_error *error)
{
    return ingot_fail(error, INGOT_UNSUPPORTED,
                      "a regular expression needs the library PCRE2, which this build of Ingot lacks: install "
                      "libpcre2-dev and build with -Dpcre2=enabled");
}

ingot_regex_result ingot_regex_match(const ingot_regex *regex, const char *text, size_t size, ingot_regex_space space)
{
    return INGOT_REGEX_FAILED;
}

ingot_regex_result ingot_regex_find(const ingot_regex *regex, const char *text, size_t size, size_t start,
                                    ingot_regex_space space, size_t *first, size_t *end)
{
    return INGOT_REGEX_FAILED;
}

#endif

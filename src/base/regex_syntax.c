#include "base/regex_syntax.h"

#include <string.h>

typedef struct translation {
    const char *pattern;
    size_t size, at;
    char *text;
    size_t length;
    bool in_class;
    bool repeated; /* what was read last is a repetition */
    ingot_error *error;
} translation;

#define MAX_REPEAT 1000 /* RE2's own limit */

static ingot_status refuse(const translation *t, const char *what)
{
    return ingot_fail(t->error, INGOT_INVALID_MODEL, "the pattern is not of RE2's syntax at byte %zu: %s", t->at, what);
}

static void put(translation *t, const char *data, size_t size)
{
    memcpy(t->text + t->length, data, size);
    t->length += size;
}

static void put_text(translation *t, const char *text)
{
    put(t, text, strlen(text));
}

static void put_code(translation *t, unsigned code)
{
    static const char digits[] = "0123456789abcdef";
    char text[7] = {'\\', 'x', '{', digits[code >> 8 & 15], digits[code >> 4 & 15], digits[code & 15], '}'};
    put(t, text, sizeof text);
}

static int peek(const translation *t, size_t ahead)
{
    return t->at + ahead < t->size ? (unsigned char)t->pattern[t->at + ahead] : -1;
}

/* Copies count bytes as they are. */
static void keep(translation *t, size_t count)
{
    put(t, t->pattern + t->at, count);
    t->at += count;
}

/* ---- Escapes ---- */

/* \0, \12, \123; one digit other than 0 would be a back reference. */
static ingot_status translate_octal(translation *t)
{
    unsigned code = 0;
    size_t digits = 0;
    for (int c = peek(t, 1); digits < 3 && c >= '0' && c <= '7'; c = peek(t, 1 + digits)) {
        code = code * 8 + (unsigned)(c - '0');
        digits++;
    }
    if (digits == 1 && code != 0)
        return refuse(t, "it has no back references");
    put_code(t, code);
    t->at += 1 + digits;
    return INGOT_OK;
}

/* Everything up to \E stands for itself. */
static void translate_quoted(translation *t)
{
    t->at += 2;
    for (; t->at < t->size; t->at++) {
        if (peek(t, 0) == '\\' && peek(t, 1) == 'E') {
            t->at += 2;
            return;
        }
        int c = peek(t, 0);
        bool word = c >= 0x80 || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
        if (!word)
            put(t, "\\", 1);
        put(t, t->pattern + t->at, 1);
    }
}

/* \pL or \p{Greek}. */
static ingot_status translate_property(translation *t)
{
    const char *name = t->pattern + t->at + 2;
    const char *end = peek(t, 2) == '{' ? memchr(name, '}', t->size - t->at - 2) : name;
    if (peek(t, 2) < 0 || !end)
        return refuse(t, "the name of a property does not end");
    keep(t, (size_t)(end - name) + 3);
    return INGOT_OK;
}

static bool is_hex(int c)
{
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'f');
}

/* \x41 or \x{1F600}. */
static ingot_status translate_hex(translation *t)
{
    size_t length = 2;
    if (peek(t, 2) == '{') {
        length = 3;
        while (is_hex(peek(t, length)))
            length++;
        if (length == 3 || peek(t, length++) != '}')
            return refuse(t, "\\x{} wants hexadecimal digits");
    } else {
        if (!is_hex(peek(t, 2)) || !is_hex(peek(t, 3)))
            return refuse(t, "\\x wants two hexadecimal digits");
        length = 4;
    }
    keep(t, length);
    return INGOT_OK;
}

static ingot_status translate_escape(translation *t)
{
    int c = peek(t, 1);
    bool punctuation = c > 0 && c < 0x80 && strchr(" !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", c);
    t->repeated = false;
    if (c < 0)
        return refuse(t, "a backslash ends it");
    if (c >= '0' && c <= '7')
        return translate_octal(t);
    if (c == 'Q') {
        translate_quoted(t);
        return INGOT_OK;
    }
    if (c == 'v' || c == 's' || c == 'S') { /* white space of RE2 is without the vertical tab, which is what \v is */
        put_text(t, c == 'v'      ? "\\x0b"
                    : c == 'S'    ? (t->in_class ? "\\S\\x0b" : "[^\\t\\n\\f\\r ]")
                    : t->in_class ? "\\t\\n\\f\\r "
                                  : "[\\t\\n\\f\\r ]");
        t->at += 2;
        return INGOT_OK;
    }
    if (c == 'p' || c == 'P')
        return translate_property(t);
    if (c == 'x')
        return translate_hex(t);
    if (punctuation || strchr("aftnrdDwW", c) || (!t->in_class && strchr("bBAz", c))) {
        keep(t, 2);
        return INGOT_OK;
    }
    return refuse(t, "it has no such escape");
}

/* ---- Classes, groups, repetitions ---- */

static ingot_status translate_class(translation *t)
{
    t->in_class = true;
    keep(t, peek(t, 1) == '^' ? 2 : 1);
    for (bool first = true; t->at < t->size; first = false) {
        int c = peek(t, 0);
        if (c == ']' && !first) {
            keep(t, 1);
            t->in_class = t->repeated = false;
            return INGOT_OK;
        }
        if (c == '\\') {
            INGOT_TRY(translate_escape(t));
        } else if (c == '[' && peek(t, 1) == ':') {
            const char *end = memchr(t->pattern + t->at + 2, ']', t->size - t->at - 2);
            if (!end || end[-1] != ':')
                return refuse(t, "a class such as [:alpha:] does not end");
            keep(t, (size_t)(end - (t->pattern + t->at)) + 1);
        } else if (c == '[') {
            put_text(t, "\\[");
            t->at++;
        } else {
            keep(t, 1);
        }
    }
    return refuse(t, "a class does not end");
}

static ingot_status translate_group(translation *t)
{
    t->repeated = false;
    if (peek(t, 1) == '*')
        return refuse(t, "nothing stands before the repetition");
    if (peek(t, 1) != '?') {
        keep(t, 1);
        return INGOT_OK;
    }
    size_t i = 2;
    if (peek(t, i) == 'P' && peek(t, i + 1) == '<') {
        keep(t, 4);
        return INGOT_OK;
    }
    if (peek(t, i) == '<' && peek(t, i + 1) != '=' && peek(t, i + 1) != '!') {
        keep(t, 3);
        return INGOT_OK;
    }
    while (peek(t, i) > 0 && strchr("imsU-", peek(t, i)))
        i++;
    if (peek(t, i) != ':' && (peek(t, i) != ')' || i == 2))
        return refuse(t, "it has no such group");
    keep(t, i + 1);
    return INGOT_OK;
}

/* The length of {3}, {3,} or {3,5} at the place reached; 0: the brace stands for itself. */
static size_t repetition(const translation *t, unsigned *most)
{
    unsigned numbers[2] = {0, 0};
    size_t i = 1, digits[2] = {0, 0};
    for (int n = 0; n < 2; n++) {
        for (int c = peek(t, i); c >= '0' && c <= '9'; c = peek(t, ++i)) {
            numbers[n] = numbers[n] > MAX_REPEAT ? numbers[n] : numbers[n] * 10 + (unsigned)(c - '0');
            digits[n]++;
        }
        if (n == 0 && peek(t, i) != ',')
            break;
        i += n == 0;
    }
    *most = numbers[0] > numbers[1] ? numbers[0] : numbers[1];
    return digits[0] > 0 && peek(t, i) == '}' ? i + 1 : 0;
}

static ingot_status translate_repetition(translation *t, size_t length)
{
    if (t->repeated)
        return refuse(t, "a repetition follows a repetition");
    keep(t, length);
    if (peek(t, 0) == '?')
        keep(t, 1);
    t->repeated = true;
    return INGOT_OK;
}

static ingot_status translate_next(translation *t)
{
    int c = peek(t, 0);
    unsigned most = 0;
    size_t length = c == '{' ? repetition(t, &most) : 0;
    if (most > MAX_REPEAT)
        return refuse(t, "a repetition of more than 1000");
    if (length > 0)
        return translate_repetition(t, length);
    if (c == '*' || c == '+' || c == '?')
        return translate_repetition(t, 1);
    if (c == '\\')
        return translate_escape(t);
    if (c == '[')
        return translate_class(t);
    if (c == '(')
        return translate_group(t);
    t->repeated = false;
    if (c == '{')
        put(t, "\\", 1);
    keep(t, 1);
    return INGOT_OK;
}

ingot_status ingot_regex_translate(const char *pattern, size_t size, char *text, size_t *length, ingot_error *error)
{
    translation t = {.pattern = pattern, .size = size, .text = text, .error = error};
    while (t.at < t.size)
        INGOT_TRY(translate_next(&t));
    *length = t.length;
    return INGOT_OK;
}

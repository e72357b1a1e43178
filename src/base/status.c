/* Status codes, messages and the version. */
#include "base/status.h"

#include <stdio.h>
#include <string.h>

#define TEXT_OF(x)       #x
#define TEXT_OF_VALUE(x) TEXT_OF(x)

const char *ingot_version(void)
{
    return TEXT_OF_VALUE(INGOT_VERSION_MAJOR) "." TEXT_OF_VALUE(INGOT_VERSION_MINOR) "." TEXT_OF_VALUE(
        INGOT_VERSION_PATCH);
}

typedef struct status_entry {
    const char *name, *text;
} status_entry;

static const status_entry status_table[] = {
#define STATUS_ENTRY(name, value, text) [value] = {#name, text},
    INGOT_STATUS_LIST(STATUS_ENTRY)
#undef STATUS_ENTRY
};

static const status_entry *find_status(ingot_status status)
{
    static const status_entry unknown = {"INGOT_STATUS_UNKNOWN", "an unknown status"};
    size_t index = (size_t)status;
    return index < sizeof status_table / sizeof status_table[0] ? &status_table[index] : &unknown;
}

const char *ingot_status_name(ingot_status status)
{
    return find_status(status)->name;
}

const char *ingot_status_text(ingot_status status)
{
    return find_status(status)->text;
}

/* Bytes of the UTF-8 character at text, which has size bytes: 0 where there is none. *cut tells a character that is good
 * as far as it goes but needs more bytes than there are. Overlong forms, surrogates and values past U+10FFFF are none. */
static size_t character_length(const unsigned char *text, size_t size, bool *cut)
{
    unsigned char first = text[0], low = 0x80, high = 0xbf; /* bounds of the second byte */
    size_t length;
    *cut = false;
    if (first < 0x80)
        return 1;
    if (first >= 0xc2 && first <= 0xdf) {
        length = 2;
    } else if (first >= 0xe0 && first <= 0xef) {
        length = 3;
        low = first == 0xe0 ? 0xa0 : low;
        high = first == 0xed ? 0x9f : high;
    } else if (first >= 0xf0 && first <= 0xf4) {
        length = 4;
        low = first == 0xf0 ? 0x90 : low;
        high = first == 0xf4 ? 0x8f : high;
    } else {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if (i == size) {
            *cut = true;
            return 0;
        }
        if (text[i] < low || text[i] > high)
            return 0;
        low = 0x80;
        high = 0xbf;
    }
    return length;
}

/* Makes message valid UTF-8 in place. truncated: its end was cut off, so a partial character there is dropped. */
static void sanitize(char *message, bool truncated)
{
    size_t size = strlen(message);
    for (size_t i = 0; i < size;) {
        bool cut;
        size_t length = character_length((const unsigned char *)message + i, size - i, &cut);
        if (length != 0) {
            i += length;
        } else if (cut && truncated) {
            message[i] = '\0';
            return;
        } else {
            message[i++] = '?';
        }
    }
}

static void format_message(char *message, size_t size, const char *format, va_list arguments)
{
    message[0] = '\0';
    int length = vsnprintf(message, size, format, arguments);
    sanitize(message, length >= 0 && (size_t)length >= size);
}

ingot_status ingot_fail_va(ingot_error *error, ingot_status status, const char *format, va_list arguments)
{
    if (error && error->status == INGOT_OK) {
        error->status = status;
        format_message(error->message, sizeof error->message, format, arguments);
    }
    return status;
}

ingot_status ingot_fail(ingot_error *error, ingot_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    ingot_fail_va(error, status, format, arguments);
    va_end(arguments);
    return status;
}

ingot_status ingot_fail_at(ingot_error *error, const char *format, ...)
{
    if (!error) /* the status is lost: what is returned must at least not be success */
        return INGOT_INTERNAL;
    if (error->status == INGOT_OK)
        return INGOT_OK;

    char place[sizeof error->message], message[sizeof error->message];
    va_list arguments;
    va_start(arguments, format);
    format_message(place, sizeof place, format, arguments);
    va_end(arguments);
    int length = snprintf(message, sizeof message, "%s: %s", place, error->message);
    sanitize(message, length >= 0 && (size_t)length >= sizeof message);
    memcpy(error->message, message, sizeof message);
    return error->status;
}

ingot_status ingot_fail_memory(ingot_error *error, size_t bytes, const char *what)
{
    return ingot_fail(error, INGOT_OUT_OF_MEMORY, "out of memory: could not get %zu bytes for %s", bytes, what);
}

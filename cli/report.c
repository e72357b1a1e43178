#include "report.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "utf8.h"

/* Ends text before a UTF-8 character that was cut at its end. */
static void trim_cut_character(char *text)
{
    size_t length = strlen(text), start = length;
    while (start > 0 && length - start < 4 && ((unsigned char)text[start - 1] & 0xC0) == 0x80)
        start--;
    if (start == 0)
        return;
    unsigned char lead = (unsigned char)text[start - 1];
    size_t need = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    if (need > length - start + 1)
        text[start - 1] = '\0';
}

static void fill(ingot_error *error, ingot_status status, const char *format, va_list arguments)
{
    error->status = status;
    int wanted = vsnprintf(error->message, sizeof error->message, format, arguments);
    if (wanted < 0)
        error->message[0] = '\0';
    else if ((size_t)wanted >= sizeof error->message)
        trim_cut_character(error->message);
}

ingot_status cli_fail(ingot_error *error, ingot_status status, const char *format, ...)
{
    if (error->status != INGOT_OK)
        return status;
    va_list arguments;
    va_start(arguments, format);
    fill(error, status, format, arguments);
    va_end(arguments);
    return status;
}

ingot_status cli_fail_memory(ingot_error *error, const char *what)
{
    return cli_fail(error, INGOT_OUT_OF_MEMORY, "no memory for %s", what);
}

ingot_status cli_fail_at(ingot_error *error, const char *format, ...)
{
    char inner[sizeof error->message];
    memcpy(inner, error->message, sizeof inner);
    va_list arguments;
    va_start(arguments, format);
    fill(error, error->status, format, arguments);
    va_end(arguments);
    size_t used = strlen(error->message), room = sizeof error->message - used;
    if ((size_t)snprintf(error->message + used, room, ": %s", inner) >= room)
        trim_cut_character(error->message);
    return error->status;
}

void cli_print_text(FILE *stream, const char *text)
{
    size_t length = strlen(text);
    for (size_t i = 0, step; i < length; i += step) {
        uint32_t character;
        step = cli_utf8_decode(text + i, length - i, &character);
        if (step == 0 || character < 0x20 || character == 0x7F) {
            step = 1;
            fprintf(stream, "\\x%02x", (unsigned char)text[i]);
        } else {
            fwrite(text + i, 1, step, stream);
        }
    }
}

int cli_report(const char *verb, const char *file, const ingot_error *error)
{
    fflush(stdout);
    fprintf(stderr, "ingot %s: ", verb);
    if (file && strncmp(error->message, file, strlen(file)) != 0) {
        cli_print_text(stderr, file);
        fputs(": ", stderr);
    }
    cli_print_text(stderr, error->message[0] ? error->message : ingot_status_text(error->status));
    putc('\n', stderr);
    return CLI_FAILED;
}

int cli_malformed(const char *verb, const char *format, ...)
{
    fprintf(stderr, "ingot %s: ", verb);
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\nTry: ingot %s --help\n", verb);
    return CLI_MALFORMED;
}

int cli_finish(const char *verb, int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    fprintf(stderr, "ingot %s: standard output: %s\n", verb, strerror(errno));
    return CLI_FAILED;
}

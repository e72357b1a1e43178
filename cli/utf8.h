/* UTF-8, one character at a time. */
#ifndef INGOT_CLI_UTF8_H
#define INGOT_CLI_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Decodes the character at the start of text, which has length bytes, 1 or more; returns its bytes, 0 where it is none. */
size_t cli_utf8_decode(const char *text, size_t length, uint32_t *character);

/* Writes a character of Unicode, at most 4 bytes; returns how many. */
size_t cli_utf8_encode(char *to, uint32_t character);

/* True for the characters that UTF-8 can hold. */
int cli_is_unicode(uint32_t character);

#endif

/* UTF-8, and what Unicode says of characters: the same on every machine, whatever the locale. */
#ifndef INGOT_BASE_UTF8_H
#define INGOT_BASE_UTF8_H

#include "base/status.h"

#define INGOT_UTF8_MAX 4 /* bytes of a character */

/* Bytes of the character that text (size bytes, at least one) begins with, which goes to *rune; 0: no UTF-8. */
size_t ingot_utf8_decode(const char *text, size_t size, uint32_t *rune);
/* Writes a character, returns its bytes. */
size_t ingot_utf8_encode(uint32_t rune, char text[INGOT_UTF8_MAX]);
bool ingot_utf8_is_valid(const char *text, size_t size);

bool ingot_rune_is_space(uint32_t rune);

/* Upper and lower case of a character by Unicode's simple mappings (one character each); fold makes characters that
 * differ in case only the same. They need utf8proc: without it all of them return rune itself. */
bool ingot_rune_has_case(void); /* whether this build knows case */
uint32_t ingot_rune_upper(uint32_t rune);
uint32_t ingot_rune_lower(uint32_t rune);
uint32_t ingot_rune_fold(uint32_t rune);

#endif

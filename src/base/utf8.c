#include "base/utf8.h"

#ifdef INGOT_HAVE_UTF8PROC
#include <utf8proc.h>
#endif

/* ---- Bytes ---- */

size_t ingot_utf8_decode(const char *text, size_t size, uint32_t *rune)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000}; /* by length: shorter forms are no UTF-8 */
    unsigned char first = (unsigned char)text[0];
    size_t length = first < 0x80 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if ((first >= 0x80 && first < 0xC2) || first > 0xF4 || length > size)
        return 0;
    uint32_t value = length == 1 ? first : first & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) {
        unsigned char next = (unsigned char)text[i];
        if ((next & 0xC0) != 0x80)
            return 0;
        value = value << 6 | (next & 0x3F);
    }
    if (value < least[length] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
        return 0;
    *rune = value;
    return length;
}

size_t ingot_utf8_encode(uint32_t rune, char text[INGOT_UTF8_MAX])
{
    if (rune < 0x80) {
        text[0] = (char)rune;
        return 1;
    }
    size_t length = rune < 0x800 ? 2 : rune < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; i--, rune >>= 6)
        text[i] = (char)(0x80 | (rune & 0x3F));
    text[0] = (char)(rune | (0xF00u >> length & 0xF0));
    return length;
}

bool ingot_utf8_is_valid(const char *text, size_t size)
{
    uint32_t rune;
    for (size_t i = 0, length; i < size; i += length) {
        length = ingot_utf8_decode(text + i, size - i, &rune);
        if (length == 0)
            return false;
    }
    return true;
}

/* ---- Characters ---- */

bool ingot_rune_is_space(uint32_t rune)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {
        {0x9, 0xD},       {0x1C, 0x20},     {0x85, 0x85},     {0xA0, 0xA0},     {0x1680, 0x1680},
        {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (rune >= ranges[i].first && rune <= ranges[i].last)
            return true;
    return false;
}

#ifdef INGOT_HAVE_UTF8PROC
bool ingot_rune_has_case(void)
{
    return true;
}

uint32_t ingot_rune_upper(uint32_t rune)
{
    return (uint32_t)utf8proc_toupper((utf8proc_int32_t)rune);
}

uint32_t ingot_rune_lower(uint32_t rune)
{
    return (uint32_t)utf8proc_tolower((utf8proc_int32_t)rune);
}
#else
bool ingot_rune_has_case(void)
{
    return false;
}

uint32_t ingot_rune_upper(uint32_t rune)
{
    return rune;
}

uint32_t ingot_rune_lower(uint32_t rune)
{
    return rune;
}
#endif

uint32_t ingot_rune_fold(uint32_t rune)
{
    return ingot_rune_lower(ingot_rune_upper(rune));
}

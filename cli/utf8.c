#include "utf8.h"

int cli_is_unicode(uint32_t character)
{
    return character <= 0x10FFFF && (character < 0xD800 || character > 0xDFFF);
}

size_t cli_utf8_decode(const char *text, size_t length, uint32_t *character)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *bytes = (const unsigned char *)text;
    size_t need = bytes[0] < 0x80 ? 1 : bytes[0] >= 0xF0 ? 4 : bytes[0] >= 0xE0 ? 3 : 2;
    if ((bytes[0] >= 0x80 && bytes[0] < 0xC0) || bytes[0] > 0xF4 || need > length)
        return 0;
    *character = need == 1 ? bytes[0] : bytes[0] & (0x7Fu >> need);
    for (size_t i = 1; i < need; i++) {
        if ((bytes[i] & 0xC0) != 0x80)
            return 0;
        *character = *character << 6 | (bytes[i] & 0x3Fu);
    }
    return *character < least[need] || !cli_is_unicode(*character) ? 0 : need;
}

size_t cli_utf8_encode(char *to, uint32_t character)
{
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    size_t length = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; i--, character >>= 6)
        to[i] = (char)(0x80 | (character & 0x3F));
    to[0] = (char)(lead[length] | character);
    return length;
}

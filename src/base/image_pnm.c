/* PBM, PGM and PPM: plain and raw, up to 16 bits a sample. */
#include <string.h>

#include "base/image.h"

typedef struct pnm {
    ingot_image_source source;
    size_t at;
} pnm;

#define DAMAGED(error, why) ingot_image_damaged(error, "PNM", why)

static bool is_space(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void skip_spaces(pnm *p)
{
    while (p->at < p->source.size && (is_space(p->source.data[p->at]) || p->source.data[p->at] == '#')) {
        if (p->source.data[p->at] == '#')
            while (p->at < p->source.size && p->source.data[p->at] != '\n')
                p->at++;
        else
            p->at++;
    }
}

/* At most digits digits after white space and comments; false: there are none. */
static bool read_number(pnm *p, int digits, uint32_t *value)
{
    skip_spaces(p);
    *value = 0;
    int count = 0;
    for (; p->at < p->source.size && count < digits; p->at++, count++) {
        uint8_t c = p->source.data[p->at];
        if (c < '0' || c > '9')
            break;
        *value = *value * 10 + (uint32_t)(c - '0');
    }
    return count > 0;
}

/* The next sample, in 0 ... most. bit: of a row of raw bits, the number of the sample. */
static bool read_sample(pnm *p, int kind, uint32_t most, size_t bit, uint32_t *value)
{
    if (kind <= 3)
        return read_number(p, kind == 1 ? 1 : 5, value);
    if (kind == 4) {
        if (p->at >= p->source.size)
            return false;
        *value = p->source.data[p->at] >> (7 - bit % 8) & 1;
        p->at += bit % 8 == 7;
        return true;
    }
    size_t bytes = most > 255 ? 2 : 1;
    if (p->source.size - p->at < bytes)
        return false;
    *value = bytes == 2 ? (uint32_t)p->source.data[p->at] << 8 | p->source.data[p->at + 1] : p->source.data[p->at];
    p->at += bytes;
    return true;
}

static bool read_row(pnm *p, int kind, uint32_t most, size_t width, uint8_t *rgb)
{
    size_t channels = kind % 3 == 0 ? 3 : 1;
    bool bits = kind % 3 == 1; /* of which 1 is black */
    for (size_t i = 0; i < width * channels; i++) {
        uint32_t value;
        if (!read_sample(p, kind, most, i, &value) || value > most)
            return false;
        uint8_t byte = (uint8_t)(((bits ? 1 - value : value) * UINT32_C(255) + most / 2) / most);
        if (channels == 3)
            rgb[i] = byte;
        else
            memset(rgb + 3 * i, byte, 3);
    }
    p->at += kind == 4 && width % 8 != 0; /* rows of bits end with a byte */
    return true;
}

ingot_status ingot_image_decode_pnm(ingot_image_source source, const ingot_image_target *target, ingot_error *error)
{
    pnm p = {source, 2};
    int kind = source.data[1] - '0';
    uint32_t width, height, most = 1;
    uint8_t *rgb;
    if (!read_number(&p, 9, &width) || !read_number(&p, 9, &height) || (kind % 3 != 1 && !read_number(&p, 5, &most)) ||
        most < 1 || most > 65535)
        return DAMAGED(error, "its header is none");
    if (kind > 3 && (p.at >= source.size || !is_space(source.data[p.at++])))
        return DAMAGED(error, "its header does not end");
    if ((uint64_t)width * height / 8 > source.size) /* even a bit a pixel does not fit */
        return DAMAGED(error, "its pixels are cut off");
    INGOT_TRY(ingot_image_make(target, width, height, &rgb, error));
    for (size_t y = 0; y < height; y++)
        if (!read_row(&p, kind, most, width, rgb + 3 * y * width))
            return DAMAGED(error, "its pixels are cut off or out of range");
    return INGOT_OK;
}

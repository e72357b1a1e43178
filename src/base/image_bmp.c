/* BMP, without compression: 1, 4, 8 bits with a palette, 16, 24, 32 bits with or without masks. */
#include "base/image.h"

typedef struct bmp {
    ingot_image_source source;
    uint32_t header; /* its size: 12 for OS/2's, 40 and more for Windows' */
    int64_t width, height;
    bool upwards; /* the last row comes first */
    uint32_t bits, compression;
    size_t palette, colors, color_size; /* of the palette: where, how many, bytes of each */
    uint32_t pixels;                    /* where they begin */
    uint32_t masks[3];
} bmp;

static uint32_t number(const bmp *b, size_t at, size_t bytes)
{
    uint32_t value = 0;
    for (size_t i = 0; i < bytes; i++)
        value |= (uint32_t)b->source.data[at + i] << 8 * i;
    return value;
}

#define DAMAGED(error, why) ingot_image_damaged(error, "BMP", why)
#define FILE_HEADER         14

enum { BMP_PLAIN = 0, BMP_MASKS = 3 };

static ingot_status read_header(bmp *b, ingot_error *error)
{
    if (b->source.size < FILE_HEADER + 12)
        return DAMAGED(error, "it is cut off");
    b->pixels = number(b, 10, 4);
    b->header = number(b, 14, 4);
    bool old = b->header == 12;
    if ((!old && b->header < 40) || b->header > b->source.size - FILE_HEADER)
        return DAMAGED(error, "its header has a wrong size");
    b->width = old ? (int64_t)number(b, 18, 2) : (int64_t)(int32_t)number(b, 18, 4);
    b->height = old ? (int64_t)number(b, 20, 2) : (int64_t)(int32_t)number(b, 22, 4);
    b->upwards = b->height > 0;
    b->height = b->upwards ? b->height : -b->height;
    b->bits = number(b, old ? 24 : 28, 2);
    b->compression = old ? BMP_PLAIN : number(b, 30, 4);
    b->colors = old ? 0 : number(b, 46, 4);
    b->color_size = old ? 3 : 4;
    b->palette = FILE_HEADER + b->header;
    if (b->width <= 0 || b->height == 0)
        return DAMAGED(error, "it has no pixels");
    return INGOT_OK;
}

static ingot_status read_colors(bmp *b, ingot_error *error)
{
    static const uint32_t masks_16[3] = {0x7C00, 0x3E0, 0x1F}, masks_32[3] = {0xFF0000, 0xFF00, 0xFF};
    bool masks = b->compression == BMP_MASKS && (b->bits == 16 || b->bits == 32);
    if (b->compression != BMP_PLAIN && !masks)
        return DAMAGED(error, "it is compressed");
    if (b->bits != 1 && b->bits != 4 && b->bits != 8 && b->bits != 16 && b->bits != 24 && b->bits != 32)
        return DAMAGED(error, "it has an unknown number of bits a pixel");
    if (masks && b->source.size < FILE_HEADER + 52)
        return DAMAGED(error, "it is cut off");
    for (int i = 0; i < 3; i++)
        b->masks[i] = masks ? number(b, FILE_HEADER + 40 + 4 * (size_t)i, 4) : (b->bits == 16 ? masks_16 : masks_32)[i];
    if (b->bits > 8)
        return INGOT_OK;
    size_t most = (size_t)1 << b->bits;
    b->colors = b->colors == 0 || b->colors > most ? most : b->colors;
    if (b->palette > b->source.size || b->colors > (b->source.size - b->palette) / b->color_size)
        return DAMAGED(error, "its palette is cut off");
    return INGOT_OK;
}

/* The bits of a mask, spread over 0 ... 255. */
static uint8_t masked(uint32_t pixel, uint32_t mask)
{
    if (mask == 0)
        return 0;
    while (!(mask & 1)) {
        mask >>= 1;
        pixel >>= 1;
    }
    return (uint8_t)(((uint64_t)(pixel & mask) * 255 + mask / 2) / mask);
}

/* Red, green and blue of pixel x of a row. */
static bool read_pixel(const bmp *b, size_t row, size_t x, uint8_t *rgb)
{
    if (b->bits <= 8) {
        size_t bit = x * b->bits, shift = 8 - b->bits - bit % 8;
        size_t index = (size_t)b->source.data[row + bit / 8] >> shift & (((size_t)1 << b->bits) - 1);
        if (index >= b->colors)
            return false;
        for (size_t i = 0; i < 3; i++)
            rgb[i] = b->source.data[b->palette + index * b->color_size + 2 - i];
        return true;
    }
    size_t bytes = b->bits / 8;
    uint32_t pixel = number(b, row + x * bytes, bytes);
    for (size_t i = 0; i < 3; i++)
        rgb[i] = masked(pixel, b->masks[i]);
    return true;
}

ingot_status ingot_image_decode_bmp(ingot_image_source source, const ingot_image_target *target, ingot_error *error)
{
    bmp b = {.source = source};
    uint8_t *rgb;
    INGOT_TRY(read_header(&b, error));
    INGOT_TRY(read_colors(&b, error));
    uint64_t width = (uint64_t)b.width, height = (uint64_t)b.height, stride = (width * b.bits + 31) / 32 * 4;
    if (b.pixels > source.size || height > (source.size - b.pixels) / stride)
        return DAMAGED(error, "its pixels are cut off");
    INGOT_TRY(ingot_image_make(target, width, height, &rgb, error));
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++) {
            size_t row = b.pixels + (size_t)stride * (b.upwards ? (size_t)height - 1 - y : y);
            if (!read_pixel(&b, row, x, rgb + 3 * (y * (size_t)width + x)))
                return DAMAGED(error, "a pixel's color is not in its palette");
        }
    return INGOT_OK;
}

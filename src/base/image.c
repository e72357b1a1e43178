#include "base/image.h"

#include <string.h>

/* Formats by their first bytes; '?' stands for any byte. */
static const struct {
    const char *bytes;
    size_t size;
    ingot_image_decoder decode;
} formats[] = {
    {"\xFF\xD8\xFF", 3, ingot_image_decode_jpeg},
    {"\x89PNG\r\n\x1A\n", 8, ingot_image_decode_png},
    {"BM", 2, ingot_image_decode_bmp},
    {"RIFF????WEBP", 12, ingot_image_decode_webp},
    {"II*\0", 4, ingot_image_decode_tiff},
    {"MM\0*", 4, ingot_image_decode_tiff},
    {"II+\0", 4, ingot_image_decode_tiff},
    {"MM\0+", 4, ingot_image_decode_tiff},
    {"\0\0\0\x0CjP  \r\n\x87\n", 12, ingot_image_decode_jpeg2000},
    {"\xFF\x4F\xFF\x51", 4, ingot_image_decode_jpeg2000},
    {"P1", 2, ingot_image_decode_pnm},
    {"P2", 2, ingot_image_decode_pnm},
    {"P3", 2, ingot_image_decode_pnm},
    {"P4", 2, ingot_image_decode_pnm},
    {"P5", 2, ingot_image_decode_pnm},
    {"P6", 2, ingot_image_decode_pnm},
};

static bool begins_with(ingot_image_source source, const char *bytes, size_t size)
{
    if (source.size < size)
        return false;
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != '?' && source.data[i] != (uint8_t)bytes[i])
            return false;
    return true;
}

ingot_status ingot_image_decode(ingot_image_source source, const ingot_image_target *target, ingot_error *error)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (begins_with(source, formats[i].bytes, formats[i].size))
            return formats[i].decode(source, target, error);
    return ingot_fail(error, INGOT_INVALID_INPUT, "the data is no picture of a known format");
}

ingot_status ingot_image_make(const ingot_image_target *target, uint64_t width, uint64_t height, uint8_t **rgb,
                              ingot_error *error)
{
    if (width == 0 || height == 0 || width > INGOT_IMAGE_SIDE || height > INGOT_IMAGE_SIDE ||
        width * height > INGOT_IMAGE_PIXELS)
        return ingot_fail(error, INGOT_INVALID_INPUT, "a picture of %llu x %llu pixels is empty or too large",
                          (unsigned long long)width, (unsigned long long)height);
    return target->make(target->context, (size_t)width, (size_t)height, rgb, error);
}

ingot_status ingot_image_damaged(ingot_error *error, const char *format, const char *why)
{
    return ingot_fail(error, INGOT_INVALID_INPUT, "the data is no good %s: %s", format, why);
}

ingot_status ingot_image_missing(ingot_error *error, const char *format, const char *package, const char *option)
{
    return ingot_fail(error, INGOT_UNSUPPORTED,
                      "the picture is a %s, which this build of Ingot cannot read: install %s and build with "
                      "-D%s=enabled",
                      format, package, option);
}

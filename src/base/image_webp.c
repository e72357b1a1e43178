#include "base/image.h"

#ifdef INGOT_HAVE_WEBP

#include <webp/decode.h>

ingot_status ingot_image_decode_webp(ingot_image_source source, const ingot_image_target *target, ingot_error *error)
{
    int width, height;
    uint8_t *rgb;
    if (!WebPGetInfo(source.data, source.size, &width, &height) || width <= 0 || height <= 0)
        return ingot_image_damaged(error, "WebP", "its header is none");
    INGOT_TRY(ingot_image_make(target, (uint64_t)width, (uint64_t)height, &rgb, error));
    size_t stride = 3 * (size_t)width;
    if (!WebPDecodeRGBInto(source.data, source.size, rgb, stride * (size_t)height, (int)stride))
        return ingot_image_damaged(error, "WebP", "it cannot be decoded");
    return INGOT_OK;
}

#else

ingot_status ingot_image_decode_webp(ingot_image_source source, const ingot_image_target *target, ingot_error *error)
{
    return ingot_image_missing(error, "WebP", "libwebp-dev", "webp");
}

#endif

#include "base/image.h"

#ifdef INGOT_HAVE_TIFF

#include <string.h>

#include <tiffio.h>

#include "base/memory.h"

/* Most bytes of one block that the library asks for: a strip that says more is not believed. */
#define MOST_MEMORY ((tmsize_t)1 << 30)

typedef struct reader {
    ingot_image_source source;
    uint64_t at;
    ingot_error *error;
} reader;

static tmsize_t read_bytes(thandle_t handle, void *to, tmsize_t size)
{
    reader *r = handle;
    if (r->at >= r->source.size || size <= 0)
        return 0;
    size_t left = r->source.size - (size_t)r->at, count = (size_t)size < left ? (size_t)size : left;
    memcpy(to, r->source.data + r->at, count);
    r->at += count;
    return (tmsize_t)count;
}

static tmsize_t write_bytes(thandle_t handle, void *from, tmsize_t size)
{
    return -1;
}

static toff_t seek(thandle_t handle, toff_t offset, int whence)
{
    reader *r = handle;
    r->at = whence == SEEK_CUR ? r->at + offset : whence == SEEK_END ? r->source.size + offset : offset;
    return r->at;
}

static int close_nothing(thandle_t handle)
{
    return 0;
}

static toff_t size_of(thandle_t handle)
{
    return ((reader *)handle)->source.size;
}

/* Nothing is printed; that it failed is known from the results. */
static int keep_quiet(TIFF *tiff, void *user, const char *module, const char *format, va_list arguments)
{
    return 1;
}

static TIFF *open_tiff(reader *r)
{
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options)
        return NULL;
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, MOST_MEMORY);
    TIFFOpenOptionsSetErrorHandlerExtR(options, keep_quiet, NULL);
    TIFFOpenOptionsSetWarningHandlerExtR(options, keep_quiet, NULL);
    TIFF *tiff =
        TIFFClientOpenExt("", "rm", r, read_bytes, write_bytes, seek, close_nothing, size_of, NULL, NULL, options);
    TIFFOpenOptionsFree(options);
    return tiff;
}

static ingot_status decode(TIFF *tiff, const ingot_image_target *target, ingot_error *error)
{
    uint32_t width = 0, height = 0;
    uint8_t *rgb;
    if (!TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width) || !TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height))
        return ingot_image_damaged(error, "TIFF", "it has no size");
    INGOT_TRY(ingot_image_make(target, width, height, &rgb, error));
    size_t count = (size_t)width * height;
    uint32_t *pixels = ingot_malloc(count * sizeof *pixels);
    if (!pixels)
        return ingot_fail_memory(error, count * sizeof *pixels, "a picture");
    bool good = TIFFReadRGBAImageOriented(tiff, width, height, pixels, ORIENTATION_TOPLEFT, 1);
    for (size_t i = 0; i < count && good; i++) {
        rgb[3 * i] = (uint8_t)TIFFGetR(pixels[i]);
        rgb[3 * i + 1] = (uint8_t)TIFFGetG(pixels[i]);
        rgb[3 * i + 2] = (uint8_t)TIFFGetB(pixels[i]);
    }
    ingot_free(pixels);
    return good ? INGOT_OK : ingot_image_damaged(error, "TIFF", "it cannot be decoded");
}

ingot_status ingot_image_decode_tiff(ingot_image_source source, const ingot_image_target *target, ingot_error *error)
{
    reader r = {source, 0, error};
    TIFF *tiff = open_tiff(&r);
    if (!tiff)
        return ingot_image_damaged(error, "TIFF", "its header is none");
    ingot_status status = decode(tiff, target, error);
    TIFFClose(tiff);
    return status;
}

#else

ingot_status ingot_image_decode_tiff(ingot_image_source source, const ingot_image_target *target, ingot_error *error)
{
    return ingot_image_missing(error, "TIFF", "libtiff-dev", "tiff");
}

#endif

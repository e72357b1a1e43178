/* Decoding pictures in memory to 8 bits a channel: red, green, blue.
 *
 * BMP and PNM are read here, JPEG, PNG, WebP, TIFF and JPEG 2000 by their libraries, where the build has them. Nothing is
 * trusted: sizes are limited, and checked with the caller before any memory of that size is asked for. */
#ifndef INGOT_BASE_IMAGE_H
#define INGOT_BASE_IMAGE_H

#include "base/status.h"

/* Most pixels, and most pixels a side. */
#define INGOT_IMAGE_PIXELS ((size_t)1 << 28)
#define INGOT_IMAGE_SIDE   ((size_t)1 << 20)

/* Where the picture goes. make is called once the size is known; it sets *rgb to height * width * 3 bytes, row by row without
 * gaps, or fails, which ends the decoding. */
typedef struct ingot_image_target {
    ingot_status (*make)(void *context, size_t width, size_t height, uint8_t **rgb, ingot_error *error);
    void *context;
} ingot_image_target;

typedef struct ingot_image_source {
    const uint8_t *data;
    size_t size;
} ingot_image_source;

/* INGOT_INVALID_INPUT where the data is no picture, is damaged or of a kind that is not known; INGOT_UNSUPPORTED, naming the
 * library, where this build cannot read its format; else make's failure. */
ingot_status ingot_image_decode(ingot_image_source source, const ingot_image_target *target, ingot_error *error);

/* ---- One format each, for image.c ---- */
typedef ingot_status (*ingot_image_decoder)(ingot_image_source source, const ingot_image_target *target,
                                            ingot_error *error);
ingot_status ingot_image_decode_bmp(ingot_image_source source, const ingot_image_target *target, ingot_error *error);
ingot_status ingot_image_decode_jpeg(ingot_image_source source, const ingot_image_target *target, ingot_error *error);
ingot_status ingot_image_decode_jpeg2000(ingot_image_source source, const ingot_image_target *target,
                                         ingot_error *error);
ingot_status ingot_image_decode_png(ingot_image_source source, const ingot_image_target *target, ingot_error *error);
ingot_status ingot_image_decode_pnm(ingot_image_source source, const ingot_image_target *target, ingot_error *error);
ingot_status ingot_image_decode_tiff(ingot_image_source source, const ingot_image_target *target, ingot_error *error);
ingot_status ingot_image_decode_webp(ingot_image_source source, const ingot_image_target *target, ingot_error *error);

/* make, after the size is checked. */
ingot_status ingot_image_make(const ingot_image_target *target, uint64_t width, uint64_t height, uint8_t **rgb,
                              ingot_error *error);
/* INGOT_INVALID_INPUT: why the data is no good picture of that format. */
ingot_status ingot_image_damaged(ingot_error *error, const char *format, const char *why);
/* INGOT_UNSUPPORTED: the format's library is not in this build. */
ingot_status ingot_image_missing(ingot_error *error, const char *format, const char *package, const char *option);

#endif

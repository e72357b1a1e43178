#include "base/image.h"

#ifdef INGOT_HAVE_PNG

#include <png.h>
#include <string.h>

#include "base/memory.h"

typedef struct reader {
    ingot_image_source source;
    size_t at;
    ingot_error *error;
    ingot_status status;
    png_bytep *rows;
} reader;

static void read_bytes(png_structp png, png_bytep to, png_size_t size)
{
    reader *r = png_get_io_ptr(png);
    if (size > r->source.size - r->at)
        png_error(png, "it is cut off");
    memcpy(to, r->source.data + r->at, size);
    r->at += size;
}

static void leave(png_structp png, png_const_charp message)
{
    reader *r = png_get_error_ptr(png);
    r->status = ingot_image_damaged(r->error, "PNG", message);
    png_longjmp(png, 1);
}

static void ignore(png_structp png, png_const_charp message)
{
}

static ingot_status decode(png_structp png, png_infop info, const ingot_image_target *target, reader *r)
{
    uint8_t *rgb;
    if (setjmp(png_jmpbuf(png)))
        return r->status;
    png_read_info(png, info);
    png_set_expand(png);
    png_set_scale_16(png);
    png_set_strip_alpha(png);
    png_set_gray_to_rgb(png);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
    size_t width = png_get_image_width(png, info), height = png_get_image_height(png, info);
    if (png_get_rowbytes(png, info) != 3 * width)
        return ingot_image_damaged(r->error, "PNG", "its pixels are of an unknown kind");
    INGOT_TRY(ingot_image_make(target, width, height, &rgb, r->error));
    r->rows = ingot_calloc(height, sizeof *r->rows);
    if (!r->rows)
        return ingot_fail_memory(r->error, height * sizeof *r->rows, "a picture");
    for (size_t y = 0; y < height; y++)
        r->rows[y] = rgb + 3 * y * width;
    png_read_image(png, r->rows);
    png_read_end(png, NULL);
    return INGOT_OK;
}

ingot_status ingot_image_decode_png(ingot_image_source source, const ingot_image_target *target, ingot_error *error)
{
    reader r = {.source = source, .error = error};
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &r, leave, ignore);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    ingot_status status = info ? INGOT_OK : ingot_fail_memory(error, sizeof r, "a picture");
    if (status == INGOT_OK) {
        png_set_read_fn(png, &r, read_bytes);
        png_set_user_limits(png, INGOT_IMAGE_SIDE, INGOT_IMAGE_SIDE);
        status = decode(png, info, target, &r);
    }
    png_destroy_read_struct(&png, &info, NULL);
    ingot_free(r.rows);
    return status;
}

#else

ingot_status ingot_image_decode_png(ingot_image_source source, const ingot_image_target *target, ingot_error *error)
{
    return ingot_image_missing(error, "PNG", "libpng-dev", "png");
}

#endif

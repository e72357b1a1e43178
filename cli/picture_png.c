#include "picture.h"
#include "report.h"

#ifdef INGOT_HAVE_PNG
#include <png.h>
#include <stdlib.h>
#include <string.h>

/* A file in memory that libpng reads from, and where its message goes. */
typedef struct png_source {
    const cli_bytes *file;
    size_t at;
    ingot_error *error;
} png_source;

static void read_bytes(png_structp png, png_bytep to, png_size_t size)
{
    png_source *source = png_get_io_ptr(png);
    if (size > source->file->size - source->at)
        png_error(png, "the file is cut off");
    memcpy(to, source->file->data + source->at, size);
    source->at += size;
}

static void fail(png_structp png, png_const_charp message)
{
    png_source *source = png_get_error_ptr(png);
    cli_fail(source->error, INGOT_INVALID_INPUT, "is no good PNG: %s", message);
    png_longjmp(png, 1);
}

static void ignore_warning(png_structp png, png_const_charp message)
{
}

/* Asks for 8 bits a channel, without palette and alpha. */
static void set_transforms(png_structp png, png_infop info)
{
    png_set_expand(png);
    png_set_strip_16(png);
    png_set_strip_alpha(png);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
}

/* libpng leaves through longjmp on failure: picture and rows are freed by the caller, who holds them. */
static ingot_status decode(png_structp png, png_infop info, cli_picture *picture, png_bytep **rows, ingot_error *error)
{
    if (setjmp(png_jmpbuf(png)))
        return error->status;
    png_read_info(png, info);
    set_transforms(png, info);
    size_t width = png_get_image_width(png, info), height = png_get_image_height(png, info);
    CLI_TRY(cli_picture_make(width, height, png_get_channels(png, info), picture, error));
    *rows = calloc(height, sizeof **rows);
    if (!*rows)
        return cli_fail_memory(error, "the picture");
    for (size_t y = 0; y < height; y++)
        (*rows)[y] = picture->pixels + y * width * picture->channels;
    png_read_image(png, *rows);
    png_read_end(png, NULL);
    return INGOT_OK;
}

ingot_status cli_png_decode(const cli_bytes *file, cli_picture *picture, ingot_error *error)
{
    png_source source = {file, 0, error};
    png_bytep *rows = NULL;
    *picture = (cli_picture){NULL, 0, 0, 0};
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &source, fail, ignore_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    ingot_status status = info ? INGOT_OK : cli_fail_memory(error, "the picture");
    if (status == INGOT_OK) {
        png_set_read_fn(png, &source, read_bytes);
        png_set_user_limits(png, 1 << 20, 1 << 20);
        status = decode(png, info, picture, &rows, error);
    }
    png_destroy_read_struct(&png, &info, NULL);
    free(rows);
    if (status != INGOT_OK)
        cli_picture_free(picture);
    return status;
}

#else

ingot_status cli_png_decode(const cli_bytes *file, cli_picture *picture, ingot_error *error)
{
    return cli_fail(error, INGOT_UNSUPPORTED, "this ingot was built without PNG; build it with libpng-dev installed");
}

#endif

/* Pictures: decoding of .png and .jpg files to 8 bits a channel, and the steps from pixels to a model's input. */
#ifndef INGOT_CLI_PICTURE_H
#define INGOT_CLI_PICTURE_H

#include "file.h"

/* Pixels row by row, channels together: 1 grey, 3 red, green, blue. Alpha is dropped, palettes are looked up. */
typedef struct cli_picture {
    unsigned char *pixels; /* freed by cli_picture_free */
    size_t width, height, channels;
} cli_picture;

/* Most pixels that a picture may have. */
#define CLI_PICTURE_PIXELS ((size_t)1 << 28)

/* True where the name of the file is that of a picture. */
bool cli_picture_is(const char *path);
ingot_status cli_picture_read(const char *path, cli_picture *picture, ingot_error *error);
void cli_picture_free(cli_picture *picture);

/* Decoders of the formats: of a whole file in memory. */
ingot_status cli_png_decode(const cli_bytes *file, cli_picture *picture, ingot_error *error);
ingot_status cli_jpeg_decode(const cli_bytes *file, cli_picture *picture, ingot_error *error);

/* Memory for the pixels of a picture of this size, within CLI_PICTURE_PIXELS. */
ingot_status cli_picture_make(size_t width, size_t height, size_t channels, cli_picture *picture, ingot_error *error);

typedef enum cli_filter {
    CLI_FILTER_BILINEAR, /* a triangle; when shrinking as wide as the step between pixels, so that it averages */
    CLI_FILTER_BICUBIC,  /* the cubic with a = -1/2, widened in the same way */
    CLI_FILTER_NEAREST,
} cli_filter;

/* Replaces a picture by one of width x height. The two smooth filters go over rows, then columns, each rounded to 8 bits,
 * as Pillow does it: the results are equal to Pillow's, byte by byte. */
ingot_status cli_picture_resize(cli_picture *picture, size_t width, size_t height, cli_filter filter,
                                ingot_error *error);

/* Replaces a picture by the part of width x height at left, top, which lies within it. */
ingot_status cli_picture_crop(cli_picture *picture, size_t left, size_t top, size_t width, size_t height,
                              ingot_error *error);

/* Replaces a picture by one of width x height that holds it at the upper left; the rest is value. */
ingot_status cli_picture_pad(cli_picture *picture, size_t width, size_t height, unsigned char value,
                             ingot_error *error);

/* Replaces a picture by a grey or a coloured one. */
ingot_status cli_picture_set_channels(cli_picture *picture, size_t channels, ingot_error *error);

#endif

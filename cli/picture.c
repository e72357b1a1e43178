#include "picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

typedef struct picture_format {
    const char *extension;
    ingot_status (*decode)(const cli_bytes *file, cli_picture *picture, ingot_error *error);
} picture_format;

static const picture_format formats[] = {
    {"png", cli_png_decode},
    {"jpg", cli_jpeg_decode},
    {"jpeg", cli_jpeg_decode},
};

static const picture_format *format_of(const char *path)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (cli_has_extension(path, formats[i].extension))
            return &formats[i];
    return NULL;
}

bool cli_picture_is(const char *path)
{
    return format_of(path) != NULL;
}

ingot_status cli_picture_read(const char *path, cli_picture *picture, ingot_error *error)
{
    cli_bytes file;
    CLI_TRY(cli_file_read(path, &file, error));
    ingot_status status = format_of(path)->decode(&file, picture, error);
    cli_bytes_free(&file);
    return status == INGOT_OK ? status : cli_fail_at(error, "%s", path);
}

void cli_picture_free(cli_picture *picture)
{
    free(picture->pixels);
    *picture = (cli_picture){NULL, 0, 0, 0};
}

ingot_status cli_picture_make(size_t width, size_t height, size_t channels, cli_picture *picture, ingot_error *error)
{
    if (width == 0 || height == 0 || width > CLI_PICTURE_PIXELS / height)
        return cli_fail(error, INGOT_INVALID_INPUT, "a picture of %zu x %zu pixels: from 1 to %zu pixels are possible",
                        width, height, CLI_PICTURE_PIXELS);
    *picture = (cli_picture){malloc(width * height * channels), width, height, channels};
    return picture->pixels ? INGOT_OK : cli_fail_memory(error, "the picture");
}

/* Frees the old pixels and takes over the new picture. */
static ingot_status replace(cli_picture *picture, cli_picture *by)
{
    cli_picture_free(picture);
    *picture = *by;
    return INGOT_OK;
}

/* The weights with which output pixel number i of one row is made: count of them, from input pixel first on, as whole
 * numbers that sum up to about 2^WEIGHT_BITS. */
enum { WEIGHT_BITS = 22 };
typedef struct weights {
    size_t most;    /* weights kept for each output pixel */
    size_t *first;  /* [outputs] */
    size_t *count;  /* [outputs] */
    int32_t *value; /* [outputs][most] */
} weights;

static double triangle(double x)
{
    x = fabs(x);
    return x < 1 ? 1 - x : 0;
}

static double cubic(double x)
{
    const double a = -0.5;
    x = fabs(x);
    if (x < 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

static void weights_free(weights *w)
{
    free(w->first);
    free(w->count);
    free(w->value);
}

/* Weights of one output pixel, whose centre lies at centre among the input pixels. */
static void weigh(weights *w, size_t index, size_t inputs, double centre, double scale, double support,
                  double (*shape)(double), double *scratch)
{
    double low = centre - support + 0.5, high = centre + support + 0.5, sum = 0;
    size_t first = low > 0 ? (size_t)low : 0, end = high < (double)inputs ? (size_t)high : inputs;
    size_t count = end - first;
    for (size_t k = 0; k < count; k++) {
        scratch[k] = shape(((double)k + (double)first - centre + 0.5) * (1 / scale));
        sum += scratch[k];
    }
    for (size_t k = 0; k < count; k++) {
        double value = (sum != 0 ? scratch[k] / sum : scratch[k]) * (1 << WEIGHT_BITS);
        w->value[index * w->most + k] = (int32_t)(value < 0 ? value - 0.5 : value + 0.5);
    }
    w->first[index] = first;
    w->count[index] = count;
}

static ingot_status weights_make(weights *w, size_t inputs, size_t outputs, cli_filter filter, ingot_error *error)
{
    double step = (double)inputs / (double)outputs, scale = step > 1 ? step : 1;
    double support = (filter == CLI_FILTER_BICUBIC ? 2 : 1) * scale;
    w->most = (size_t)ceil(support) * 2 + 1;
    w->first = calloc(outputs, sizeof *w->first);
    w->count = calloc(outputs, sizeof *w->count);
    w->value = w->most > SIZE_MAX / outputs ? NULL : calloc(outputs * w->most, sizeof *w->value);
    double *scratch = calloc(w->most, sizeof *scratch);
    bool complete = w->first && w->count && w->value && scratch;
    for (size_t i = 0; i < outputs && complete; i++)
        weigh(w, i, inputs, ((double)i + 0.5) * step, scale, support, filter == CLI_FILTER_BICUBIC ? cubic : triangle,
              scratch);
    free(scratch);
    if (complete)
        return INGOT_OK;
    weights_free(w);
    return cli_fail_memory(error, "the filter of a picture");
}

/* One output byte: input bytes at from, stride apart, times weights. */
static unsigned char weighted_sum(const unsigned char *from, size_t stride, const int32_t *values, size_t count)
{
    int64_t sum = (int64_t)1 << (WEIGHT_BITS - 1);
    for (size_t k = 0; k < count; k++)
        sum += (int64_t)values[k] * from[k * stride];
    sum = sum < 0 ? 0 : sum >> WEIGHT_BITS;
    return (unsigned char)(sum > 255 ? 255 : sum);
}

static ingot_status resize_rows(cli_picture *picture, size_t width, cli_filter filter, ingot_error *error)
{
    weights w;
    cli_picture made;
    size_t channels = picture->channels;
    CLI_TRY(weights_make(&w, picture->width, width, filter, error));
    ingot_status status = cli_picture_make(width, picture->height, channels, &made, error);
    for (size_t y = 0; y < picture->height && status == INGOT_OK; y++) {
        const unsigned char *from = picture->pixels + y * picture->width * channels;
        unsigned char *to = made.pixels + y * width * channels;
        for (size_t x = 0; x < width; x++)
            for (size_t c = 0; c < channels; c++)
                to[x * channels + c] =
                    weighted_sum(from + w.first[x] * channels + c, channels, w.value + x * w.most, w.count[x]);
    }
    weights_free(&w);
    return status == INGOT_OK ? replace(picture, &made) : status;
}

static ingot_status resize_columns(cli_picture *picture, size_t height, cli_filter filter, ingot_error *error)
{
    weights w;
    cli_picture made;
    size_t row = picture->width * picture->channels;
    CLI_TRY(weights_make(&w, picture->height, height, filter, error));
    ingot_status status = cli_picture_make(picture->width, height, picture->channels, &made, error);
    for (size_t y = 0; y < height && status == INGOT_OK; y++)
        for (size_t x = 0; x < row; x++)
            made.pixels[y * row + x] =
                weighted_sum(picture->pixels + w.first[y] * row + x, row, w.value + y * w.most, w.count[y]);
    weights_free(&w);
    return status == INGOT_OK ? replace(picture, &made) : status;
}

/* The input pixels below the centres of the output pixels; the centres are summed up, as Pillow does it. */
static size_t *nearest_make(size_t inputs, size_t outputs)
{
    size_t *places = calloc(outputs, sizeof *places);
    double step = (double)inputs / (double)outputs, centre = step * 0.5;
    for (size_t i = 0; i < outputs && places; i++, centre += step)
        places[i] = (size_t)centre < inputs ? (size_t)centre : inputs - 1;
    return places;
}

static ingot_status resize_nearest(cli_picture *picture, size_t width, size_t height, ingot_error *error)
{
    cli_picture made = {0};
    size_t channels = picture->channels;
    size_t *columns = nearest_make(picture->width, width), *rows = nearest_make(picture->height, height);
    ingot_status status = columns && rows ? cli_picture_make(width, height, channels, &made, error)
                                          : cli_fail_memory(error, "the filter of a picture");
    for (size_t y = 0; y < height && status == INGOT_OK; y++) {
        const unsigned char *from = picture->pixels + rows[y] * picture->width * channels;
        for (size_t x = 0; x < width; x++)
            memcpy(made.pixels + (y * width + x) * channels, from + columns[x] * channels, channels);
    }
    free(columns);
    free(rows);
    return status == INGOT_OK ? replace(picture, &made) : status;
}

ingot_status cli_picture_resize(cli_picture *picture, size_t width, size_t height, cli_filter filter,
                                ingot_error *error)
{
    if (width == picture->width && height == picture->height)
        return INGOT_OK;
    if (width == 0 || height == 0 || width > CLI_PICTURE_PIXELS / height)
        return cli_fail(error, INGOT_INVALID_INPUT, "a picture cannot be resized to %zu x %zu pixels", width, height);
    if (filter == CLI_FILTER_NEAREST)
        return resize_nearest(picture, width, height, error);
    if (width != picture->width)
        CLI_TRY(resize_rows(picture, width, filter, error));
    return height != picture->height ? resize_columns(picture, height, filter, error) : INGOT_OK;
}

/* Copies rows of bytes between pictures of different widths. */
static void copy_rows(unsigned char *to, size_t to_row, const unsigned char *from, size_t from_row, size_t bytes,
                      size_t rows)
{
    for (size_t y = 0; y < rows; y++)
        memcpy(to + y * to_row, from + y * from_row, bytes);
}

ingot_status cli_picture_crop(cli_picture *picture, size_t left, size_t top, size_t width, size_t height,
                              ingot_error *error)
{
    cli_picture made;
    size_t channels = picture->channels, row = picture->width * channels;
    CLI_TRY(cli_picture_make(width, height, channels, &made, error));
    copy_rows(made.pixels, width * channels, picture->pixels + top * row + left * channels, row, width * channels,
              height);
    return replace(picture, &made);
}

ingot_status cli_picture_pad(cli_picture *picture, size_t width, size_t height, unsigned char value, ingot_error *error)
{
    cli_picture made;
    size_t channels = picture->channels, row = picture->width * channels;
    CLI_TRY(cli_picture_make(width, height, channels, &made, error));
    memset(made.pixels, value, width * height * channels);
    copy_rows(made.pixels, width * channels, picture->pixels, row, row, picture->height);
    return replace(picture, &made);
}

ingot_status cli_picture_set_channels(cli_picture *picture, size_t channels, ingot_error *error)
{
    cli_picture made;
    if (picture->channels == channels)
        return INGOT_OK;
    CLI_TRY(cli_picture_make(picture->width, picture->height, channels, &made, error));
    for (size_t i = 0; i < picture->width * picture->height; i++) {
        const unsigned char *from = picture->pixels + i * picture->channels;
        if (channels == 1) /* .299 red, .587 green, .114 blue in 2^-16 */
            made.pixels[i] = (unsigned char)((from[0] * 19595u + from[1] * 38470u + from[2] * 7471u + 0x8000u) >> 16);
        else
            memset(made.pixels + i * channels, from[0], channels);
    }
    return replace(picture, &made);
}

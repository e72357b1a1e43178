#include "base/image.h"

#ifdef INGOT_HAVE_JPEG2000

#include <string.h>

#include <openjpeg.h>

typedef struct reader {
    ingot_image_source source;
    size_t at;
} reader;

static OPJ_SIZE_T read_bytes(void *to, OPJ_SIZE_T size, void *user)
{
    reader *r = user;
    size_t left = r->source.size - r->at, count = size < left ? size : left;
    if (count == 0)
        return (OPJ_SIZE_T)-1;
    memcpy(to, r->source.data + r->at, count);
    r->at += count;
    return count;
}

static OPJ_OFF_T skip(OPJ_OFF_T count, void *user)
{
    reader *r = user;
    if (count < 0 || (uint64_t)count > r->source.size - r->at)
        return -1;
    r->at += (size_t)count;
    return count;
}

static OPJ_BOOL seek(OPJ_OFF_T at, void *user)
{
    reader *r = user;
    if (at < 0 || (uint64_t)at > r->source.size)
        return OPJ_FALSE;
    r->at = (size_t)at;
    return OPJ_TRUE;
}

static void ignore(const char *message, void *user)
{
}

static opj_stream_t *open_stream(reader *r)
{
    opj_stream_t *stream = opj_stream_default_create(OPJ_TRUE);
    if (!stream)
        return NULL;
    opj_stream_set_read_function(stream, read_bytes);
    opj_stream_set_skip_function(stream, skip);
    opj_stream_set_seek_function(stream, seek);
    opj_stream_set_user_data(stream, r, NULL);
    opj_stream_set_user_data_length(stream, r->source.size);
    return stream;
}

/* Most pixels: the library takes 4 bytes for each sample, however few bytes the file has. */
#define MOST_PIXELS         ((uint64_t)1 << 26)

#define DAMAGED(error, why) ingot_image_damaged(error, "JPEG 2000", why)

/* A sample of a component as 8 bits without sign; components may be coarser than the picture. */
static int sample(const opj_image_t *image, size_t component, size_t x, size_t y)
{
    const opj_image_comp_t *c = &image->comps[component];
    size_t column = x / c->dx < c->w ? x / c->dx : c->w - 1, row = y / c->dy < c->h ? y / c->dy : c->h - 1;
    int64_t value = c->data[row * c->w + column] + (c->sgnd ? INT64_C(1) << (c->prec - 1) : 0);
    int64_t byte = c->prec > 8 ? value >> (c->prec - 8) : value * 255 / ((INT64_C(1) << c->prec) - 1);
    return byte < 0 ? 0 : byte > 255 ? 255 : (int)byte;
}

static uint8_t to_byte(double value)
{
    return value <= 0 ? 0 : value >= 255 ? 255 : (uint8_t)(value + .5);
}

static void store_pixel(const opj_image_t *image, size_t x, size_t y, uint8_t *rgb)
{
    int a = sample(image, 0, x, y);
    if (image->numcomps < 3) {
        memset(rgb, a, 3);
        return;
    }
    int b = sample(image, 1, x, y), c = sample(image, 2, x, y);
    if (image->color_space == OPJ_CLRSPC_SYCC) {
        rgb[0] = to_byte(a + 1.402 * (c - 128));
        rgb[1] = to_byte(a - .344136 * (b - 128) - .714136 * (c - 128));
        rgb[2] = to_byte(a + 1.772 * (b - 128));
        return;
    }
    rgb[0] = (uint8_t)a;
    rgb[1] = (uint8_t)b;
    rgb[2] = (uint8_t)c;
}

static bool usable(const opj_image_t *image)
{
    for (size_t i = 0; i < image->numcomps && i < 3; i++) {
        const opj_image_comp_t *c = &image->comps[i];
        if (c->dx == 0 || c->dy == 0 || c->w == 0 || c->h == 0 || c->prec < 1 || c->prec > 31)
            return false;
    }
    return image->numcomps > 0 && image->x1 > image->x0 && image->y1 > image->y0;
}

static ingot_status decode(opj_codec_t *codec, opj_stream_t *stream, opj_image_t **image,
                           const ingot_image_target *target, ingot_error *error)
{
    opj_dparameters_t parameters;
    uint8_t *rgb;
    opj_set_default_decoder_parameters(&parameters);
    opj_set_info_handler(codec, ignore, NULL);
    opj_set_warning_handler(codec, ignore, NULL);
    opj_set_error_handler(codec, ignore, NULL);
    if (!opj_setup_decoder(codec, &parameters) || !opj_read_header(stream, codec, image) || !usable(*image))
        return DAMAGED(error, "its header is none");
    size_t width = (*image)->x1 - (*image)->x0, height = (*image)->y1 - (*image)->y0;
    if ((uint64_t)width * height > MOST_PIXELS)
        return DAMAGED(error, "it has too many pixels");
    INGOT_TRY(ingot_image_make(target, width, height, &rgb, error));
    if (!opj_decode(codec, stream, *image) || !opj_end_decompress(codec, stream) || !usable(*image))
        return DAMAGED(error, "it cannot be decoded");
    for (size_t i = 0; i < (*image)->numcomps && i < 3; i++)
        if (!(*image)->comps[i].data)
            return DAMAGED(error, "a channel is missing");
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++)
            store_pixel(*image, x, y, rgb + 3 * (y * width + x));
    return INGOT_OK;
}

ingot_status ingot_image_decode_jpeg2000(ingot_image_source source, const ingot_image_target *target,
                                         ingot_error *error)
{
    reader r = {source, 0};
    opj_codec_t *codec = opj_create_decompress(source.data[0] == 0 ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K);
    opj_stream_t *stream = codec ? open_stream(&r) : NULL;
    opj_image_t *image = NULL;
    ingot_status status =
        stream ? decode(codec, stream, &image, target, error) : ingot_fail_memory(error, sizeof r, "a picture");
    if (image)
        opj_image_destroy(image);
    if (stream)
        opj_stream_destroy(stream);
    if (codec)
        opj_destroy_codec(codec);
    return status;
}

#else

ingot_status ingot_image_decode_jpeg2000(ingot_image_source source, const ingot_image_target *target,
                                         ingot_error *error)
{
    return ingot_image_missing(error, "JPEG 2000", "libopenjp2-7-dev", "jpeg2000");
}

#endif

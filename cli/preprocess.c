#include "preprocess.h"

#include <math.h>

#include "element.h"
#include "report.h"
#include "value.h"

/* How the input of a model holds a picture. */
typedef struct target {
    bool channels_last;
    int64_t channels, height, width; /* -1 where the model leaves them free */
} target;

static bool are_channels(int64_t size)
{
    return size == 1 || size == 3;
}

static ingot_status find_target(const cli_preprocess *p, const ingot_type_info *type, target *to, ingot_error *error)
{
    char text[CLI_TYPE_TEXT];
    if (type->kind != INGOT_KIND_TENSOR || (type->rank >= 0 && type->rank != 3 && type->rank != 4))
        return cli_fail(error, INGOT_INVALID_INPUT, "the input is %s; a picture needs a tensor of 3 or 4 dimensions",
                        cli_type_text(type, text, sizeof text));
    const int64_t unknown[] = {-1, -1, -1};
    const int64_t *dims = type->rank < 0 ? unknown : type->dims + (type->rank - 3);
    to->channels_last = p->layout == CLI_LAYOUT_NHWC ||
                        (p->layout == CLI_LAYOUT_MODEL && !are_channels(dims[0]) && are_channels(dims[2]));
    to->channels = dims[to->channels_last ? 2 : 0];
    to->height = dims[to->channels_last ? 0 : 1];
    to->width = dims[to->channels_last ? 1 : 2];
    return INGOT_OK;
}

static size_t scaled(size_t size, double ratio)
{
    double pixels = floor((double)size * ratio + 0.5);
    return pixels < 1 ? 1 : (size_t)pixels;
}

/* The shorter side gets p->shorter pixels, the longer one its share, rounded down. */
static ingot_status resize_shorter(cli_picture *picture, const cli_preprocess *p, ingot_error *error)
{
    bool wide = picture->width > picture->height;
    size_t shorter = wide ? picture->height : picture->width, longer = wide ? picture->width : picture->height;
    size_t other = (size_t)((double)p->shorter * (double)longer / (double)shorter);
    return cli_picture_resize(picture, wide ? other : p->shorter, wide ? p->shorter : other, (cli_filter)p->filter,
                              error);
}

static ingot_status resize_pad(cli_picture *picture, const cli_preprocess *p, size_t width, size_t height,
                               ingot_error *error)
{
    double ratio = fmin((double)width / (double)picture->width, (double)height / (double)picture->height);
    size_t w = scaled(picture->width, ratio), h = scaled(picture->height, ratio);
    CLI_TRY(cli_picture_resize(picture, w < width ? w : width, h < height ? h : height, (cli_filter)p->filter, error));
    return cli_picture_pad(picture, width, height, (unsigned char)p->fill, error);
}

static ingot_status resize(cli_picture *picture, const cli_preprocess *p, const target *to, ingot_error *error)
{
    size_t width = p->width ? p->width : to->width > 0 ? (size_t)to->width : 0;
    size_t height = p->height ? p->height : to->height > 0 ? (size_t)to->height : 0;
    if (p->resize == CLI_RESIZE_SHORTER)
        return resize_shorter(picture, p, error);
    if (p->resize == CLI_RESIZE_NONE)
        return INGOT_OK;
    if (p->resize == CLI_RESIZE_PAD && (!width || !height))
        return cli_fail(error, INGOT_INVALID_INPUT,
                        "resize=pad needs size=WIDTHxHEIGHT: the model leaves its size free");
    if (p->resize == CLI_RESIZE_PAD)
        return resize_pad(picture, p, width, height, error);
    return cli_picture_resize(picture, width ? width : picture->width, height ? height : picture->height,
                              (cli_filter)p->filter, error);
}

static ingot_status crop(cli_picture *picture, const cli_preprocess *p, ingot_error *error)
{
    if (p->crop_width == 0)
        return INGOT_OK;
    if (p->crop_width > picture->width || p->crop_height > picture->height)
        return cli_fail(error, INGOT_INVALID_INPUT, "cannot crop %zu x %zu out of a picture of %zu x %zu",
                        p->crop_width, p->crop_height, picture->width, picture->height);
    size_t left = (size_t)nearbyint((double)(picture->width - p->crop_width) / 2);
    size_t top = (size_t)nearbyint((double)(picture->height - p->crop_height) / 2);
    return cli_picture_crop(picture, left, top, p->crop_width, p->crop_height, error);
}

/* Writes the pixels as elements of the tensor; false where its type takes no such numbers. */
static bool fill_tensor(const cli_picture *picture, const cli_preprocess *p, bool channels_last, ingot_value *tensor)
{
    size_t channels = picture->channels, pixels = picture->width * picture->height;
    ingot_element element = ingot_value_element(tensor);
    for (size_t i = 0; i < pixels; i++) {
        for (size_t c = 0; c < channels; c++) {
            unsigned char byte =
                picture->pixels[i * channels + (p->channels == CLI_CHANNELS_BGR ? channels - 1 - c : c)];
            float number = (float)((byte * p->scale - p->mean[c]) / p->std[c]);
            size_t place = channels_last ? i * channels + c : c * pixels + i;
            if (!cli_element_store(element, ingot_value_data(tensor), place, (double)number))
                return false;
        }
    }
    return true;
}

static ingot_status make_tensor(const cli_picture *picture, const cli_preprocess *p, const target *to,
                                const ingot_type_info *type, ingot_value **value, ingot_error *error)
{
    int64_t height = (int64_t)picture->height, width = (int64_t)picture->width, channels = (int64_t)picture->channels;
    const int64_t first[] = {1, channels, height, width}, last[] = {1, height, width, channels};
    int skip = type->rank == 3;
    CLI_TRY(ingot_value_create_tensor(type->element, 4 - skip, (to->channels_last ? last : first) + skip, NULL, 0,
                                      value, error));
    if (fill_tensor(picture, p, to->channels_last, *value))
        return INGOT_OK;
    ingot_value_release(*value);
    *value = NULL;
    return cli_fail(error, INGOT_INVALID_INPUT, "the input has elements of type %s, which a picture cannot fill",
                    ingot_element_name(type->element));
}

ingot_status cli_preprocess_picture(const char *path, const cli_preprocess *preprocess, const ingot_type_info *type,
                                    ingot_value **value, ingot_error *error)
{
    target to = {0};
    cli_picture picture;
    CLI_TRY(cli_picture_read(path, &picture, error));
    ingot_status status = find_target(preprocess, type, &to, error);
    bool gray =
        preprocess->channels == CLI_CHANNELS_GRAY || (preprocess->channels == CLI_CHANNELS_MODEL && to.channels == 1);
    if (status == INGOT_OK)
        status = cli_picture_set_channels(&picture, gray ? 1 : 3, error);
    if (status == INGOT_OK)
        status = resize(&picture, preprocess, &to, error);
    if (status == INGOT_OK)
        status = crop(&picture, preprocess, error);
    if (status == INGOT_OK)
        status = make_tensor(&picture, preprocess, &to, type, value, error);
    cli_picture_free(&picture);
    return status == INGOT_OK ? status : cli_fail_at(error, "%s", path);
}

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "preprocess.h"
#include "report.h"

typedef struct word {
    const char *text;
    int value;
} word;

static const word resizes[] = {
    {"stretch", CLI_RESIZE_STRETCH}, {"pad", CLI_RESIZE_PAD}, {"none", CLI_RESIZE_NONE}, {0}};
static const word filters[] = {
    {"bilinear", CLI_FILTER_BILINEAR}, {"bicubic", CLI_FILTER_BICUBIC}, {"nearest", CLI_FILTER_NEAREST}, {0}};
static const word channels[] = {{"rgb", CLI_CHANNELS_RGB}, {"bgr", CLI_CHANNELS_BGR}, {"gray", CLI_CHANNELS_GRAY}, {0}};
static const word layouts[] = {{"nchw", CLI_LAYOUT_NCHW}, {"nhwc", CLI_LAYOUT_NHWC}, {0}};

static bool parse_word(const word *words, const char *text, int *value)
{
    for (; words->text; words++) {
        if (strcmp(words->text, text) == 0) {
            *value = words->value;
            return true;
        }
    }
    return false;
}

/* "224x224", width first. */
static bool parse_size(const char *text, size_t *width, size_t *height)
{
    char *end;
    unsigned long w = strtoul(text, &end, 10);
    if (end == text || *end != 'x' || text[0] == '-')
        return false;
    const char *second = end + 1;
    unsigned long h = strtoul(second, &end, 10);
    if (end == second || *end || second[0] == '-' || w == 0 || h == 0 || w > CLI_PICTURE_PIXELS ||
        h > CLI_PICTURE_PIXELS)
        return false;
    *width = w;
    *height = h;
    return true;
}

/* "0.5" for every channel, or one number for each: "0.485:0.456:0.406". */
static bool parse_numbers(char *text, double numbers[3])
{
    size_t count = 0;
    for (char *part = text; part; count++) {
        char *colon = strchr(part, ':');
        if (colon)
            *colon = '\0';
        if (count == 3 || !cli_parse_number(part, &numbers[count]))
            return false;
        part = colon ? colon + 1 : NULL;
    }
    if (count == 1)
        numbers[1] = numbers[2] = numbers[0];
    return count != 2;
}

static bool set_size(char *text, cli_preprocess *p)
{
    return parse_size(text, &p->width, &p->height);
}

static bool set_resize(char *text, cli_preprocess *p)
{
    int64_t shorter;
    if (strncmp(text, "shorter:", 8) != 0)
        return parse_word(resizes, text, &p->resize);
    if (!cli_parse_integer(text + 8, &shorter) || shorter < 1 || shorter > (int64_t)CLI_PICTURE_PIXELS)
        return false;
    p->resize = CLI_RESIZE_SHORTER;
    p->shorter = (size_t)shorter;
    return true;
}

static bool set_filter(char *text, cli_preprocess *p)
{
    return parse_word(filters, text, &p->filter);
}

static bool set_crop(char *text, cli_preprocess *p)
{
    return parse_size(text, &p->crop_width, &p->crop_height);
}

static bool set_fill(char *text, cli_preprocess *p)
{
    return cli_parse_number(text, &p->fill) && p->fill >= 0 && p->fill <= 255 && p->fill == floor(p->fill);
}

static bool set_scale(char *text, cli_preprocess *p)
{
    return cli_parse_number(text, &p->scale);
}

static bool set_mean(char *text, cli_preprocess *p)
{
    return parse_numbers(text, p->mean);
}

static bool set_std(char *text, cli_preprocess *p)
{
    return parse_numbers(text, p->std) && p->std[0] != 0 && p->std[1] != 0 && p->std[2] != 0;
}

static bool set_channels(char *text, cli_preprocess *p)
{
    return parse_word(channels, text, &p->channels);
}

static bool set_layout(char *text, cli_preprocess *p)
{
    return parse_word(layouts, text, &p->layout);
}

static const struct field {
    const char *name, *values;
    bool (*set)(char *text, cli_preprocess *preprocess);
} fields[] = {
    {"size", "WIDTHxHEIGHT", set_size},
    {"resize", "stretch, shorter:N, pad or none", set_resize},
    {"filter", "bilinear, bicubic or nearest", set_filter},
    {"crop", "WIDTHxHEIGHT", set_crop},
    {"fill", "a grey level from 0 to 255", set_fill},
    {"scale", "a number such as 1/255", set_scale},
    {"mean", "one number or three, such as .485:.456:.406", set_mean},
    {"std", "one number or three other than 0, such as .229:.224:.225", set_std},
    {"channels", "rgb, bgr or gray", set_channels},
    {"layout", "nchw or nhwc", set_layout},
};

static const cli_preprocess plain = {.resize = CLI_RESIZE_STRETCH,
                                     .filter = CLI_FILTER_BILINEAR,
                                     .channels = CLI_CHANNELS_MODEL,
                                     .layout = CLI_LAYOUT_MODEL,
                                     .scale = 1,
                                     .std = {1, 1, 1}};

static const struct preset {
    const char *name;
    cli_preprocess preprocess;
} presets[] = {
    /* what most classifiers trained on ImageNet expect */
    {"imagenet",
     {.resize = CLI_RESIZE_SHORTER,
      .filter = CLI_FILTER_BILINEAR,
      .channels = CLI_CHANNELS_RGB,
      .layout = CLI_LAYOUT_MODEL,
      .shorter = 256,
      .crop_width = 224,
      .crop_height = 224,
      .scale = 1.0 / 255,
      .mean = {0.485, 0.456, 0.406},
      .std = {0.229, 0.224, 0.225}}},
};

static bool apply_preset(const char *name, cli_preprocess *preprocess)
{
    for (size_t i = 0; i < sizeof presets / sizeof presets[0]; i++) {
        if (strcmp(presets[i].name, name) == 0) {
            *preprocess = presets[i].preprocess;
            return true;
        }
    }
    return false;
}

static ingot_status apply_field(char *text, cli_preprocess *preprocess, ingot_error *error)
{
    char *value = strchr(text, '=');
    if (!value)
        return cli_fail(error, INGOT_INVALID_ARGUMENT, "--preprocess: '%s' is neither imagenet nor FIELD=VALUE", text);
    *value++ = '\0';
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (strcmp(fields[i].name, text) != 0)
            continue;
        if (fields[i].set(value, preprocess))
            return INGOT_OK;
        return cli_fail(error, INGOT_INVALID_ARGUMENT, "--preprocess: %s must be %s", text, fields[i].values);
    }
    return cli_fail(
        error, INGOT_INVALID_ARGUMENT,
        "--preprocess: there is no field '%s'; the fields are size, resize, filter, crop, fill, scale, mean, "
        "std, channels and layout",
        text);
}

ingot_status cli_preprocess_parse(const char *text, cli_preprocess *preprocess, ingot_error *error)
{
    *preprocess = plain;
    if (!text)
        return INGOT_OK;
    char *copy = strdup(text);
    if (!copy)
        return cli_fail_memory(error, "the options");
    ingot_status status = INGOT_OK;
    for (char *part = copy; part && status == INGOT_OK;) {
        char *comma = strchr(part, ',');
        if (comma)
            *comma = '\0';
        if (part != copy || !apply_preset(part, preprocess))
            status = apply_field(part, preprocess, error);
        part = comma ? comma + 1 : NULL;
    }
    free(copy);
    return status;
}

/* From a picture to the input of a model: --preprocess imagenet, or FIELD=VALUE,... */
#ifndef INGOT_CLI_PREPROCESS_H
#define INGOT_CLI_PREPROCESS_H

#include "picture.h"

typedef enum cli_resize {
    CLI_RESIZE_STRETCH, /* to the size, whatever the proportions */
    CLI_RESIZE_SHORTER, /* until the shorter side has so many pixels */
    CLI_RESIZE_PAD,     /* until it fits into the size; the right and the bottom are filled */
    CLI_RESIZE_NONE,
} cli_resize;

typedef enum cli_channels { CLI_CHANNELS_MODEL, CLI_CHANNELS_RGB, CLI_CHANNELS_BGR, CLI_CHANNELS_GRAY } cli_channels;
typedef enum cli_layout { CLI_LAYOUT_MODEL, CLI_LAYOUT_NCHW, CLI_LAYOUT_NHWC } cli_layout;

/* The steps, in their order: channels, resize, crop, v = (pixel * scale - mean) / std, type, layout. */
typedef struct cli_preprocess {
    size_t width, height;                 /* 0: the model's */
    int resize, filter, channels, layout; /* of the enums above */
    size_t shorter;
    size_t crop_width, crop_height; /* around the centre; 0: no crop */
    double scale, fill;
    double mean[3], std[3];
} cli_preprocess;

/* Reads the option's text; NULL is the default: stretched to the model's size, values as they are. */
ingot_status cli_preprocess_parse(const char *text, cli_preprocess *preprocess, ingot_error *error);

/* Reads the picture and makes a tensor for an input of this type. */
ingot_status cli_preprocess_picture(const char *path, const cli_preprocess *preprocess, const ingot_type_info *type,
                                    ingot_value **value, ingot_error *error);

#endif

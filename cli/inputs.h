/* The inputs of a run, from files and options. */
#ifndef INGOT_CLI_INPUTS_H
#define INGOT_CLI_INPUTS_H

#include "arguments.h"
#include "preprocess.h"

typedef struct cli_input_settings {
    cli_list inputs, shapes;
    const char *preprocess;
    int64_t batch;   /* the first free size of each input made here; 0: 1 */
    bool random_all; /* inputs left out are made of random numbers, as --input random does */
} cli_input_settings;

#define CLI_INPUT_OPTIONS(type, field)                                                                               \
    {"input",                                                                                                        \
     "[NAME=]FILE",                                                                                                  \
     "an input: .npy, .npz, .pb, .png or .jpg, or random[:SEED]; NAME may be\nleft out where "                       \
     "the model has one input; FILE.npz gives all inputs by\nname, random all that are left",                        \
     CLI_LIST,                                                                                                       \
     offsetof(type, field.inputs),                                                                                   \
     0,                                                                                                              \
     0},                                                                                                             \
        {"shape",                                                                                                    \
         "[NAME=]1x3x8x8",                                                                                           \
         "the shape of an input that is made of random numbers; free sizes\nare 1 otherwise",                        \
         CLI_LIST,                                                                                                   \
         offsetof(type, field.shapes),                                                                               \
         0,                                                                                                          \
         0},                                                                                                         \
    {                                                                                                                \
        "preprocess", "STEPS",                                                                                       \
            "imagenet, and / or FIELD=VALUE,...: how a picture becomes an input;\nfields: size=WxH, resize=stretch|" \
            "shorter:N|pad|none,\nfilter=bilinear|bicubic|nearest, crop=WxH, fill=N, scale=X, "                      \
            "mean=X:Y:Z,\nstd=X:Y:Z, "                                                                               \
            "channels=rgb|bgr|gray, layout=nchw|nhwc",                                                               \
            CLI_TEXT, offsetof(type, field.preprocess), 0, 0                                                         \
    }

/* Named values. names and shapes point into the model. */
typedef struct cli_inputs {
    const char **names;
    ingot_value **values;
    size_t count;
    ingot_warmup_shape *shapes; /* of the values that are tensors */
    size_t shape_count;
} cli_inputs;

/* Checks what can be checked without the model; a failure means that the command line is malformed. */
ingot_status cli_inputs_check(const cli_input_settings *settings, ingot_error *error);

/* Reads and makes the inputs of model; all that it requires are there on success. */
ingot_status cli_inputs_read(const ingot_model *model, const cli_input_settings *settings, cli_inputs *inputs,
                             ingot_error *error);
void cli_inputs_free(cli_inputs *inputs);

/* The value in a file, for an input or output of this type (NULL: any tensor); not for .npz and pictures. */
ingot_status cli_value_read(const char *path, const ingot_type_info *type, ingot_value **value, ingot_error *error);

#endif

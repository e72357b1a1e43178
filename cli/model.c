#include "model.h"

#include <time.h>

#include "ingot/custom_op.h"

void cli_model_options(const cli_session_settings *settings, ingot_model_options *options)
{
    ingot_model_options_init(options);
    options->no_mmap = settings->no_mmap;
    options->memory_limit = settings->memory_limit;
}

void cli_session_options(const cli_session_settings *settings, const cli_inputs *inputs, ingot_session_options *options)
{
    ingot_session_options_init(options);
    options->threads = (int)settings->threads;
    options->device = settings->device;
    options->precision = settings->precision;
    options->memory_limit = settings->memory_limit;
    options->opt_level = (ingot_opt_level)settings->opt_level;
    options->disabled_passes = settings->disable_passes;
    if (inputs) {
        options->warmup_shapes = inputs->shapes;
        options->warmup_shape_count = inputs->shape_count;
    }
}

ingot_status cli_register_custom_ops(const cli_session_settings *settings, ingot_error *error)
{
    for (size_t i = 0; i < settings->custom_ops.count; i++) {
        ingot_status status = ingot_register_library(settings->custom_ops.items[i], error);
        if (status != INGOT_OK)
            return status;
    }
    return INGOT_OK;
}

ingot_status cli_model_open(const char *path, const cli_session_settings *settings, ingot_model **model,
                            ingot_error *error)
{
    ingot_model_options options;
    ingot_status status = cli_register_custom_ops(settings, error);
    if (status != INGOT_OK)
        return status;
    cli_model_options(settings, &options);
    return ingot_model_open(path, &options, model, error);
}

ingot_status cli_session_create(ingot_model *model, const cli_session_settings *settings, const cli_inputs *inputs,
                                ingot_session **session, ingot_error *error)
{
    ingot_session_options options;
    cli_session_options(settings, inputs, &options);
    return ingot_session_create(model, &options, session, error);
}

double cli_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

#include "inputs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ingot/tools.h"
#include "npy.h"
#include "random.h"
#include "report.h"
#include "value.h"
#include "zip.h"

/* What cli_inputs_read works on: one value for each input of the model, NULL where there is none yet. */
typedef struct gathering {
    const ingot_model *model;
    const cli_input_settings *settings;
    cli_preprocess preprocess;
    ingot_value **values;
    size_t count;
    bool random;
    uint64_t seed;
    ingot_error *error;
} gathering;

static const ingot_value_info *info_at(const gathering *g, size_t index)
{
    return ingot_model_input(g->model, index);
}

/* "x float[1,3,N,N], y int64[]" of the inputs that must be given and are not; NULL where there are none or memory ends. */
static char *describe_missing(const gathering *g, bool all)
{
    char *list = NULL, type[CLI_TYPE_TEXT];
    for (size_t i = 0; i < g->count; i++) {
        const ingot_value_info *info = info_at(g, i);
        if (!all && (g->values[i] || info->has_default))
            continue;
        char *longer = cli_format("%s%s'%s' %s", list ? list : "", list ? ", " : "", info->name,
                                  cli_type_text(info->type, type, sizeof type));
        free(list);
        list = longer;
    }
    return list;
}

/* The input that text names in front of '=', or g->count; *rest is what follows. Names may hold any character, so the
 * longest that fits is taken. */
static size_t find_named(const gathering *g, const char *text, const char **rest)
{
    size_t found = g->count, longest = 0;
    for (size_t i = 0; i < g->count; i++) {
        size_t length = strlen(info_at(g, i)->name);
        if (length >= longest && strncmp(text, info_at(g, i)->name, length) == 0 && text[length] == '=') {
            found = i;
            longest = length;
            *rest = text + length + 1;
        }
    }
    return found;
}

/* The one input that needs no name: the only one, or the only one without a default; else g->count. */
static size_t find_only(const gathering *g)
{
    size_t found = g->count, required = 0;
    for (size_t i = 0; i < g->count; i++) {
        if (info_at(g, i)->has_default && g->count > 1)
            continue;
        found = i;
        required++;
    }
    return required == 1 ? found : g->count;
}

static ingot_status fail_unknown(const gathering *g, const char *option, const char *text)
{
    char *list = describe_missing(g, true);
    ingot_status status = cli_fail(g->error, INGOT_NOT_FOUND, "--%s %s: names no input; the model has %s", option, text,
                                   list ? list : "no inputs");
    free(list);
    return status;
}

ingot_status cli_value_read(const char *path, const ingot_type_info *type, ingot_value **value, ingot_error *error)
{
    cli_bytes file;
    bool npy = cli_has_extension(path, "npy");
    if (!npy && !cli_has_extension(path, "pb"))
        return cli_fail(error, INGOT_INVALID_INPUT,
                        "%s: is no kind of file that holds an input; .npy, .npz, .pb, .png and "
                        ".jpg do",
                        path);
    CLI_TRY(cli_file_read(path, &file, error));
    ingot_status status = npy ? cli_npy_read(file.data, file.size, value, error)
                              : ingot_value_from_proto(file.data, file.size, type, value, error);
    cli_bytes_free(&file);
    return status == INGOT_OK ? status : cli_fail_at(error, "%s", path);
}

/* ---- .npz ---- */

/* True where the entry of an archive is called NAME.npy or in:NAME.npy. */
static bool entry_is(const cli_zip_entry *entry, const char *prefix, const char *name)
{
    size_t before = strlen(prefix), length = strlen(name);
    return entry->name_size == before + length + 4 && memcmp(entry->name, prefix, before) == 0 &&
           memcmp(entry->name + before, name, length) == 0 && memcmp(entry->name + before + length, ".npy", 4) == 0;
}

static ingot_status read_entry(const cli_zip_entry *entry, ingot_value **value, ingot_error *error)
{
    cli_bytes bytes;
    ingot_status status = cli_zip_unpack(entry, &bytes, error);
    if (status == INGOT_OK) {
        status = cli_npy_read(bytes.data, bytes.size, value, error);
        cli_bytes_free(&bytes);
    }
    if (status != INGOT_OK)
        cli_fail_at(error, "%.*s", (int)(entry->name_size < 200 ? entry->name_size : 200), entry->name);
    return status;
}

/* Goes over the entries and reads those that only (g->count: any input) is called; *taken is how many. */
static ingot_status read_entries(const gathering *g, const cli_bytes *file, size_t only, size_t *taken)
{
    cli_zip zip;
    cli_zip_entry entry;
    bool found;
    CLI_TRY(cli_zip_open(file->data, file->size, &zip, g->error));
    for (;;) {
        CLI_TRY(cli_zip_next(&zip, &entry, &found, g->error));
        if (!found)
            return INGOT_OK;
        for (size_t i = 0; i < g->count; i++) {
            const char *name = info_at(g, i)->name;
            if ((only != g->count && only != i) || (!entry_is(&entry, "", name) && !entry_is(&entry, "in:", name)))
                continue;
            if (g->values[i])
                return cli_fail(g->error, INGOT_INVALID_INPUT, "input '%s' is given twice", name);
            CLI_TRY(read_entry(&entry, &g->values[i], g->error));
            ++*taken;
        }
    }
}

static ingot_status read_archive(const gathering *g, const char *path, size_t only)
{
    cli_bytes file;
    size_t taken = 0;
    CLI_TRY(cli_file_read(path, &file, g->error));
    ingot_status status = read_entries(g, &file, only, &taken);
    cli_bytes_free(&file);
    if (status == INGOT_OK && taken == 0)
        status = cli_fail(g->error, INGOT_NOT_FOUND, "holds no array that is called as %s",
                          only == g->count ? "an input of the model" : info_at(g, only)->name);
    return status == INGOT_OK ? status : cli_fail_at(g->error, "%s", path);
}

/* ---- Shapes and random numbers ---- */

/* Reads "1x3x8x8" or "" (a scalar). */
static bool parse_shape(const char *text, int64_t dims[INGOT_MAX_RANK], int *rank)
{
    *rank = 0;
    while (*text) {
        char *end;
        if (*rank == INGOT_MAX_RANK || *text < '0' || *text > '9')
            return false;
        dims[(*rank)++] = strtoll(text, &end, 10);
        if (*end != 'x' && *end)
            return false;
        text = *end ? end + 1 : end;
        if (*end && !*text)
            return false;
    }
    return true;
}

/* The part of --shape behind the name, which ends at the last '='. */
static const char *shape_part(const char *text)
{
    const char *equals = strrchr(text, '=');
    return equals ? equals + 1 : text;
}

/* What --shape says of input number index; false where it says nothing. */
static bool find_shape(const gathering *g, size_t index, int64_t dims[INGOT_MAX_RANK], int *rank)
{
    const cli_list *shapes = &g->settings->shapes;
    for (size_t i = 0; i < shapes->count; i++) {
        const char *text = shapes->items[i], *rest = text;
        size_t named = strchr(text, '=') ? find_named(g, text, &rest) : find_only(g);
        if (named == index)
            return parse_shape(shape_part(text), dims, rank);
    }
    return false;
}

static ingot_status check_shapes(const gathering *g)
{
    const cli_list *shapes = &g->settings->shapes;
    for (size_t i = 0; i < shapes->count; i++) {
        const char *text = shapes->items[i], *rest;
        if ((strchr(text, '=') ? find_named(g, text, &rest) : find_only(g)) == g->count)
            return fail_unknown(g, "shape", text);
    }
    return INGOT_OK;
}

static ingot_status make_random(const gathering *g, size_t index)
{
    const ingot_value_info *info = info_at(g, index);
    int64_t dims[INGOT_MAX_RANK];
    int rank = 0;
    if (info->type->kind != INGOT_KIND_TENSOR)
        return cli_fail(g->error, INGOT_INVALID_INPUT,
                        "input '%s' is no tensor and cannot be made of random numbers; give "
                        "it with --input",
                        info->name);
    if (!find_shape(g, index, dims, &rank)) {
        bool batch_used = false;
        if (info->type->rank < 0)
            return cli_fail(g->error, INGOT_INVALID_INPUT,
                            "the model does not say how many dimensions input '%s' has; give "
                            "them with --shape",
                            info->name);
        for (rank = 0; rank < info->type->rank; rank++) {
            bool is_free = info->type->dims[rank] < 0;
            dims[rank] = !is_free ? info->type->dims[rank] : batch_used || !g->settings->batch ? 1 : g->settings->batch;
            batch_used = batch_used || is_free;
        }
    }
    return cli_random_tensor(info, rank, dims, g->seed + index, &g->values[index], g->error);
}

/* "random" or "random:7". */
static bool is_random(const char *text, uint64_t *seed)
{
    int64_t number = 0;
    if (strncmp(text, "random", 6) != 0 || (text[6] && (text[6] != ':' || !cli_parse_integer(text + 7, &number))))
        return false;
    *seed = (uint64_t)number;
    return true;
}

/* ---- All of it ---- */

/* Reads what belongs to input number index. */
static ingot_status read_one(gathering *g, size_t index, const char *source)
{
    const ingot_value_info *info = info_at(g, index);
    if (g->values[index])
        return cli_fail(g->error, INGOT_INVALID_INPUT, "input '%s' is given twice", info->name);
    if (is_random(source, &g->seed))
        return make_random(g, index);
    if (cli_has_extension(source, "npz"))
        return read_archive(g, source, index);
    ingot_status status = cli_picture_is(source)
                              ? cli_preprocess_picture(source, &g->preprocess, info->type, &g->values[index], g->error)
                              : cli_value_read(source, info->type, &g->values[index], g->error);
    return status == INGOT_OK ? status : cli_fail_at(g->error, "input '%s'", info->name);
}

static ingot_status read_option(gathering *g, const char *text)
{
    const char *rest = text;
    uint64_t seed;
    size_t index = find_named(g, text, &rest);
    if (index < g->count)
        return read_one(g, index, rest);
    if (is_random(text, &seed)) {
        g->random = true;
        g->seed = seed;
        return INGOT_OK;
    }
    bool has_name = strchr(text, '=') && !cli_file_exists(text);
    if (cli_has_extension(text, "npz") && !has_name)
        return read_archive(g, text, g->count);
    index = find_only(g);
    if (index == g->count || has_name)
        return fail_unknown(g, "input", text);
    return read_one(g, index, text);
}

static ingot_status gather(gathering *g)
{
    CLI_TRY(check_shapes(g));
    for (size_t i = 0; i < g->settings->inputs.count; i++)
        CLI_TRY(read_option(g, g->settings->inputs.items[i]));
    for (size_t i = 0; i < g->count && g->random; i++)
        if (!g->values[i] && !info_at(g, i)->has_default)
            CLI_TRY(make_random(g, i));
    char *missing = describe_missing(g, false);
    if (!missing)
        return INGOT_OK;
    cli_fail(g->error, INGOT_INVALID_INPUT,
             "inputs are missing: %s; give them with --input NAME=FILE, or --input random", missing);
    free(missing);
    return INGOT_INVALID_INPUT;
}

/* Moves the values that there are together. */
static void collect(const gathering *g, cli_inputs *inputs)
{
    for (size_t i = 0; i < g->count; i++) {
        ingot_value *value = g->values[i];
        if (!value)
            continue;
        const char *name = info_at(g, i)->name;
        g->values[i] = NULL;
        inputs->names[inputs->count] = name;
        inputs->values[inputs->count++] = value;
        if (ingot_value_kind(value) == INGOT_KIND_TENSOR)
            inputs->shapes[inputs->shape_count++] =
                (ingot_warmup_shape){name, ingot_value_rank(value), ingot_value_dims(value)};
    }
}

ingot_status cli_inputs_check(const cli_input_settings *settings, ingot_error *error)
{
    cli_preprocess preprocess;
    CLI_TRY(cli_preprocess_parse(settings->preprocess, &preprocess, error));
    for (size_t i = 0; i < settings->shapes.count; i++) {
        int64_t dims[INGOT_MAX_RANK];
        int rank;
        if (!parse_shape(shape_part(settings->shapes.items[i]), dims, &rank))
            return cli_fail(error, INGOT_INVALID_ARGUMENT, "--shape %s: expected NAME= and sizes such as 1x3x224x224",
                            settings->shapes.items[i]);
    }
    return INGOT_OK;
}

ingot_status cli_inputs_read(const ingot_model *model, const cli_input_settings *settings, cli_inputs *inputs,
                             ingot_error *error)
{
    gathering g = {.model = model, .settings = settings, .count = ingot_model_input_count(model), .error = error};
    g.random = settings->random_all;
    *inputs = (cli_inputs){NULL, NULL, 0, NULL, 0};
    CLI_TRY(cli_preprocess_parse(settings->preprocess, &g.preprocess, error));
    g.values = calloc(g.count + 1, sizeof *g.values);
    inputs->names = calloc(g.count + 1, sizeof *inputs->names);
    inputs->values = calloc(g.count + 1, sizeof *inputs->values);
    inputs->shapes = calloc(g.count + 1, sizeof *inputs->shapes);
    ingot_status status = INGOT_OUT_OF_MEMORY;
    if (g.values && inputs->names && inputs->values && inputs->shapes)
        status = gather(&g);
    else
        cli_fail_memory(error, "the inputs");
    if (status == INGOT_OK)
        collect(&g, inputs);
    for (size_t i = 0; g.values && i < g.count; i++)
        ingot_value_release(g.values[i]);
    free(g.values);
    if (status != INGOT_OK)
        cli_inputs_free(inputs);
    return status;
}

void cli_inputs_free(cli_inputs *inputs)
{
    for (size_t i = 0; i < inputs->count; i++)
        ingot_value_release(inputs->values[i]);
    free(inputs->names);
    free(inputs->values);
    free(inputs->shapes);
    *inputs = (cli_inputs){NULL, NULL, 0, NULL, 0};
}

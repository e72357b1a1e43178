/* Any bytes as a model: it opens and becomes a session, or is refused in words. External data may lie in a folder that holds one
 * file, "data"; inputs of some sizes come from a file themselves. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"

enum { DATA_BYTES = 4096 };

static char folder[] = "/tmp/ingot_fuzz_XXXXXX";
static char data_path[64], model_path[64];

static void remove_folder(void)
{
    unlink(data_path);
    unlink(model_path);
    rmdir(folder);
}

static void write_file(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    FUZZ_EXPECT(file != NULL);
    FUZZ_EXPECT(fwrite(data, 1, size, file) == size);
    FUZZ_EXPECT(fclose(file) == 0);
}

static void make_folder(void)
{
    static char content[DATA_BYTES];
    if (data_path[0])
        return;
    FUZZ_EXPECT(mkdtemp(folder) != NULL);
    snprintf(data_path, sizeof data_path, "%s/data", folder);
    snprintf(model_path, sizeof model_path, "%s/model.onnx", folder);
    write_file(data_path, content, sizeof content);
    atexit(remove_folder);
}

/* Reads all of a text that the library gave, so that a sanitizer sees where it ends. */
static void touch(const char *text)
{
    FUZZ_EXPECT(text != NULL && strlen(text) < SIZE_MAX);
}

static void touch_type(const ingot_type_info *type)
{
    for (; type; type = type->item)
        for (int i = 0; i < type->rank; i++)
            if (type->symbols[i])
                touch(type->symbols[i]);
}

static void touch_values(const ingot_model *model)
{
    for (size_t i = 0; i < ingot_model_input_count(model); i++) {
        touch(ingot_model_input(model, i)->name);
        touch_type(ingot_model_input(model, i)->type);
    }
    for (size_t i = 0; i < ingot_model_output_count(model); i++) {
        touch(ingot_model_output(model, i)->name);
        touch_type(ingot_model_output(model, i)->type);
    }
}

static void touch_model(const ingot_model *model)
{
    size_t nodes = ingot_model_initializer_count(model) + ingot_model_initializer_bytes(model);
    int64_t version = ingot_model_ir_version(model);
    const char *value;
    touch_values(model);
    touch(ingot_model_producer(model));
    touch(ingot_model_graph_name(model));
    touch(ingot_model_description(model));
    for (size_t i = 0; i < ingot_model_opset_count(model); i++)
        touch(ingot_model_opset(model, i, &version));
    for (size_t i = 0; i < ingot_model_operator_count(model); i++)
        touch(ingot_model_operator(model, i, &nodes));
    for (size_t i = 0; i < ingot_model_metadata_count(model); i++) {
        touch(ingot_model_metadata(model, i, &value));
        touch(value);
    }
}

static ingot_status open_bytes(const uint8_t *data, size_t size, ingot_model **model, ingot_error *error)
{
    static const uint8_t nothing;
    ingot_model_options options;
    ingot_model_options_init(&options);
    options.no_mmap = size % 2;
    make_folder();
    if (size % 16 < 2) {
        write_file(model_path, data, size);
        return ingot_model_open(model_path, &options, model, error);
    }
    options.data_folder = folder;
    return ingot_model_open_memory(size ? data : &nothing, size, &options, model, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ingot_model *model = NULL;
    ingot_session *session = NULL;
    ingot_error error = {0};
    ingot_session_options options;
    ingot_session_options_init(&options);
    options.threads = 1;
    options.memory_limit = (size_t)256 << 20;
    options.cancel = fuzz_deadline();
    ingot_status status = open_bytes(data, size, &model, &error);
    FUZZ_EXPECT((model != NULL) == (status == INGOT_OK));
    if (status == INGOT_OK) {
        touch_model(model);
        status = ingot_session_create(model, &options, &session, &error);
    }
    fuzz_expect_error(status, &error);
    FUZZ_EXPECT((session != NULL) == (status == INGOT_OK));
    ingot_session_release(session);
    ingot_model_release(model);
    return 0;
}

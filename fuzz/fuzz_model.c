/* Any bytes as a model: it opens and becomes a session, or is refused in words. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t nothing;
    ingot_model *model = NULL;
    ingot_session *session = NULL;
    ingot_error error = {0};
    ingot_session_options options;
    ingot_session_options_init(&options);
    options.threads = 1;
    options.memory_limit = (size_t)256 << 20;
    options.cancel = fuzz_deadline();
    ingot_status status = ingot_model_open_memory(size ? data : &nothing, size, NULL, &model, &error);
    FUZZ_EXPECT((model != NULL) == (status == INGOT_OK));
    if (status == INGOT_OK)
        status = ingot_session_create(model, &options, &session, &error);
    fuzz_expect_error(status, &error);
    FUZZ_EXPECT((session != NULL) == (status == INGOT_OK));
    ingot_session_release(session);
    ingot_model_release(model);
    return 0;
}

/* What the fuzz targets share. A target is LLVMFuzzerTestOneInput in a file of its own, linked with libFuzzer's main or with
 * replay.c's. A fault is told by abort. */
#ifndef INGOT_FUZZ_H
#define INGOT_FUZZ_H

#include "base/memory.h"
#include "ingot/tools.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Aborts, saying so, where a condition that the public header promises does not hold. */
#define FUZZ_EXPECT(condition) fuzz_expect(condition, #condition)
void fuzz_expect(bool condition, const char *text);
/* A failure must have filled the error, with a message; a success must not have. */
void fuzz_expect_error(ingot_status status, const ingot_error *error);

/* A token that is raised when an input has taken a tenth of a second, so that a long Loop is no hang and does not slow the fuzzer
 * down. One for all inputs. */
ingot_cancel *fuzz_deadline(void);

/* A value of this type: free sizes are free_size, content from bytes, over and over. NULL: too large, or no such value. */
ingot_value *fuzz_make_value(const ingot_type_info *type, int64_t free_size, const uint8_t *bytes, size_t count);

/* What a run of a session gave: its status, and all outputs as messages, one after the other. */
typedef struct fuzz_result {
    ingot_status status;
    uint8_t *data; /* freed by fuzz_result_clear */
    size_t size;
} fuzz_result;

fuzz_result fuzz_run(ingot_session *session, int64_t free_size, const uint8_t *bytes, size_t count);
void fuzz_result_clear(fuzz_result *result);

/* Opens the model, makes a session of it and runs it three times, at two sizes in turn: the third run must give the bits of
 * the first where exact is true. No step may take more than a small multiple of 16 MiB. */
void fuzz_whole(const void *model, size_t model_size, ingot_opt_level level, bool exact, const uint8_t *bytes,
                size_t count);

#endif

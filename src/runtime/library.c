/* Shared libraries of custom operators. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "ops/custom.h"

#define ENTRY "ingot_custom_ops"
/* What libraries written for ONNX Runtime export. */
#define FOREIGN_ENTRY "RegisterCustomOps"

static ingot_status find_entry(void *library, const char *path, ingot_custom_ops_function *entry, ingot_error *error)
{
    void *symbol = dlsym(library, ENTRY);
    if (symbol) {
        memcpy(entry, &symbol, sizeof *entry); /* C has no cast from an object to a function */
        return INGOT_OK;
    }
    if (dlsym(library, FOREIGN_ENTRY))
        return ingot_fail(error, INGOT_UNSUPPORTED,
                          "the library '%s' is written for ONNX Runtime's own interface (" FOREIGN_ENTRY
                          "); Ingot takes libraries that export " ENTRY " (ingot/custom_op.h)",
                          path);
    return ingot_fail(error, INGOT_INVALID_ARGUMENT,
                      "the library '%s' does not export " ENTRY ", which gives its operators (ingot/custom_op.h)",
                      path);
}

static ingot_status register_all(void *library, const char *path, ingot_error *error)
{
    ingot_custom_ops_function entry;
    ingot_error inner = {0};
    size_t count = 0;
    INGOT_TRY(find_entry(library, path, &entry, error));
    const ingot_custom_op *const *ops = entry(INGOT_CUSTOM_OP_API);
    while (ops && ops[count])
        count++;
    if (count == 0)
        return ingot_fail(error, INGOT_UNSUPPORTED,
                          "the library '%s' has no operators for version %d of the interface of custom operators", path,
                          INGOT_CUSTOM_OP_API);
    if (ingot_custom_register(ops, count, &inner) == INGOT_OK)
        return INGOT_OK;
    return ingot_fail(error, inner.status, "the library '%s': %s", path, inner.message);
}

ingot_status ingot_register_library(const char *path, ingot_error *error)
{
    if (!path)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT, "the path of the library is NULL");
    char local[4096]; /* a bare name would be looked for among the system's libraries */
    int length = snprintf(local, sizeof local, "%s%s", strchr(path, '/') ? "" : "./", path);
    if (length < 0 || (size_t)length >= sizeof local)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT, "the path of the library is longer than %zu bytes",
                          sizeof local - 1);
    void *library = dlopen(local, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *reason = dlerror();
        return ingot_fail(error, INGOT_NOT_FOUND, "the library '%s' could not be loaded: %s", path,
                          reason ? reason : "no reason was given");
    }
    ingot_status status = register_all(library, path, error);
    if (status != INGOT_OK)
        dlclose(library);
    return status;
}

#include "cpu/ref/ref_regex.h"

ingot_status ingot_ref_regex_run(const ingot_kernel_call *call, ingot_ref_regex_work work)
{
    for (size_t ints = INGOT_REGEX_SPACE; ints <= INGOT_REGEX_SPACE_MAX; ints *= 4) {
        bool again = false;
        INGOT_TRY(work(call, ints, &again));
        if (!again)
            return INGOT_OK;
    }
    return ingot_kernel_fail(call, "its regular expression needs more memory than a search may take");
}

ingot_status ingot_ref_regex_check(const ingot_kernel_call *call, size_t string, ingot_regex_result result, bool *again)
{
    if (result == INGOT_REGEX_NO_UTF8)
        return ingot_kernel_fail(call, "string %zu of the input is no valid UTF-8", string);
    if (result == INGOT_REGEX_FAILED)
        return ingot_kernel_fail(call, "the search in string %zu of the input failed", string);
    *again = result == INGOT_REGEX_MORE_SPACE;
    return INGOT_OK;
}

/* Reference kernels of operators on strings. */
#include <string.h>

#include "base/utf8.h"
#include "cpu/ref/ref.h"
#include "cpu/ref/ref_move.h"
#include "cpu/ref/ref_regex.h"
#include "cpu/ref/ref_scratch.h"
#include "ops/text.h"

/* Sets string to of y to two strings joined. */
static ingot_status put_joined(const ingot_kernel_call *call, ingot_value *y, int64_t to, int64_t a, int64_t b)
{
    size_t a_length, b_length;
    const char *a_text = ingot_ref_text(call->inputs[0], (size_t)a, &a_length);
    const char *b_text = ingot_ref_text(call->inputs[1], (size_t)b, &b_length);
    void *joined;
    INGOT_TRY(ingot_kernel_scratch(call, a_length + b_length, &joined));
    if (a_length > 0)
        memcpy(joined, a_text, a_length);
    if (b_length > 0)
        memcpy((char *)joined + a_length, b_text, b_length);
    return ingot_value_set_string(y, (size_t)to, joined, a_length + b_length, call->error);
}

ingot_status ingot_ref_string_concat(const ingot_kernel_call *call)
{
    const ingot_value *a = call->inputs[0], *b = call->inputs[1];
    ingot_value *y = call->outputs[0];
    ingot_walk walk;
    ingot_walk_init(&walk, y->rank, y->dims);
    ingot_walk_add_broadcast(&walk, a->rank, a->dims);
    ingot_walk_add_broadcast(&walk, b->rank, b->dims);
    for (bool more = ingot_walk_begin(&walk); more; more = ingot_walk_next(&walk))
        for (int64_t i = 0; i < (int64_t)walk.run; i++)
            INGOT_TRY(put_joined(call, y, walk.offset[0] + i * walk.step[0], walk.offset[1] + i * walk.step[1],
                                 walk.offset[2] + i * walk.step[2]));
    return INGOT_OK;
}

/* ---- StringNormalizer ---- */

static ingot_status no_utf8(const ingot_kernel_call *call, size_t index)
{
    return ingot_kernel_fail(call, "string %zu of the input is no valid UTF-8", index);
}

/* Whether string index is one of the stop words; folded has room for it. */
static ingot_status is_stopword(const ingot_kernel_call *call, size_t index, char *folded, bool *result)
{
    const ingot_string_normalizer_params *p = call->params;
    size_t length;
    const char *text = ingot_ref_text(call->inputs[0], index, &length);
    if (!p->case_sensitive && p->stopwords.count > 0) {
        length = ingot_fold_case(text, length, folded);
        if (length == SIZE_MAX)
            return no_utf8(call, index);
        text = folded;
    }
    *result = ingot_key_table_find_text(&p->stops, text, length) >= 0;
    return INGOT_OK;
}

static ingot_status put_normal(const ingot_kernel_call *call, size_t to, size_t from, char *changed)
{
    const ingot_string_normalizer_params *p = call->params;
    size_t length;
    const char *text = ingot_ref_text(call->inputs[0], from, &length);
    if (p->change != INGOT_CASE_NONE) {
        length = ingot_change_case(text, length, (ingot_case_change)p->change, p->turkic, changed);
        if (length == SIZE_MAX)
            return no_utf8(call, from);
        text = changed;
    }
    return ingot_value_set_string(call->outputs[0], to, text, length, call->error);
}

ingot_status ingot_ref_string_normalizer(const ingot_kernel_call *call)
{
    const ingot_value *x = call->inputs[0];
    size_t count = ingot_ref_count(x), longest = 0, length, kept = 0;
    for (size_t i = 0; i < count; i++) {
        ingot_ref_text(x, i, &length);
        longest = length > longest ? length : longest;
    }
    void *parts[2]; /* one string with another case; which strings stay */
    INGOT_TRY(ingot_ref_scratch(call, 2, (size_t[]){longest, count}, (size_t[]){INGOT_UTF8_MAX, sizeof(bool)}, parts));
    bool *stays = parts[1];
    for (size_t i = 0; i < count; i++) {
        bool stop;
        INGOT_TRY(is_stopword(call, i, parts[0], &stop));
        stays[i] = !stop;
        kept += stays[i];
    }
    int64_t size = kept > 0 ? (int64_t)kept : 1;
    INGOT_TRY(ingot_kernel_set_output(call, 0, INGOT_STRING, x->rank,
                                      x->rank == 2 ? (const int64_t[]){1, size} : (const int64_t[]){size}));
    for (size_t i = 0, to = 0; i < count; i++)
        if (stays[i])
            INGOT_TRY(put_normal(call, to++, i, parts[0]));
    return INGOT_OK;
}

/* ---- RegexFullMatch ---- */

static ingot_status match_all(const ingot_kernel_call *call, size_t ints, bool *again)
{
    const ingot_regex_params *p = call->params;
    const ingot_value *x = call->inputs[0];
    uint8_t *y = call->outputs[0]->data;
    size_t count = ingot_ref_count(x), length;
    void *memory;
    INGOT_TRY(ingot_kernel_scratch(call, ints * sizeof(int), &memory));
    ingot_regex_space space = {memory, ints};
    for (size_t i = 0; i < count; i++) {
        const char *text = ingot_ref_text(x, i, &length);
        ingot_regex_result result = ingot_regex_match(p->regex, text, length, space);
        INGOT_TRY(ingot_ref_regex_check(call, i, result, again));
        if (*again)
            return INGOT_OK;
        y[i] = result == INGOT_REGEX_FOUND;
    }
    return INGOT_OK;
}

ingot_status ingot_ref_regex_full_match(const ingot_kernel_call *call)
{
    return ingot_ref_regex_run(call, match_all);
}

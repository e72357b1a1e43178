/* Operators on strings. */
#include "ops/text.h"

#include <string.h>

#include "base/utf8.h"

/* ---- StringConcat ---- */

static ingot_status infer_string_concat(ingot_infer *c)
{
    ingot_dim dims[INGOT_MAX_RANK];
    int rank;
    INGOT_TRY(ingot_infer_broadcast(c, 0, 2, &rank, dims));
    ingot_infer_set(c, 0, INGOT_STRING, rank, dims);
    return INGOT_OK;
}

/* ---- StringNormalizer ---- */

static uint32_t change_rune(uint32_t rune, ingot_case_change change, bool turkic)
{
    if (change == INGOT_CASE_LOWER)
        return turkic && rune == 'I' ? 0x131 : turkic && rune == 0x130 ? 'i' : ingot_rune_lower(rune);
    if (change == INGOT_CASE_UPPER)
        return turkic && rune == 'i' ? 0x130 : turkic && rune == 0x131 ? 'I' : ingot_rune_upper(rune);
    return rune;
}

size_t ingot_change_case(const char *text, size_t size, ingot_case_change change, bool turkic, char *result)
{
    size_t length = 0;
    uint32_t rune;
    for (size_t i = 0, bytes; i < size; i += bytes) {
        bytes = ingot_utf8_decode(text + i, size - i, &rune);
        if (bytes == 0)
            return SIZE_MAX;
        length += ingot_utf8_encode(change_rune(rune, change, turkic), result + length);
    }
    return length;
}

size_t ingot_fold_case(const char *text, size_t size, char *result)
{
    size_t length = 0;
    uint32_t rune;
    for (size_t i = 0, bytes; i < size; i += bytes) {
        bytes = ingot_utf8_decode(text + i, size - i, &rune);
        if (bytes == 0)
            return SIZE_MAX;
        length += ingot_utf8_encode(ingot_rune_fold(rune), result + length);
    }
    return length;
}

static const char *const case_words[] = {"NONE", "LOWER", "UPPER", NULL};

static const ingot_param_field string_normalizer_fields[] = {
    {"case_change_action", INGOT_PARAM_WORD, offsetof(ingot_string_normalizer_params, change), case_words, 0},
    {"is_case_sensitive", INGOT_PARAM_BOOL, offsetof(ingot_string_normalizer_params, case_sensitive), NULL, 0},
    {"locale", INGOT_PARAM_TEXT, offsetof(ingot_string_normalizer_params, locale), NULL, 0},
    {"stopwords", INGOT_PARAM_TEXTS, offsetof(ingot_string_normalizer_params, stopwords), NULL, 0},
    {0},
};

static ingot_status fold_stopwords(const ingot_node *node, ingot_string_normalizer_params *p, ingot_text *folded,
                                   ingot_error *error)
{
    for (size_t i = 0; i < p->stopwords.count; i++) {
        const ingot_text *word = &p->stopwords.data[i];
        size_t bytes;
        char *text = ingot_mul_size(word->size + 1, INGOT_UTF8_MAX, &bytes)
                         ? ingot_arena_alloc(node->graph->module->arena, bytes)
                         : NULL;
        if (!text)
            return ingot_fail_memory(error, word->size, "stop words");
        folded[i] = (ingot_text){text, ingot_fold_case(word->data, word->size, text)};
        if (folded[i].size == SIZE_MAX)
            return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "attribute 'stopwords': word %zu is no UTF-8", i);
    }
    return INGOT_OK;
}

static ingot_status check_string_normalizer(const ingot_node *node, void *params, ingot_error *error)
{
    ingot_string_normalizer_params *p = params;
    ingot_arena *arena = node->graph->module->arena;
    bool fold = !p->case_sensitive && p->stopwords.count > 0;
    if ((fold || p->change != INGOT_CASE_NONE) && !ingot_rune_has_case())
        return ingot_node_fail(node, error, INGOT_UNSUPPORTED,
                               "the case of letters needs the library utf8proc, which this build of Ingot lacks: "
                               "install libutf8proc-dev and build with -Dutf8proc=enabled");
    p->turkic = p->locale.size >= 2 && (memcmp(p->locale.data, "tr", 2) == 0 || memcmp(p->locale.data, "az", 2) == 0);
    ingot_key_list words = {INGOT_STRING, p->stopwords.count, NULL, p->stopwords.data};
    if (fold) {
        ingot_text *folded = ingot_arena_alloc_array(arena, p->stopwords.count, sizeof *folded);
        if (!folded)
            return ingot_fail_memory(error, p->stopwords.count * sizeof *folded, "stop words");
        INGOT_TRY(fold_stopwords(node, p, folded, error));
        words.texts = folded;
    }
    return ingot_key_table_build(arena, &words, &p->stops, error);
}

static ingot_status infer_string_normalizer(ingot_infer *c)
{
    const ingot_string_normalizer_params *p = c->params;
    const ingot_type *x = &c->inputs[0].type;
    INGOT_TRY(ingot_infer_rank(c, 0, 1, 2));
    if (x->rank == 2)
        INGOT_TRY(ingot_infer_same_dim(c, "the first size of a matrix input and 1", x->dims[0], 1, NULL));
    ingot_dim count = x->rank > 0 ? x->dims[x->rank - 1] : INGOT_DIM_UNKNOWN;
    if (p->stopwords.count > 0 || !ingot_dim_is_number(count))
        count = INGOT_DIM_UNKNOWN;
    else if (count == 0) /* nothing left: one empty string */
        count = 1;
    ingot_dim dims[2] = {x->rank == 2 ? 1 : count, count};
    ingot_infer_set(c, 0, INGOT_STRING, x->rank, dims);
    return INGOT_OK;
}

/* ---- StringSplit ---- */

static const ingot_param_field string_split_fields[] = {
    {"delimiter", INGOT_PARAM_TEXT, offsetof(ingot_string_split_params, delimiter), NULL, 0},
    {"maxsplit", INGOT_PARAM_INT, offsetof(ingot_string_split_params, most), NULL,
     offsetof(ingot_string_split_params, limited)},
    {0},
};

static ingot_status check_string_split(const ingot_node *node, void *params, ingot_error *error)
{
    ingot_string_split_params *p = params;
    if (!p->limited)
        p->most = -1;
    return INGOT_OK;
}

/* The input's shape and one more axis, whose size only a run tells. */
static ingot_status infer_pieces(ingot_infer *c, int max_rank)
{
    const ingot_type *x = &c->inputs[0].type;
    ingot_dim dims[INGOT_MAX_RANK];
    INGOT_TRY(ingot_infer_rank(c, 0, 0, max_rank));
    for (int i = 0; i < x->rank; i++)
        dims[i] = x->dims[i];
    if (x->rank >= 0)
        dims[x->rank] = INGOT_DIM_UNKNOWN;
    ingot_infer_set(c, 0, INGOT_STRING, x->rank < 0 ? -1 : x->rank + 1, dims);
    return INGOT_OK;
}

static ingot_status infer_string_split(ingot_infer *c)
{
    INGOT_TRY(infer_pieces(c, INGOT_MAX_RANK - 1));
    ingot_infer_set(c, 1, INGOT_INT64, c->inputs[0].type.rank, c->inputs[0].type.dims);
    return INGOT_OK;
}

/* ---- RegexFullMatch ---- */

static const ingot_param_field regex_fields[] = {
    {"pattern", INGOT_PARAM_TEXT, offsetof(ingot_regex_params, pattern), NULL, 0},
    {0},
};

static ingot_status compile(const ingot_node *node, const char *attribute, const ingot_text *pattern,
                            const ingot_regex **regex, ingot_error *error)
{
    ingot_error reason = {0};
    ingot_status status = ingot_regex_compile(node->graph->module->arena, pattern->data, pattern->size, regex, &reason);
    if (status == INGOT_OK)
        return INGOT_OK;
    return ingot_node_fail(node, error, status, "attribute '%s', '%.*s': %s", attribute,
                           (int)(pattern->size < 100 ? pattern->size : 100), pattern->data, reason.message);
}

static ingot_status check_regex(const ingot_node *node, void *params, ingot_error *error)
{
    ingot_regex_params *p = params;
    return compile(node, "pattern", &p->pattern, &p->regex, error);
}

static ingot_status infer_regex(ingot_infer *c)
{
    ingot_infer_set(c, 0, INGOT_BOOL, c->inputs[0].type.rank, c->inputs[0].type.dims);
    return INGOT_OK;
}

/* ---- Tokenizer ---- */

static const ingot_param_field tokenizer_fields[] = {
    {"mark", INGOT_PARAM_BOOL, offsetof(ingot_tokenizer_params, mark), NULL, 0},
    {"mincharnum", INGOT_PARAM_INT, offsetof(ingot_tokenizer_params, least), NULL, 0},
    {"pad_value", INGOT_PARAM_TEXT, offsetof(ingot_tokenizer_params, padding), NULL, 0},
    {"separators", INGOT_PARAM_TEXTS, offsetof(ingot_tokenizer_params, separator_texts), NULL, 0},
    {"tokenexp", INGOT_PARAM_TEXT, offsetof(ingot_tokenizer_params, token_text), NULL,
     offsetof(ingot_tokenizer_params, token_given)},
    {0},
};

static ingot_status check_tokenizer(const ingot_node *node, void *params, ingot_error *error)
{
    ingot_tokenizer_params *p = params;
    size_t count = p->separator_texts.count;
    if (p->token_given == p->separator_texts.given)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                               "one of the attributes 'tokenexp' and 'separators' must be given, not both");
    if (p->least < 1)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "attribute 'mincharnum' is %lld, but must be positive",
                               (long long)p->least);
    if (p->token_given)
        return compile(node, "tokenexp", &p->token_text, &p->token, error);
    if (count == 0)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "attribute 'separators' is empty");
    if (count == 1 && p->separator_texts.data[0].size == 0)
        return INGOT_OK; /* one empty separator: characters */
    p->separators = ingot_arena_alloc_array(node->graph->module->arena, count, sizeof *p->separators);
    if (!p->separators)
        return ingot_fail_memory(error, count * sizeof *p->separators, "separators");
    p->separator_count = count;
    for (size_t i = 0; i < count; i++)
        INGOT_TRY(compile(node, "separators", &p->separator_texts.data[i], &p->separators[i], error));
    return INGOT_OK;
}

static ingot_status infer_tokenizer(ingot_infer *c)
{
    INGOT_TRY(ingot_infer_rank(c, 0, 1, 2));
    const ingot_type *x = &c->inputs[0].type;
    for (int i = 0; i < x->rank; i++) {
        if (x->dims[i] == 0) { /* an empty input keeps its shape */
            ingot_infer_set(c, 0, INGOT_STRING, x->rank, x->dims);
            return INGOT_OK;
        }
    }
    return infer_pieces(c, 2);
}

/* ---- Descriptors ---- */

const ingot_op ingot_op_string_concat = {
    .summary = "strings one behind the other, element by element",
    .infer = infer_string_concat,
};
const ingot_op ingot_op_string_normalizer = {
    .summary = "strings without stop words, in lower or upper case",
    .params_size = sizeof(ingot_string_normalizer_params),
    .fields = string_normalizer_fields,
    .check = check_string_normalizer,
    .infer = infer_string_normalizer,
    .flags = INGOT_OP_SIZES_OUTPUT,
};
const ingot_op ingot_op_string_split = {
    .summary = "strings cut at a delimiter or white space, along one more axis",
    .params_size = sizeof(ingot_string_split_params),
    .fields = string_split_fields,
    .check = check_string_split,
    .infer = infer_string_split,
    .flags = INGOT_OP_SIZES_OUTPUT,
};
const ingot_op ingot_op_regex_full_match = {
    .summary = "whether whole strings match a regular expression",
    .params_size = sizeof(ingot_regex_params),
    .fields = regex_fields,
    .check = check_regex,
    .infer = infer_regex,
};
const ingot_op ingot_op_tokenizer = {
    .summary = "strings cut into tokens by regular expressions, along one more axis",
    .params_size = sizeof(ingot_tokenizer_params),
    .fields = tokenizer_fields,
    .check = check_tokenizer,
    .infer = infer_tokenizer,
    .flags = INGOT_OP_SIZES_OUTPUT,
};

/* StringSplit and Tokenizer: strings cut into pieces, along one more axis. */
#include <string.h>

#include "base/utf8.h"
#include "cpu/ref/ref.h"
#include "cpu/ref/ref_move.h"
#include "cpu/ref/ref_regex.h"
#include "cpu/ref/ref_scratch.h"
#include "ops/text.h"

/* A part of a string. */
typedef struct piece {
    size_t first, end;
} piece;

static bool grow_rank(const ingot_value *x, size_t pieces, int64_t *dims)
{
    for (int i = 0; i < x->rank; i++)
        dims[i] = x->dims[i];
    dims[x->rank] = (int64_t)pieces;
    return x->rank < INGOT_MAX_RANK;
}

/* ---- StringSplit ---- */

typedef struct splitter {
    const ingot_string_split_params *params;
    const char *text;
    size_t size, at;
    int64_t left; /* splits; negative: no limit */
    bool done;
} splitter;

/* Bytes of the character at a place, and whether it is white space; a byte that is no UTF-8 counts as a character. */
static size_t character(const splitter *s, size_t at, bool *space)
{
    uint32_t rune;
    size_t bytes = ingot_utf8_decode(s->text + at, s->size - at, &rune);
    *space = bytes > 0 && ingot_rune_is_space(rune);
    return bytes > 0 ? bytes : 1;
}

static bool next_word(splitter *s, piece *p)
{
    bool space = true;
    for (size_t bytes; s->at < s->size; s->at += bytes) {
        bytes = character(s, s->at, &space);
        if (!space)
            break;
    }
    if (s->at >= s->size)
        return false;
    *p = (piece){s->at, s->at};
    for (size_t bytes; s->at < s->size; s->at += bytes) {
        bytes = character(s, s->at, &space);
        if (space && s->left != 0)
            break;
        if (!space) /* white space at the end of the rest is not part of it */
            p->end = s->at + bytes;
    }
    s->left -= s->left > 0;
    return true;
}

static bool next_part(splitter *s, piece *p)
{
    const ingot_text *delimiter = &s->params->delimiter;
    if (s->done)
        return false;
    *p = (piece){s->at, s->size};
    for (size_t i = s->at; s->left != 0 && i + delimiter->size <= s->size; i++) {
        if (memcmp(s->text + i, delimiter->data, delimiter->size) != 0)
            continue;
        p->end = i;
        s->at = i + delimiter->size;
        s->left -= s->left > 0;
        return true;
    }
    s->done = true;
    return true;
}

static bool next_split(splitter *s, piece *p)
{
    return s->params->delimiter.size > 0 ? next_part(s, p) : next_word(s, p);
}

static splitter begin_split(const ingot_kernel_call *call, size_t index)
{
    splitter s = {.params = call->params};
    s.left = s.params->most;
    s.text = ingot_ref_text(call->inputs[0], index, &s.size);
    return s;
}

ingot_status ingot_ref_string_split(const ingot_kernel_call *call)
{
    const ingot_value *x = call->inputs[0];
    size_t count = ingot_ref_count(x), most = 0;
    int64_t dims[INGOT_MAX_RANK + 1];
    piece p;
    for (size_t i = 0; i < count; i++) {
        splitter s = begin_split(call, i);
        size_t pieces = 0;
        while (next_split(&s, &p))
            pieces++;
        if (ingot_kernel_wants(call, 1))
            ((int64_t *)call->outputs[1]->data)[i] = (int64_t)pieces;
        most = pieces > most ? pieces : most;
    }
    if (!ingot_kernel_wants(call, 0))
        return INGOT_OK;
    if (!grow_rank(x, most, dims))
        return ingot_kernel_fail(call, "the output would have more than %d dimensions", INGOT_MAX_RANK);
    INGOT_TRY(ingot_kernel_set_output(call, 0, INGOT_STRING, x->rank + 1, dims));
    for (size_t i = 0; i < count; i++) {
        splitter s = begin_split(call, i);
        for (size_t to = i * most; next_split(&s, &p); to++)
            INGOT_TRY(ingot_value_set_string(call->outputs[0], to, s.text + p.first, p.end - p.first, call->error));
    }
    return INGOT_OK;
}

/* ---- Tokenizer ---- */

/* What is left to be cut by one of the separators: text[first] ... text[end - 1], of which at is the next to look at;
 * at > end: nothing. */
typedef struct level {
    size_t first, end, at;
} level;

typedef struct tokenizer {
    const ingot_kernel_call *call;
    const ingot_tokenizer_params *params;
    ingot_regex_space space;
    level *levels; /* one a separator, and the token */
    size_t depth;
    size_t string;
    const char *text;
    size_t size, at;
    bool *again;
} tokenizer;

/* The next match in part of the text that is not empty, from *at on; !*found: there is none. */
static ingot_status find(tokenizer *t, const ingot_regex *regex, size_t first, size_t end, size_t at, bool *found,
                         piece *match)
{
    *found = false;
    while (at <= end) {
        ingot_regex_result result =
            ingot_regex_find(regex, t->text + first, end - first, at - first, t->space, &match->first, &match->end);
        INGOT_TRY(ingot_ref_regex_check(t->call, t->string, result, t->again));
        if (result != INGOT_REGEX_FOUND)
            return INGOT_OK;
        match->first += first;
        match->end += first;
        if (match->end > match->first) {
            *found = true;
            return INGOT_OK;
        }
        uint32_t rune;
        at = match->first == end ? end + 1
                                 : match->first + ingot_utf8_decode(t->text + match->first, end - match->first, &rune);
    }
    return INGOT_OK;
}

static ingot_status next_character(tokenizer *t, bool *more, piece *p)
{
    uint32_t rune;
    *more = t->at < t->size;
    if (!*more)
        return INGOT_OK;
    size_t bytes = ingot_utf8_decode(t->text + t->at, t->size - t->at, &rune);
    if (bytes == 0)
        return ingot_kernel_fail(t->call, "string %zu of the input is no valid UTF-8", t->string);
    *p = (piece){t->at, t->at + bytes};
    t->at += bytes;
    return INGOT_OK;
}

static ingot_status next_match(tokenizer *t, bool *more, piece *p)
{
    INGOT_TRY(find(t, t->params->token, 0, t->size, t->at, more, p));
    if (*more)
        t->at = p->end;
    return INGOT_OK;
}

/* The first separator cuts the string, the second what that leaves, and so on. */
static ingot_status next_between(tokenizer *t, bool *more, piece *p)
{
    for (;;) {
        level *l = &t->levels[t->depth];
        if (l->at > l->end || l->first == l->end) {
            *more = t->depth > 0;
            if (t->depth-- == 0)
                return INGOT_OK;
            continue;
        }
        if (t->depth == t->params->separator_count) {
            *p = (piece){l->first, l->end};
            t->depth--;
            *more = true;
            return INGOT_OK;
        }
        piece match;
        bool found;
        INGOT_TRY(find(t, t->params->separators[t->depth], l->first, l->end, l->at, &found, &match));
        size_t end = found ? match.first : l->end;
        t->levels[++t->depth] = (level){l->at, end, l->at};
        l->at = found ? match.end : l->end + 1;
        if (*t->again) {
            *more = false;
            return INGOT_OK;
        }
    }
}

static bool long_enough(const tokenizer *t, const piece *p)
{
    int64_t characters = 0;
    for (size_t i = p->first; i < p->end; i++)
        characters += ((unsigned char)t->text[i] & 0xC0) != 0x80;
    return characters >= t->params->least;
}

/* The next token that is long enough; !*more: none is left, or the search needs more memory. */
static ingot_status next_token(tokenizer *t, bool *more, piece *p)
{
    do {
        if (t->params->token)
            INGOT_TRY(next_match(t, more, p));
        else if (t->params->separators)
            INGOT_TRY(next_between(t, more, p));
        else
            INGOT_TRY(next_character(t, more, p));
    } while (*more && !long_enough(t, p));
    return INGOT_OK;
}

static void begin_string(tokenizer *t, size_t index)
{
    t->string = index;
    t->text = ingot_ref_text(t->call->inputs[0], index, &t->size);
    t->at = 0;
    t->depth = 0;
    t->levels[0] = (level){0, t->size, 0};
}

static ingot_status put_row(tokenizer *t, size_t index, size_t width)
{
    ingot_value *y = t->call->outputs[0];
    const ingot_tokenizer_params *params = t->params;
    size_t to = index * width, end = to + width - params->mark;
    piece p;
    bool more;
    begin_string(t, index);
    if (params->mark) {
        INGOT_TRY(ingot_value_set_string(y, to++, "\x02", 1, t->call->error));
        INGOT_TRY(ingot_value_set_string(y, end, "\x03", 1, t->call->error));
    }
    for (;; to++) {
        INGOT_TRY(next_token(t, &more, &p));
        if (!more)
            break;
        INGOT_TRY(ingot_value_set_string(y, to, t->text + p.first, p.end - p.first, t->call->error));
    }
    for (; to < end; to++)
        INGOT_TRY(ingot_value_set_string(y, to, params->padding.data, params->padding.size, t->call->error));
    return INGOT_OK;
}

static ingot_status tokenize(const ingot_kernel_call *call, size_t ints, bool *again)
{
    const ingot_value *x = call->inputs[0];
    tokenizer t = {.call = call, .params = call->params, .again = again};
    size_t count = ingot_ref_count(x), most = 0;
    int64_t dims[INGOT_MAX_RANK + 1];
    void *parts[2];
    if (count == 0)
        return ingot_kernel_set_output(call, 0, INGOT_STRING, x->rank, x->dims);
    INGOT_TRY(ingot_ref_scratch(call, 2, (size_t[]){ints, t.params->separator_count + 1},
                                (size_t[]){sizeof(int), sizeof(level)}, parts));
    t.space = (ingot_regex_space){parts[0], ints};
    t.levels = parts[1];
    for (size_t i = 0; i < count; i++) {
        size_t tokens = 0;
        begin_string(&t, i);
        for (bool more = true; more; tokens += more) {
            piece p;
            INGOT_TRY(next_token(&t, &more, &p));
        }
        if (*again)
            return INGOT_OK;
        most = tokens > most ? tokens : most;
    }
    size_t width = most > 0 ? most + 2 * (size_t)t.params->mark : 0;
    grow_rank(x, width, dims);
    INGOT_TRY(ingot_kernel_set_output(call, 0, INGOT_STRING, x->rank + 1, dims));
    for (size_t i = 0; i < count && width > 0; i++)
        INGOT_TRY(put_row(&t, i, width));
    return INGOT_OK;
}

ingot_status ingot_ref_tokenizer(const ingot_kernel_call *call)
{
    return ingot_ref_regex_run(call, tokenize);
}

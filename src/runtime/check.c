/* What a run is given, against what the model declares. */
#include <stdio.h>
#include <string.h>

#include "runtime/session.h"

static ingot_status wrong_input(const ingot_session *s, size_t input, const ingot_value *v, const char *why,
                                ingot_error *error)
{
    char have[200], want[200];
    return ingot_fail(error, INGOT_INVALID_INPUT, "input '%s' is %s, but the model takes %s: %s", s->inputs[input].name,
                      ingot_value_describe(v, have, sizeof have),
                      ingot_type_describe(s->module->dims, &s->declared->inputs[input]->type, want, sizeof want), why);
}

/* What in v, or v itself, has another kind or element type than t says; NULL: nothing. Sizes are another matter. */
static const ingot_value *find_misfit(const ingot_value *v, const ingot_type *t)
{
    if (!t || t->kind == INGOT_KIND_NONE)
        return NULL;
    if (t->kind == INGOT_KIND_OPTIONAL && v->kind != INGOT_KIND_OPTIONAL)
        return find_misfit(v, t->item);
    bool list = t->kind == INGOT_KIND_SEQUENCE || t->kind == INGOT_KIND_OPTIONAL;
    const ingot_type *elements = list ? t->item : t;
    bool empty = v->kind == INGOT_KIND_OPTIONAL && v->item_count == 0; /* nothing is of any type */
    bool tells = elements && elements->element != INGOT_UNDEFINED && v->element != INGOT_UNDEFINED && !empty &&
                 (!list || elements->kind == INGOT_KIND_TENSOR);
    if (v->kind != t->kind || (tells && v->element != elements->element))
        return v;
    if (t->kind == INGOT_KIND_MAP)
        return find_misfit(v->items[1], t->item);
    for (size_t i = 0; list && i < v->item_count; i++) {
        const ingot_value *misfit = find_misfit(v->items[i], t->item);
        if (misfit)
            return misfit;
    }
    return NULL;
}

static ingot_status check_input(const ingot_session *s, size_t input, const ingot_value *v, ingot_error *error)
{
    const ingot_type *t = &s->declared->inputs[input]->type;
    char why[160];
    const ingot_value *misfit = find_misfit(v, t);
    if (misfit && v->kind != INGOT_KIND_TENSOR) {
        snprintf(why, sizeof why, "it holds %s elements, or is another kind of value",
                 ingot_element_name(misfit->element));
        return wrong_input(s, input, v, why, error);
    }
    if (misfit && v->kind != t->kind)
        return wrong_input(s, input, v, "it is another kind of value", error);
    if (v->kind != INGOT_KIND_TENSOR || t->kind != INGOT_KIND_TENSOR)
        return INGOT_OK;
    if (t->element != INGOT_UNDEFINED && v->element != t->element) {
        snprintf(why, sizeof why, "the element type must be %s", ingot_element_name(t->element));
        return wrong_input(s, input, v, why, error);
    }
    if (t->rank >= 0 && v->rank != t->rank) {
        snprintf(why, sizeof why, "the rank must be %d, not %d", t->rank, v->rank);
        return wrong_input(s, input, v, why, error);
    }
    for (int i = 0; i < t->rank; i++) {
        if (!ingot_dim_is_number(t->dims[i]) || t->dims[i] == v->dims[i])
            continue;
        snprintf(why, sizeof why, "dimension %d must be %lld, not %lld", i, (long long)t->dims[i],
                 (long long)v->dims[i]);
        return wrong_input(s, input, v, why, error);
    }
    return INGOT_OK;
}

static ingot_status check_symbols(ingot_context *c, ingot_error *error)
{
    const ingot_session *s = c->session;
    for (size_t i = 0; i < s->symbol_count; i++)
        c->symbol_sizes[i] = -1;
    for (size_t i = 0; i < s->symbol_place_count; i++) {
        const ingot_input_symbol *p = &s->symbols[i];
        const ingot_value *v = c->inputs[p->input];
        if (v->kind != INGOT_KIND_TENSOR)
            continue;
        if (c->symbol_sizes[p->symbol] == -1)
            c->symbol_sizes[p->symbol] = v->dims[p->axis];
        if (c->symbol_sizes[p->symbol] == v->dims[p->axis])
            continue;
        char why[200], name[64];
        snprintf(
            why, sizeof why, "size %s is %lld in another input, but %lld here",
            ingot_dim_describe(s->module->dims, s->declared->inputs[p->input]->type.dims[p->axis], name, sizeof name),
            (long long)c->symbol_sizes[p->symbol], (long long)v->dims[p->axis]);
        return wrong_input(s, p->input, v, why, error);
    }
    return INGOT_OK;
}

ingot_status ingot_context_check_inputs(ingot_context *c, ingot_error *error)
{
    const ingot_session *s = c->session;
    for (size_t i = 0; i < s->input_count; i++) {
        if (!c->inputs[i]) {
            char want[200];
            return ingot_fail(error, INGOT_INVALID_INPUT, "input '%s' (%s) is missing: bind a value to it",
                              s->inputs[i].name,
                              ingot_type_describe(s->module->dims, &s->declared->inputs[i]->type, want, sizeof want));
        }
        INGOT_TRY(check_input(s, i, c->inputs[i], error));
    }
    return check_symbols(c, error);
}

/* ---- Memory that is bound ---- */

static bool overlap(const ingot_value *a, const ingot_value *b)
{
    uintptr_t x = (uintptr_t)a->data, y = (uintptr_t)b->data;
    size_t x_bytes = ingot_value_bytes(a), y_bytes = ingot_value_bytes(b);
    return a->kind == INGOT_KIND_TENSOR && b->kind == INGOT_KIND_TENSOR && x_bytes > 0 && y_bytes > 0 &&
           x < y + y_bytes && y < x + x_bytes;
}

ingot_status ingot_context_check_outputs(const ingot_context *c, ingot_error *error)
{
    const ingot_session *s = c->session;
    for (size_t i = 0; i < s->output_count; i++) {
        const ingot_value *target = c->targets[i].value;
        if (!target || !c->targets[i].bound)
            continue;
        for (size_t k = 0; k < s->input_count; k++)
            if (overlap(target, c->inputs[k]))
                return ingot_fail(error, INGOT_INVALID_ARGUMENT,
                                  "the memory bound to output '%s' is also that of input '%s': bind another",
                                  s->outputs[i].name, s->inputs[k].name);
        for (size_t k = 0; k < i; k++)
            if (c->targets[k].value && c->targets[k].bound && overlap(target, c->targets[k].value))
                return ingot_fail(error, INGOT_INVALID_ARGUMENT,
                                  "outputs '%s' and '%s' are bound to the same memory: bind another",
                                  s->outputs[k].name, s->outputs[i].name);
    }
    return INGOT_OK;
}

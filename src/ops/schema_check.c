/* Checks of a node against its schema: numbers of inputs and outputs, and input types. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ops/schema.h"

typedef struct form_text {
    const char *before, *after; /* around the element type */
} form_text;

static const form_text form_texts[INGOT_FORM_COUNT] = {
#define INGOT_TYPE_FORM_TEXT(name, before, after) [name] = {before, after},
    INGOT_TYPE_FORM_LIST(INGOT_TYPE_FORM_TEXT)
#undef INGOT_TYPE_FORM_TEXT
};

/* ---- Numbers of inputs and outputs ---- */

static ingot_status check_count(const ingot_schema *schema, const char *what, size_t count, unsigned min, unsigned max,
                                ingot_error *error)
{
    if (count >= min && (count <= max || max == INGOT_SCHEMA_ANY))
        return INGOT_OK;
    char range[48];
    if (max == INGOT_SCHEMA_ANY)
        snprintf(range, sizeof range, "at least %u", min);
    else if (min == max)
        snprintf(range, sizeof range, "%u", min);
    else
        snprintf(range, sizeof range, "%u to %u", min, max);
    return ingot_fail(error, INGOT_INVALID_MODEL, "%s-%d has %s %s%s, found %zu", schema->name, schema->since_version,
                      range, what, min == 1 && max == 1 ? "" : "s", count);
}

ingot_status ingot_schema_check_counts(const ingot_schema *schema, size_t input_count, size_t output_count,
                                       ingot_error *error)
{
    INGOT_TRY(check_count(schema, "input", input_count, schema->min_inputs, schema->max_inputs, error));
    return check_count(schema, "output", output_count, schema->min_outputs, schema->max_outputs, error);
}

/* ---- Types ---- */

ingot_schema_type ingot_schema_type_of(const ingot_type *type)
{
    ingot_schema_type result = {INGOT_KIND_NONE, INGOT_KIND_NONE, INGOT_UNDEFINED, INGOT_UNDEFINED};
    if (!type)
        return result;
    result.kind = type->kind;
    const ingot_type *inner = type;
    if (type->kind == INGOT_KIND_SEQUENCE || type->kind == INGOT_KIND_OPTIONAL) {
        inner = type->item;
        result.item = inner ? inner->kind : INGOT_KIND_NONE;
        if (inner && inner->kind == INGOT_KIND_SEQUENCE)
            inner = inner->item;
    }
    if (inner && inner->kind == INGOT_KIND_MAP) {
        result.key = inner->element;
        inner = inner->item;
    }
    result.element = inner ? inner->element : INGOT_UNDEFINED;
    return result;
}

/* false: the standard has no such form. */
static bool find_form(ingot_schema_type type, ingot_type_form *form)
{
    static const struct {
        ingot_kind kind, item;
        ingot_element key;
        ingot_type_form form;
    } forms[] = {
        {INGOT_KIND_TENSOR, INGOT_KIND_NONE, INGOT_UNDEFINED, INGOT_FORM_TENSOR},
        {INGOT_KIND_SEQUENCE, INGOT_KIND_TENSOR, INGOT_UNDEFINED, INGOT_FORM_SEQUENCE},
        {INGOT_KIND_OPTIONAL, INGOT_KIND_TENSOR, INGOT_UNDEFINED, INGOT_FORM_OPTIONAL},
        {INGOT_KIND_OPTIONAL, INGOT_KIND_SEQUENCE, INGOT_UNDEFINED, INGOT_FORM_OPTIONAL_SEQUENCE},
        {INGOT_KIND_MAP, INGOT_KIND_NONE, INGOT_INT64, INGOT_FORM_INT64_MAP},
        {INGOT_KIND_MAP, INGOT_KIND_NONE, INGOT_STRING, INGOT_FORM_STRING_MAP},
        {INGOT_KIND_SEQUENCE, INGOT_KIND_MAP, INGOT_INT64, INGOT_FORM_INT64_MAP_SEQUENCE},
        {INGOT_KIND_SEQUENCE, INGOT_KIND_MAP, INGOT_STRING, INGOT_FORM_STRING_MAP_SEQUENCE},
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (forms[i].kind == type.kind && forms[i].item == type.item && forms[i].key == type.key) {
            *form = forms[i].form;
            return true;
        }
    }
    return false;
}

/* What the type leaves open: all of it, what a container holds, or the keys of a map. */
static bool is_open(ingot_schema_type type)
{
    bool container = type.kind == INGOT_KIND_SEQUENCE || type.kind == INGOT_KIND_OPTIONAL;
    bool map = type.kind == INGOT_KIND_MAP || (container && type.item == INGOT_KIND_MAP);
    return type.kind == INGOT_KIND_NONE || (container && type.item == INGOT_KIND_NONE) ||
           (map && type.key == INGOT_UNDEFINED);
}

bool ingot_schema_type_allowed(const ingot_schema_constraint *constraint, ingot_schema_type type)
{
    ingot_type_form form;
    if (is_open(type))
        return true;
    if (!find_form(type, &form))
        return false;
    ingot_element_set allowed = constraint->allowed[form];
    return type.element == INGOT_UNDEFINED ? allowed != 0 : (allowed & INGOT_ELEMENT_BIT(type.element)) != 0;
}

/* Appends to text; where it does not fit, it is cut. */
static void append(char *text, size_t size, const char *format, ...) INGOT_PRINTF(3, 4);
static void append(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

const char *ingot_schema_type_describe(ingot_schema_type type, char *text, size_t size)
{
    static const char *const kinds[] = {
        [INGOT_KIND_NONE] = "unknown", [INGOT_KIND_TENSOR] = "tensor",     [INGOT_KIND_SEQUENCE] = "sequence",
        [INGOT_KIND_MAP] = "map",      [INGOT_KIND_OPTIONAL] = "optional", [INGOT_KIND_SPARSE] = "sparse tensor",
    };
    ingot_type_form form;
    if (type.kind == INGOT_KIND_TENSOR)
        snprintf(text, size, "%s", ingot_element_name(type.element));
    else if (find_form(type, &form))
        snprintf(text, size, "%s%s%s", form_texts[form].before, ingot_element_name(type.element),
                 form_texts[form].after);
    else
        snprintf(text, size, "a %s", kinds[type.kind]);
    return text;
}

/* "float16, float, double, seq(tensor(float))": element types that Ingot knows. */
static void describe_constraint(const ingot_schema_constraint *constraint, char *text, size_t size)
{
    text[0] = '\0';
    for (int form = 0; form < INGOT_FORM_COUNT; form++) {
        const form_text *around = &form_texts[form];
        for (int element = 1; element < INGOT_ELEMENT_COUNT; element++) {
            if (!(constraint->allowed[form] & INGOT_ELEMENT_BIT(element)))
                continue;
            bool plain = form == INGOT_FORM_TENSOR;
            append(text, size, "%s%s%s%s", text[0] ? ", " : "", plain ? "" : around->before,
                   ingot_element_name((ingot_element)element), plain ? "" : around->after);
        }
    }
}

static ingot_status fail_not_allowed(const ingot_schema *schema, const ingot_schema_value *value, size_t index,
                                     ingot_schema_type type, ingot_error *error)
{
    char found[64], wanted[512];
    const ingot_schema_constraint *constraint = ingot_schema_constraint_of(schema, value);
    describe_constraint(constraint, wanted, sizeof wanted);
    return ingot_fail(error, INGOT_INVALID_MODEL, "input %zu '%s' is %s, but %s-%d allows only: %s", index, value->name,
                      ingot_schema_type_describe(type, found, sizeof found), schema->name, schema->since_version,
                      wanted);
}

static bool same_type(ingot_schema_type a, ingot_schema_type b)
{
    return a.kind == b.kind && a.item == b.item && a.element == b.element && a.key == b.key;
}

ingot_status ingot_schema_check_types(const ingot_schema *schema, const ingot_schema_type *inputs, size_t input_count,
                                      ingot_error *error)
{
    size_t first[UINT8_MAX + 1]; /* by constraint: the input that set its type, plus 1; 0: none yet */
    memset(first, 0, sizeof first);
    for (size_t i = 0; i < input_count; i++) {
        const ingot_schema_value *value = ingot_schema_input(schema, i);
        if (!value)
            return ingot_schema_check_counts(schema, input_count, schema->min_outputs, error);
        const ingot_schema_constraint *constraint = ingot_schema_constraint_of(schema, value);
        if (!ingot_schema_type_allowed(constraint, inputs[i]))
            return fail_not_allowed(schema, value, i, inputs[i], error);
        if (!value->homogeneous || is_open(inputs[i]) || inputs[i].element == INGOT_UNDEFINED)
            continue;
        size_t *setter = &first[value->constraint];
        if (*setter == 0) {
            *setter = i + 1;
        } else if (!same_type(inputs[*setter - 1], inputs[i])) {
            char found[64], wanted[64];
            return ingot_fail(error, INGOT_INVALID_MODEL,
                              "input %zu '%s' is %s but input %zu '%s' is %s: both must be of one type %s", i,
                              value->name, ingot_schema_type_describe(inputs[i], found, sizeof found), *setter - 1,
                              ingot_schema_input(schema, *setter - 1)->name,
                              ingot_schema_type_describe(inputs[*setter - 1], wanted, sizeof wanted), constraint->name);
        }
    }
    return INGOT_OK;
}

#include "ops/constant.h"

#include <string.h>

static ingot_status copy_tensor(const ingot_attribute *a, ingot_value *content, ingot_error *error)
{
    return ingot_value_copy(content, a->tensor, error);
}

/* Numbers of size bytes each: a scalar where rank is 0. */
static ingot_status copy_numbers(ingot_element element, int rank, const void *data, size_t count, ingot_value *content,
                                 ingot_error *error)
{
    int64_t dims[1] = {(int64_t)count};
    INGOT_TRY(ingot_value_set_tensor(content, element, rank, dims, error));
    if (count > 0)
        memcpy(content->data, data, count * ingot_element_size(element));
    return INGOT_OK;
}

static ingot_status copy_int(const ingot_attribute *a, ingot_value *content, ingot_error *error)
{
    return copy_numbers(INGOT_INT64, 0, &a->i, 1, content, error);
}

static ingot_status copy_ints(const ingot_attribute *a, ingot_value *content, ingot_error *error)
{
    return copy_numbers(INGOT_INT64, 1, a->ints, a->count, content, error);
}

static ingot_status copy_float(const ingot_attribute *a, ingot_value *content, ingot_error *error)
{
    return copy_numbers(INGOT_FLOAT, 0, &a->f, 1, content, error);
}

static ingot_status copy_floats(const ingot_attribute *a, ingot_value *content, ingot_error *error)
{
    return copy_numbers(INGOT_FLOAT, 1, a->floats, a->count, content, error);
}

static ingot_status copy_texts(int rank, const ingot_text *texts, size_t count, ingot_value *content,
                               ingot_error *error)
{
    int64_t dims[1] = {(int64_t)count};
    INGOT_TRY(ingot_value_set_tensor(content, INGOT_STRING, rank, dims, error));
    for (size_t i = 0; i < count; i++)
        INGOT_TRY(ingot_value_set_string(content, i, texts[i].data, texts[i].size, error));
    return INGOT_OK;
}

static ingot_status copy_string(const ingot_attribute *a, ingot_value *content, ingot_error *error)
{
    return copy_texts(0, &a->s, 1, content, error);
}

static ingot_status copy_strings(const ingot_attribute *a, ingot_value *content, ingot_error *error)
{
    return copy_texts(1, a->strings, a->count, content, error);
}

static const struct {
    const char *name;
    ingot_status (*copy)(const ingot_attribute *a, ingot_value *content, ingot_error *error);
} forms[] = {
    {"value", copy_tensor},        {"sparse_value", copy_tensor},   {"value_int", copy_int},
    {"value_ints", copy_ints},     {"value_float", copy_float},     {"value_floats", copy_floats},
    {"value_string", copy_string}, {"value_strings", copy_strings},
};

#define FORM_COUNT (sizeof forms / sizeof *forms)

ingot_status ingot_op_constant_content(const ingot_node *node, ingot_value **content, ingot_error *error)
{
    const ingot_attribute *given = NULL;
    size_t form = 0;
    *content = NULL;
    for (size_t i = 0; i < FORM_COUNT; i++) {
        const ingot_attribute *a = ingot_node_attribute(node, forms[i].name);
        if (a && given)
            return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "has both %s and %s; exactly one must be given",
                                   given->name, a->name);
        if (a) {
            given = a;
            form = i;
        }
    }
    if (!given)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                               "has no value: one of value, sparse_value, value_int, value_ints, value_float, "
                               "value_floats, value_string and value_strings must be given");
    ingot_value *value = ingot_malloc(sizeof *value);
    if (!value)
        return ingot_fail_memory(error, sizeof *value, "a constant");
    ingot_value_init(value);
    ingot_status status = forms[form].copy(given, value, error);
    if (status != INGOT_OK) {
        ingot_value_release(value);
        return ingot_node_fail_at(node, error);
    }
    *content = value;
    return INGOT_OK;
}

static ingot_status infer_constant(ingot_infer *c)
{
    return ingot_node_fail(c->node, c->error, INGOT_INTERNAL, "was not made a constant of the graph at import");
}

const ingot_op ingot_op_constant = {
    .summary = "a value that the model holds",
    .infer = infer_constant,
};

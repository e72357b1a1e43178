#include "ops/encode.h"

#include <stddef.h>

/* ---- LabelEncoder from version 2 ---- */

#define ENCODER_FIELD(attribute, kind, field)                                 \
    {                                                                         \
        attribute, kind, offsetof(ingot_label_encoder_params, field), NULL, 0 \
    }

static const ingot_param_field label_encoder_fields[] = {
    ENCODER_FIELD("keys_int64s", INGOT_PARAM_INTS, keys_given.ints),
    ENCODER_FIELD("keys_floats", INGOT_PARAM_FLOATS, keys_given.floats),
    ENCODER_FIELD("keys_strings", INGOT_PARAM_TEXTS, keys_given.texts),
    ENCODER_FIELD("keys_tensor", INGOT_PARAM_TENSOR, keys_given.tensor),
    ENCODER_FIELD("values_int64s", INGOT_PARAM_INTS, values_given.ints),
    ENCODER_FIELD("values_floats", INGOT_PARAM_FLOATS, values_given.floats),
    ENCODER_FIELD("values_strings", INGOT_PARAM_TEXTS, values_given.texts),
    ENCODER_FIELD("values_tensor", INGOT_PARAM_TENSOR, values_given.tensor),
    ENCODER_FIELD("default_int64", INGOT_PARAM_INT, default_int),
    ENCODER_FIELD("default_float", INGOT_PARAM_FLOAT, default_float),
    ENCODER_FIELD("default_string", INGOT_PARAM_TEXT, default_text),
    ENCODER_FIELD("default_tensor", INGOT_PARAM_TENSOR, default_tensor),
    {NULL, 0, 0, NULL, 0},
};

/* Strings of a tensor as texts in the arena. */
static const ingot_text *tensor_texts(ingot_arena *arena, const ingot_value *tensor, size_t count)
{
    ingot_text *texts = ingot_arena_alloc_array(arena, count + 1, sizeof *texts);
    const ingot_string *strings = tensor->data;
    for (size_t i = 0; texts && i < count; i++)
        texts[i] = (ingot_text){strings[i].length ? tensor->strings + strings[i].offset : "", strings[i].length};
    return texts;
}

/* The one list of four that is given. */
static ingot_status take_list(const ingot_node *node, const char *name, const struct ingot_label_lists *given,
                              ingot_key_list *list, ingot_error *error)
{
    int forms =
        (given->ints.count > 0) + (given->floats.count > 0) + (given->texts.count > 0) + (given->tensor != NULL);
    if (forms != 1)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "%d of the lists %s_... are there, expected one",
                               forms, name);
    if (given->ints.count) {
        *list = (ingot_key_list){INGOT_INT64, given->ints.count, given->ints.data, NULL};
    } else if (given->floats.count) {
        *list = (ingot_key_list){INGOT_FLOAT, given->floats.count, given->floats.data, NULL};
    } else if (given->texts.count) {
        *list = (ingot_key_list){INGOT_STRING, given->texts.count, NULL, given->texts.data};
    } else {
        const ingot_value *t = given->tensor;
        *list = (ingot_key_list){t->element, 0, t->data, NULL};
        if (!ingot_count_elements(t->rank, t->dims, &list->count))
            return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "%s_tensor has too many elements", name);
        if (t->element == INGOT_STRING && !(list->texts = tensor_texts(node->graph->module->arena, t, list->count)))
            return ingot_fail_memory(error, list->count * sizeof *list->texts, "the strings of an attribute");
    }
    return INGOT_OK;
}

static ingot_status check_label_encoder(const ingot_node *node, void *params, ingot_error *error)
{
    ingot_label_encoder_params *p = params;
    ingot_key_list keys;
    size_t default_count;
    INGOT_TRY(take_list(node, "keys", &p->keys_given, &keys, error));
    INGOT_TRY(take_list(node, "values", &p->values_given, &p->values, error));
    if (keys.count != p->values.count)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "there are %zu keys, but %zu values", keys.count,
                               p->values.count);
    if (p->default_tensor &&
        (p->default_tensor->element != p->values.element ||
         !ingot_count_elements(p->default_tensor->rank, p->default_tensor->dims, &default_count) || default_count != 1))
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL,
                               "default_tensor must be one element of the values' type, %s",
                               ingot_element_name(p->values.element));
    return ingot_key_table_build(node->graph->module->arena, &keys, &p->table, error);
}

static void set_like_input(ingot_infer *c, ingot_element element)
{
    const ingot_type *x = &c->inputs[0].type;
    if (x->rank < 0)
        ingot_infer_set_unranked(c, 0, element);
    else
        ingot_infer_set(c, 0, element, x->rank, x->dims);
}

static ingot_status infer_label_encoder(ingot_infer *c)
{
    const ingot_label_encoder_params *p = c->params;
    ingot_element x = c->inputs[0].type.element;
    if (x != p->table.keys.element)
        return ingot_infer_fail(c, "the input is of type %s, but the keys are of type %s", ingot_element_name(x),
                                ingot_element_name(p->table.keys.element));
    set_like_input(c, p->values.element);
    return INGOT_OK;
}

/* ---- CategoryMapper and LabelEncoder-1 ---- */

#define CATEGORY_FIELD(attribute, kind, field)                           \
    {                                                                    \
        attribute, kind, offsetof(ingot_category_params, field), NULL, 0 \
    }

static const ingot_param_field category_mapper_fields[] = {
    CATEGORY_FIELD("cats_int64s", INGOT_PARAM_INTS, ints),
    CATEGORY_FIELD("cats_strings", INGOT_PARAM_TEXTS, texts),
    CATEGORY_FIELD("default_int64", INGOT_PARAM_INT, default_int),
    CATEGORY_FIELD("default_string", INGOT_PARAM_TEXT, default_text),
    {NULL, 0, 0, NULL, 0},
};

static const ingot_param_field label_encoder_1_fields[] = {
    CATEGORY_FIELD("classes_strings", INGOT_PARAM_TEXTS, texts),
    CATEGORY_FIELD("default_int64", INGOT_PARAM_INT, default_int),
    CATEGORY_FIELD("default_string", INGOT_PARAM_TEXT, default_text),
    {NULL, 0, 0, NULL, 0},
};

static ingot_status build_category_tables(const ingot_node *node, ingot_category_params *p, ingot_error *error)
{
    ingot_arena *arena = node->graph->module->arena;
    ingot_key_list ints = {INGOT_INT64, p->ints.count, p->ints.data, NULL};
    ingot_key_list texts = {INGOT_STRING, p->texts.count, NULL, p->texts.data};
    INGOT_TRY(ingot_key_table_build(arena, &ints, &p->by_int, error));
    return ingot_key_table_build(arena, &texts, &p->by_text, error);
}

static ingot_status check_category_mapper(const ingot_node *node, void *params, ingot_error *error)
{
    ingot_category_params *p = params;
    if (p->ints.count != p->texts.count)
        return ingot_node_fail(node, error, INGOT_INVALID_MODEL, "cats_int64s has %zu values, but cats_strings has %zu",
                               p->ints.count, p->texts.count);
    return build_category_tables(node, p, error);
}

static ingot_status check_label_encoder_1(const ingot_node *node, void *params, ingot_error *error)
{
    ingot_category_params *p = params;
    int64_t *indices = ingot_arena_alloc_array(node->graph->module->arena, p->texts.count + 1, sizeof *indices);
    if (!indices)
        return ingot_fail_memory(error, p->texts.count * sizeof *indices, "the classes of a LabelEncoder");
    for (size_t i = 0; i < p->texts.count; i++)
        indices[i] = (int64_t)i;
    p->ints = (ingot_ints){indices, p->texts.count, true};
    return build_category_tables(node, p, error);
}

static ingot_status infer_category(ingot_infer *c)
{
    set_like_input(c, c->inputs[0].type.element == INGOT_STRING ? INGOT_INT64 : INGOT_STRING);
    return INGOT_OK;
}

/* ---- OneHotEncoder ---- */

static const ingot_param_field one_hot_fields[] = {
    {"cats_int64s", INGOT_PARAM_INTS, offsetof(ingot_one_hot_params, categories.ints), NULL, 0},
    {"cats_strings", INGOT_PARAM_TEXTS, offsetof(ingot_one_hot_params, categories.texts), NULL, 0},
    {"zeros", INGOT_PARAM_BOOL, offsetof(ingot_one_hot_params, zeros), NULL, 0},
    {NULL, 0, 0, NULL, 0},
};

static ingot_status check_one_hot(const ingot_node *node, void *params, ingot_error *error)
{
    ingot_one_hot_params *p = params;
    INGOT_TRY(ingot_class_labels_check(node, &p->categories, "cats_int64s", "cats_strings", error));
    ingot_key_list keys = {p->categories.element, p->categories.count, p->categories.ints.data,
                           p->categories.texts.data};
    return ingot_key_table_build(node->graph->module->arena, &keys, &p->table, error);
}

static ingot_status infer_one_hot(ingot_infer *c)
{
    const ingot_one_hot_params *p = c->params;
    const ingot_type *x = &c->inputs[0].type;
    if ((x->element == INGOT_STRING) != (p->categories.element == INGOT_STRING))
        return ingot_infer_fail(c, "the input is of type %s, but the categories are of type %s",
                                ingot_element_name(x->element), ingot_element_name(p->categories.element));
    INGOT_TRY(ingot_infer_rank(c, 0, 0, INGOT_MAX_RANK - 1));
    if (x->rank < 0) {
        ingot_infer_set_unranked(c, 0, INGOT_FLOAT);
        return INGOT_OK;
    }
    ingot_dim out[INGOT_MAX_RANK];
    for (int i = 0; i < x->rank; i++)
        out[i] = x->dims[i];
    out[x->rank] = (ingot_dim)p->categories.count;
    ingot_infer_set(c, 0, INGOT_FLOAT, x->rank + 1, out);
    return INGOT_OK;
}

/* ---- Descriptors ---- */

const ingot_op ingot_op_label_encoder = {
    .summary = "Replaces each element by the value that goes with it as key.",
    .params_size = sizeof(ingot_label_encoder_params),
    .fields = label_encoder_fields,
    .check = check_label_encoder,
    .infer = infer_label_encoder,
};

const ingot_op ingot_op_label_encoder_1 = {
    .summary = "Strings to their indices in a list, and back.",
    .params_size = sizeof(ingot_category_params),
    .fields = label_encoder_1_fields,
    .check = check_label_encoder_1,
    .infer = infer_category,
};

const ingot_op ingot_op_category_mapper = {
    .summary = "Strings to integers by two lists, and back.",
    .params_size = sizeof(ingot_category_params),
    .fields = category_mapper_fields,
    .check = check_category_mapper,
    .infer = infer_category,
};

const ingot_op ingot_op_one_hot_encoder = {
    .summary = "Each element as a row of zeros with a one at its category.",
    .params_size = sizeof(ingot_one_hot_params),
    .fields = one_hot_fields,
    .check = check_one_hot,
    .infer = infer_one_hot,
};

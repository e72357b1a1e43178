/* Small models and made-up inputs for them: what the tests of the library as a whole share. */
#ifndef LIBRARY_RUN_H
#define LIBRARY_RUN_H

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "library_models.h"

#define MOST_VALUES 2048 /* inputs or outputs of a model */

static inline const struct library_model *library_model(const char *name)
{
    for (size_t i = 0; i < LIBRARY_MODEL_COUNT; i++)
        if (strcmp(library_models[i].name, name) == 0)
            return &library_models[i];
    return NULL;
}

static inline void fill_numbers(ingot_value *value, ingot_element element)
{
    bool wide = element == INGOT_FLOAT || element == INGOT_INT64;
    size_t count = wide ? ingot_value_count(value) : ingot_value_bytes(value);
    void *data = ingot_value_data(value);
    for (size_t i = 0; i < count; i++) {
        if (element == INGOT_FLOAT)
            ((float *)data)[i] = (float)(i * 7 % 11) / 4 - 1;
        else if (element == INGOT_INT64)
            ((int64_t *)data)[i] = 3;
        else
            ((uint8_t *)data)[i] = (uint8_t)(i % 2);
    }
}

/* A value of this type: free sizes are size, numbers of both signs, int64 always 3. NULL where memory is out. */
static inline ingot_value *make_value(const ingot_type_info *type, int64_t size, ingot_error *error)
{
    ingot_value *value = NULL;
    if (type->kind == INGOT_KIND_SEQUENCE) {
        ingot_value *items[2] = {make_value(type->item, size, error), make_value(type->item, size, error)};
        if (items[0] == NULL || items[1] == NULL ||
            ingot_value_create_sequence(items, 2, type->item->element, &value, error) != INGOT_OK) {
            ingot_value_release(items[0]);
            ingot_value_release(items[1]);
        }
        return value;
    }
    int64_t dims[INGOT_MAX_RANK];
    for (int i = 0; i < type->rank; i++)
        dims[i] = type->dims[i] < 0 ? size : type->dims[i];
    if (type->element == INGOT_STRING) {
        static const char *const words[64] = {"one", "", "three hundred and thirty-three"};
        const char *strings[64];
        size_t count;
        for (int i = 0; i < 64; i++)
            strings[i] = words[i % 3];
        if (!ingot_count_elements(type->rank, dims, &count) || count > 64)
            return NULL;
        ingot_value_create_strings(type->rank, dims, strings, NULL, &value, error);
        return value;
    }
    if (ingot_value_create_tensor(type->element, type->rank, dims, NULL, 0, &value, error) == INGOT_OK)
        fill_numbers(value, type->element);
    return value;
}

/* A value for each input of the session, those with a default only where asked for, else NULL; false where memory is out.
 * Release them with release_values. */
static inline bool make_inputs(const ingot_session *session, int64_t size, bool defaults, ingot_value **inputs,
                               ingot_error *error)
{
    for (size_t i = 0; i < ingot_session_input_count(session); i++) {
        if (ingot_session_input(session, i)->has_default && !defaults)
            continue;
        inputs[i] = make_value(ingot_session_input(session, i)->type, size, error);
        if (inputs[i] == NULL)
            return false;
    }
    return true;
}

static inline void release_values(ingot_value **values)
{
    for (size_t i = 0; i < MOST_VALUES; i++) {
        ingot_value_release(values[i]);
        values[i] = NULL;
    }
}

#endif

#include "graph/type.h"

#include <stdio.h>
#include <string.h>

ingot_type ingot_type_tensor(ingot_element element)
{
    return (ingot_type){.kind = INGOT_KIND_TENSOR, .element = element, .rank = -1};
}

ingot_type ingot_type_shaped(ingot_element element, int rank, const ingot_dim *dims)
{
    ingot_type type = {.kind = INGOT_KIND_TENSOR, .element = element, .rank = rank};
    if (rank > 0)
        memcpy(type.dims, dims, (size_t)rank * sizeof *dims);
    return type;
}

ingot_type ingot_type_of_value(const ingot_value *value)
{
    ingot_type type = ingot_type_shaped(value->element, value->rank, value->dims);
    type.kind = value->kind;
    if (value->kind != INGOT_KIND_TENSOR && value->kind != INGOT_KIND_SPARSE)
        type.rank = -1;
    return type;
}

static void append(char *text, size_t size, const char *more)
{
    size_t used = strlen(text);
    if (used + 1 < size)
        snprintf(text + used, size - used, "%s", more);
}

static void append_tensor(const ingot_dims *dims, const ingot_type *type, char *text, size_t size)
{
    append(text, size, ingot_element_name(type->element));
    if (type->rank < 0)
        return;
    append(text, size, "[");
    for (int i = 0; i < type->rank; i++) {
        char dim[64];
        append(text, size, i ? "," : "");
        append(text, size, ingot_dim_describe(dims, type->dims[i], dim, sizeof dim));
    }
    append(text, size, "]");
}

static void append_type(const ingot_dims *dims, const ingot_type *type, char *text, size_t size, int depth)
{
    static const char *const heads[] = {[INGOT_KIND_SEQUENCE] = "seq(",
                                        [INGOT_KIND_MAP] = "map(",
                                        [INGOT_KIND_OPTIONAL] = "optional(",
                                        [INGOT_KIND_SPARSE] = "sparse("};
    if (type->kind == INGOT_KIND_NONE || depth > 8) {
        append(text, size, "?");
        return;
    }
    if (type->kind == INGOT_KIND_TENSOR) {
        append_tensor(dims, type, text, size);
        return;
    }
    append(text, size, heads[type->kind]);
    if (type->kind == INGOT_KIND_MAP) {
        append(text, size, ingot_element_name(type->element));
        append(text, size, ",");
    }
    if (type->kind == INGOT_KIND_SPARSE)
        append_tensor(dims, type, text, size);
    else if (type->item)
        append_type(dims, type->item, text, size, depth + 1);
    else
        append(text, size, "?");
    append(text, size, ")");
}

const char *ingot_type_describe(const ingot_dims *dims, const ingot_type *type, char *text, size_t size)
{
    if (size == 0)
        return "";
    text[0] = '\0';
    append_type(dims, type, text, size, 0);
    return text;
}

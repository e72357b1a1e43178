#include "onnx/importer.h"

#include <string.h>

/* Types inside types: a sequence of maps has three levels. */
#define MAX_TYPE_DEPTH 8

/* Some exporters write a mark that says "free" where the standard has a name: "?", "-1", "None". Sizes that share it need not
 * be equal. */
static bool is_name(ingot_span text)
{
    if (text.size == 4 && memcmp(text.data, "None", 4) == 0)
        return false;
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80)
            return true;
    }
    return false;
}

static ingot_status import_dims(ingot_importer *importer, const ingot_shape_proto *shape, ingot_type *type)
{
    ingot_dims *dims = importer->module->dims;
    const ingot_dimension_proto *sizes = shape->dims.items;
    if (shape->dims.count > INGOT_MAX_RANK)
        return ingot_fail(importer->error, INGOT_UNSUPPORTED, "it has %zu dimensions; at most %d are supported",
                          shape->dims.count, INGOT_MAX_RANK);
    type->rank = (int)shape->dims.count;
    for (int i = 0; i < type->rank; i++) {
        if ((sizes[i].seen & INGOT_DIMENSION_HAS_VALUE) != 0 && sizes[i].dim_value >= 0)
            type->dims[i] = sizes[i].dim_value;
        else if (is_name(sizes[i].dim_param))
            type->dims[i] = ingot_dim_symbol(dims, sizes[i].dim_param.data, sizes[i].dim_param.size);
        else
            type->dims[i] = ingot_dim_fresh(dims);
        if (type->dims[i] == INGOT_DIM_UNKNOWN)
            return ingot_fail_memory(importer->error, sizes[i].dim_param.size, "the name of a size");
    }
    return INGOT_OK;
}

static ingot_status import_tensor_type(ingot_importer *importer, ingot_kind kind, const ingot_tensor_type_proto *proto,
                                       ingot_type *type)
{
    *type = (ingot_type){.kind = kind, .rank = -1};
    INGOT_TRY(ingot_element_from_number(proto->elem_type, &type->element, importer->error));
    return proto->shape != NULL ? import_dims(importer, proto->shape, type) : INGOT_OK;
}

static ingot_status import_nested(ingot_importer *importer, const ingot_type_proto *proto, ingot_type *type, int depth);

/* A sequence, optional or map. */
static ingot_status import_container(ingot_importer *importer, ingot_kind kind, const ingot_item_type_proto *proto,
                                     ingot_type *type, int depth)
{
    *type = (ingot_type){.kind = kind, .rank = -1};
    if (kind == INGOT_KIND_MAP)
        INGOT_TRY(ingot_element_from_number(proto->key_type, &type->element, importer->error));
    ingot_type *item = ingot_arena_alloc(importer->module->arena, sizeof *item);
    if (item == NULL)
        return ingot_fail_memory(importer->error, sizeof *item, "a type");
    INGOT_TRY(import_nested(importer, proto->item, item, depth + 1));
    type->item = item;
    return INGOT_OK;
}

static ingot_status import_nested(ingot_importer *importer, const ingot_type_proto *proto, ingot_type *type, int depth)
{
    *type = (ingot_type){.kind = INGOT_KIND_NONE, .rank = -1};
    if (depth == MAX_TYPE_DEPTH)
        return ingot_fail(importer->error, INGOT_UNSUPPORTED, "its type nests deeper than %d levels", MAX_TYPE_DEPTH);
    if (proto == NULL)
        return INGOT_OK;
    if (proto->tensor != NULL)
        return import_tensor_type(importer, INGOT_KIND_TENSOR, proto->tensor, type);
    if (proto->sparse_tensor != NULL)
        return import_tensor_type(importer, INGOT_KIND_SPARSE, proto->sparse_tensor, type);
    if (proto->sequence != NULL)
        return import_container(importer, INGOT_KIND_SEQUENCE, proto->sequence, type, depth);
    if (proto->optional != NULL)
        return import_container(importer, INGOT_KIND_OPTIONAL, proto->optional, type, depth);
    if (proto->map != NULL)
        return import_container(importer, INGOT_KIND_MAP, proto->map, type, depth);
    if (proto->opaque != NULL)
        return ingot_fail(importer->error, INGOT_UNSUPPORTED, "it has the opaque type '%.*s', which is not supported",
                          INGOT_SPAN_ARG(proto->opaque->name));
    return INGOT_OK;
}

ingot_status ingot_import_type(ingot_importer *importer, const ingot_type_proto *proto, ingot_type *type)
{
    return import_nested(importer, proto, type, 0);
}

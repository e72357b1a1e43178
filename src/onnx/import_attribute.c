#include <string.h>

#include "onnx/importer.h"

static void *allocate(ingot_importer *importer, size_t count, size_t size)
{
    void *memory = ingot_arena_alloc_array(importer->module->arena, count + 1, size);
    if (memory == NULL)
        ingot_fail_memory(importer->error, count < SIZE_MAX / size ? count * size : SIZE_MAX, "attributes");
    return memory;
}

ingot_status ingot_import_text(ingot_importer *importer, ingot_span text, const char **copy)
{
    *copy = ingot_arena_strndup(importer->module->arena, text.data != NULL ? text.data : "", text.size);
    return *copy != NULL ? INGOT_OK : ingot_fail_memory(importer->error, text.size, "a name");
}

/* ---- Tensors ---- */

static ingot_status read_tensor(ingot_importer *importer, const ingot_tensor_proto *tensor,
                                const ingot_sparse_proto *sparse, const ingot_value **content)
{
    ingot_value *value = ingot_malloc(sizeof *value);
    if (value == NULL)
        return ingot_fail_memory(importer->error, sizeof *value, "a constant");
    ingot_value_init(value);
    ingot_status status = tensor != NULL ? ingot_tensor_read(tensor, &importer->source, value, importer->error)
                                         : ingot_tensor_read_sparse(sparse, &importer->source, value, importer->error);
    if (status != INGOT_OK) {
        ingot_value_release(value);
        return status;
    }
    *content = value;
    return ingot_module_own(importer->module, value, importer->error);
}

ingot_status ingot_import_tensor(ingot_importer *importer, const ingot_scope *scope, const ingot_tensor_proto *tensor,
                                 const ingot_sparse_proto *sparse, const ingot_value **content)
{
    if (!ingot_scope_in_function(scope))
        return read_tensor(importer, tensor, sparse, content);
    /* The struct itself is the key: two with the same bytes say the same. */
    const char *key = tensor != NULL ? (const char *)tensor : (const char *)sparse;
    size_t size = tensor != NULL ? sizeof *tensor : sizeof *sparse;
    ingot_value *known = ingot_map_get(&importer->cache, key, size);
    if (known != NULL) {
        *content = known;
        return INGOT_OK;
    }
    INGOT_TRY(read_tensor(importer, tensor, sparse, content));
    known = importer->module->owned_values[importer->module->owned_count - 1];
    return ingot_map_put(&importer->cache, key, size, known, NULL, importer->error);
}

static ingot_status read_tensors(ingot_importer *importer, const ingot_scope *scope, const ingot_proto_list *list,
                                 ingot_attribute *a)
{
    const ingot_tensor_proto *protos = list->items;
    const ingot_value **tensors = allocate(importer, list->count, sizeof *tensors);
    if (tensors == NULL)
        return INGOT_OUT_OF_MEMORY;
    for (size_t i = 0; i < list->count; i++)
        INGOT_TRY(ingot_import_tensor(importer, scope, &protos[i], NULL, &tensors[i]));
    a->tensors = tensors;
    a->count = list->count;
    return INGOT_OK;
}

/* ---- Other kinds ---- */

static ingot_status read_ints(ingot_importer *importer, const ingot_proto_numbers *numbers, ingot_attribute *a)
{
    int64_t *values = allocate(importer, numbers->count, sizeof *values);
    if (values == NULL)
        return INGOT_OUT_OF_MEMORY;
    a->ints = values;
    a->count = numbers->count;
    return ingot_proto_get_integers(numbers, sizeof *values, values, importer->error);
}

static ingot_status read_floats(ingot_importer *importer, const ingot_proto_numbers *numbers, ingot_attribute *a)
{
    float *values = allocate(importer, numbers->count, sizeof *values);
    if (values == NULL)
        return INGOT_OUT_OF_MEMORY;
    a->floats = values;
    a->count = numbers->count;
    return ingot_proto_get_floats(numbers, values, importer->error);
}

static ingot_text text_of(ingot_span span)
{
    return (ingot_text){span.data != NULL ? span.data : "", span.size};
}

static ingot_status read_strings(ingot_importer *importer, const ingot_proto_list *list, ingot_attribute *a)
{
    const ingot_span *strings = list->items;
    ingot_text *texts = allocate(importer, list->count, sizeof *texts);
    if (texts == NULL)
        return INGOT_OUT_OF_MEMORY;
    for (size_t i = 0; i < list->count; i++)
        texts[i] = text_of(strings[i]);
    a->strings = texts;
    a->count = list->count;
    return INGOT_OK;
}

static ingot_status read_type(ingot_importer *importer, const ingot_type_proto *proto, ingot_attribute *a)
{
    ingot_type *type = allocate(importer, 1, sizeof *type);
    if (type == NULL)
        return INGOT_OUT_OF_MEMORY;
    a->type_proto = type;
    return ingot_import_type(importer, proto, type);
}

static ingot_status fail_empty(ingot_importer *importer)
{
    return ingot_fail(importer->error, INGOT_INVALID_MODEL, "it holds nothing of its type");
}

static ingot_status read_content(ingot_importer *importer, const ingot_scope *scope, const ingot_attribute_proto *proto,
                                 ingot_attribute *a)
{
    switch (a->type) {
    case INGOT_ATTRIBUTE_FLOAT:
        a->f = proto->f;
        return INGOT_OK;
    case INGOT_ATTRIBUTE_INT:
        a->i = proto->i;
        return INGOT_OK;
    case INGOT_ATTRIBUTE_STRING:
        a->s = text_of(proto->s);
        return INGOT_OK;
    case INGOT_ATTRIBUTE_FLOATS:
        return read_floats(importer, &proto->floats, a);
    case INGOT_ATTRIBUTE_INTS:
        return read_ints(importer, &proto->ints, a);
    case INGOT_ATTRIBUTE_STRINGS:
        return read_strings(importer, &proto->strings, a);
    case INGOT_ATTRIBUTE_TENSORS:
        return read_tensors(importer, scope, &proto->tensors, a);
    case INGOT_ATTRIBUTE_TENSOR:
        return proto->t == NULL ? fail_empty(importer)
                                : ingot_import_tensor(importer, scope, proto->t, NULL, &a->tensor);
    case INGOT_ATTRIBUTE_SPARSE_TENSOR:
        return proto->sparse_tensor == NULL
                   ? fail_empty(importer)
                   : ingot_import_tensor(importer, scope, NULL, proto->sparse_tensor, &a->tensor);
    case INGOT_ATTRIBUTE_TYPE_PROTO:
        return proto->tp == NULL ? fail_empty(importer) : read_type(importer, proto->tp, a);
    case INGOT_ATTRIBUTE_GRAPH:
        return proto->g == NULL ? fail_empty(importer) : INGOT_OK;
    case INGOT_ATTRIBUTE_UNDEFINED:
        return ingot_fail(importer->error, INGOT_INVALID_MODEL, "it does not say of what type it is");
    default:
        return ingot_fail(importer->error, INGOT_UNSUPPORTED, "attributes of type %lld (%s) are not supported",
                          (long long)proto->type, ingot_attribute_type_name(a->type));
    }
}

/* The attribute as it was read the last time, for bodies of functions. */
static ingot_status read_cached(ingot_importer *importer, const ingot_scope *scope, const ingot_attribute_proto *proto,
                                ingot_attribute *a)
{
    bool reuse = a->type != INGOT_ATTRIBUTE_GRAPH && ingot_scope_in_function(scope);
    const ingot_attribute *known = reuse ? ingot_map_get(&importer->cache, (const char *)proto, sizeof *proto) : NULL;
    if (known != NULL) {
        *a = *known;
        return INGOT_OK;
    }
    INGOT_TRY(read_content(importer, scope, proto, a));
    if (!reuse)
        return INGOT_OK;
    ingot_attribute *copy = ingot_arena_copy(importer->scratch, a, sizeof *a);
    if (copy == NULL)
        return ingot_fail_memory(importer->error, sizeof *a, "attributes");
    return ingot_map_put(&importer->cache, (const char *)proto, sizeof *proto, copy, NULL, importer->error);
}

ingot_status ingot_import_attribute(ingot_importer *importer, const ingot_scope *scope, ingot_span name,
                                    const ingot_attribute_proto *proto, ingot_attribute *attribute)
{
    if (name.size == 0)
        return ingot_fail(importer->error, INGOT_INVALID_MODEL, "an attribute has no name");
    if (proto->type < INGOT_ATTRIBUTE_UNDEFINED || proto->type > INGOT_ATTRIBUTE_TYPE_PROTOS)
        return ingot_fail(importer->error, INGOT_INVALID_MODEL,
                          "attribute '%.*s' is of type %lld, which does not exist", INGOT_SPAN_ARG(name),
                          (long long)proto->type);
    *attribute = (ingot_attribute){.type = (ingot_attribute_type)proto->type};
    if (read_cached(importer, scope, proto, attribute) != INGOT_OK)
        return ingot_fail_at(importer->error, "attribute '%.*s'", INGOT_SPAN_ARG(name));
    return ingot_import_text(importer, name, &attribute->name);
}

ingot_status ingot_import_reference(ingot_importer *importer, const ingot_scope *scope,
                                    const ingot_attribute_proto **proto)
{
    ingot_span name = (*proto)->ref_attr_name;
    int64_t type = (*proto)->type;
    if (name.size == 0)
        return INGOT_OK;
    if (!ingot_scope_in_function(scope))
        return ingot_fail(importer->error, INGOT_INVALID_MODEL,
                          "attribute '%.*s' refers to an attribute '%.*s' of a function, but stands in none",
                          INGOT_SPAN_ARG((*proto)->name), INGOT_SPAN_ARG(name));
    *proto = NULL;
    for (size_t i = 0; i < scope->binding_count && *proto == NULL; i++)
        if (ingot_span_equal(scope->bindings[i].name, name))
            *proto = scope->bindings[i].attribute;
    if (*proto != NULL && (*proto)->type != type && type != INGOT_ATTRIBUTE_UNDEFINED)
        return ingot_fail(importer->error, INGOT_INVALID_MODEL,
                          "attribute '%.*s' of the function is of type %s where %s is expected", INGOT_SPAN_ARG(name),
                          ingot_attribute_type_name((ingot_attribute_type)(*proto)->type),
                          ingot_attribute_type_name((ingot_attribute_type)type));
    return INGOT_OK;
}

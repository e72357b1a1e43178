#include "passes/twins.h"

#include <string.h>

#include "base/map.h"

/* ---- Content ---- */

#define HASHED_BYTES 256 /* at each end of a large tensor: reading all would page a whole model in */

bool ingot_same_content(const ingot_value *a, const ingot_value *b)
{
    if (a == b)
        return true;
    if (a->kind != INGOT_KIND_TENSOR || b->kind != INGOT_KIND_TENSOR || a->element != b->element ||
        a->rank != b->rank || memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims) != 0)
        return false;
    if (a->element != INGOT_STRING)
        return ingot_value_bytes(a) == 0 || a->data == b->data || memcmp(a->data, b->data, ingot_value_bytes(a)) == 0;
    for (size_t i = 0; i < ingot_value_count(a); i++) {
        size_t a_length, b_length;
        const char *x = ingot_value_string(a, i, &a_length), *y = ingot_value_string(b, i, &b_length);
        if (a_length != b_length || (a_length > 0 && memcmp(x, y, a_length) != 0))
            return false;
    }
    return true;
}

static uint64_t hash_strings(const ingot_value *value, uint64_t hash)
{
    for (size_t i = 0; i < ingot_value_count(value) && i < HASHED_BYTES; i++) {
        size_t length;
        const char *text = ingot_value_string(value, i, &length);
        hash = ingot_hash_bytes(&length, sizeof length, hash);
        hash = ingot_hash_bytes(text, length, hash);
    }
    return hash;
}

uint64_t ingot_hash_content(const ingot_value *value)
{
    if (value->kind != INGOT_KIND_TENSOR)
        return ingot_hash_bytes(&value, sizeof(const ingot_value *), 0);
    uint64_t hash = ingot_hash_bytes(value->dims, (size_t)value->rank * sizeof *value->dims, (uint64_t)value->element);
    if (value->element == INGOT_STRING)
        return hash_strings(value, hash);
    const char *data = value->data;
    size_t bytes = ingot_value_bytes(value), head = bytes < HASHED_BYTES ? bytes : HASHED_BYTES;
    if (bytes == 0)
        return hash;
    hash = ingot_hash_bytes(data, head, hash);
    return ingot_hash_bytes(data + bytes - head, head, hash);
}

/* ---- Attributes ---- */

static bool same_text(ingot_text a, ingot_text b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static bool same_bytes(const void *a, const void *b, size_t size)
{
    return size == 0 || memcmp(a, b, size) == 0;
}

static bool same_attribute(const ingot_attribute *a, const ingot_attribute *b)
{
    if (a->type != b->type || a->count != b->count || strcmp(a->name, b->name) != 0)
        return false;
    switch (a->type) {
    case INGOT_ATTRIBUTE_INT:
        return a->i == b->i;
    case INGOT_ATTRIBUTE_FLOAT:
        return memcmp(&a->f, &b->f, sizeof a->f) == 0;
    case INGOT_ATTRIBUTE_STRING:
        return same_text(a->s, b->s);
    case INGOT_ATTRIBUTE_INTS:
        return same_bytes(a->ints, b->ints, a->count * sizeof *a->ints);
    case INGOT_ATTRIBUTE_FLOATS:
        return same_bytes(a->floats, b->floats, a->count * sizeof *a->floats);
    case INGOT_ATTRIBUTE_STRINGS:
        for (size_t i = 0; i < a->count; i++)
            if (!same_text(a->strings[i], b->strings[i]))
                return false;
        return true;
    case INGOT_ATTRIBUTE_TENSOR:
        return ingot_same_content(a->tensor, b->tensor);
    case INGOT_ATTRIBUTE_TENSORS:
        for (size_t i = 0; i < a->count; i++)
            if (!ingot_same_content(a->tensors[i], b->tensors[i]))
                return false;
        return true;
    case INGOT_ATTRIBUTE_TYPE_PROTO:
        return a->type_proto == b->type_proto;
    default: /* graphs, and types that no operator has */
        return false;
    }
}

/* Of the attribute's own bytes only: lists and tensors are told apart by their comparison. */
static uint64_t hash_attribute(const ingot_attribute *a, uint64_t hash)
{
    hash = ingot_hash_bytes(a->name, strlen(a->name), hash + a->count);
    switch (a->type) {
    case INGOT_ATTRIBUTE_INT:
        return ingot_hash_bytes(&a->i, sizeof a->i, hash);
    case INGOT_ATTRIBUTE_FLOAT:
        return ingot_hash_bytes(&a->f, sizeof a->f, hash);
    case INGOT_ATTRIBUTE_STRING:
        return ingot_hash_bytes(a->s.data, a->s.size, hash);
    case INGOT_ATTRIBUTE_INTS:
        return ingot_hash_bytes(a->ints, a->count * sizeof *a->ints, hash);
    case INGOT_ATTRIBUTE_FLOATS:
        return ingot_hash_bytes(a->floats, a->count * sizeof *a->floats, hash);
    default:
        return hash;
    }
}

/* ---- Nodes ---- */

bool ingot_same_node(const ingot_node *a, const ingot_node *b)
{
    if (a->op != b->op || a->opset != b->opset || a->input_count != b->input_count ||
        a->output_count != b->output_count || a->attribute_count != b->attribute_count ||
        strcmp(a->op_type, b->op_type) != 0 || strcmp(a->domain, b->domain) != 0)
        return false;
    for (size_t i = 0; i < a->input_count; i++)
        if (a->inputs[i] != b->inputs[i])
            return false;
    for (size_t i = 0; i < a->output_count; i++)
        if (b->outputs[i] && !a->outputs[i])
            return false;
    for (size_t i = 0; i < a->attribute_count; i++) {
        const ingot_attribute *other = ingot_node_attribute(b, a->attributes[i].name);
        if (!other || !same_attribute(&a->attributes[i], other))
            return false;
    }
    return true;
}

uint64_t ingot_hash_node(const ingot_node *node)
{
    uint64_t hash = ingot_hash_bytes(node->op_type, strlen(node->op_type), (uint64_t)node->opset), attributes = 0;
    for (size_t i = 0; i < node->input_count; i++)
        hash = ingot_hash_bytes(&node->inputs[i], sizeof *node->inputs, hash);
    for (size_t i = 0; i < node->attribute_count; i++) /* a sum: their order does not matter */
        attributes += hash_attribute(&node->attributes[i], 1);
    return ingot_hash_bytes(&attributes, sizeof attributes, hash);
}

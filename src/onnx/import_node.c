#include <stdio.h>
#include <string.h>

#include "onnx/importer.h"
#include "ops/constant.h"

/* Operators and domains have short names; longer ones would only fill memory where functions repeat them. */
#define MAX_OPERATOR_NAME 256

/* What the graph takes of the memory limit for a node and for each thing at it, about. */
#define NODE_BYTES 512
#define PART_BYTES 256

/* A node while it is put together. Arrays are in the scratch arena. */
typedef struct builder {
    ingot_importer *importer;
    ingot_scope *scope;
    const ingot_node_proto *proto;
    ingot_node_spec spec;
    ingot_graph_value **inputs; /* operands, then captures */
    size_t input_count, input_capacity;
    ingot_graph_value **outputs;
    ingot_attribute *attributes;
    ingot_body *bodies;
} builder;

ingot_status ingot_import_fail_at_node(ingot_importer *importer, const ingot_scope *scope, const ingot_node_proto *node)
{
    ingot_error *error = importer->error;
    const ingot_span *outputs = node->outputs.items;
    if (strncmp(error->message, "node ", 5) == 0) /* an inner node is the better place */
        return error->status;
    if (node->name.size > 0)
        return ingot_fail_at(error, "node '%s%.*s' (%.*s)", scope->prefix, INGOT_SPAN_ARG(node->name),
                             INGOT_SPAN_ARG(node->op_type));
    return ingot_fail_at(error, "node %.*s -> '%.*s'", INGOT_SPAN_ARG(node->op_type),
                         INGOT_SPAN_ARG(node->outputs.count > 0 ? outputs[0] : node->name));
}

static void *allocate(builder *b, size_t count, size_t size)
{
    void *memory = ingot_arena_alloc_array(b->importer->scratch, count + 1, size);
    if (memory == NULL)
        ingot_fail_memory(b->importer->error, count, "a node");
    return memory;
}

static ingot_status scratch_text(builder *b, ingot_span text, const char **copy)
{
    *copy = ingot_arena_strndup(b->importer->scratch, text.data != NULL ? text.data : "", text.size);
    return *copy != NULL ? INGOT_OK : ingot_fail_memory(b->importer->error, text.size, "a name");
}

/* ---- Parts ---- */

static ingot_status add_operands(builder *b)
{
    const ingot_span *names = b->proto->inputs.items;
    for (size_t i = 0; i < b->proto->inputs.count; i++) {
        ingot_graph_value *value = NULL;
        if (names[i].size > 0) {
            INGOT_TRY(ingot_scope_resolve(b->importer, b->scope, names[i], &value));
            if (value == NULL)
                return ingot_fail(
                    b->importer->error, INGOT_INVALID_MODEL,
                    "input %zu, '%.*s', is defined by nothing: no node, input or initializer has that name", i,
                    INGOT_SPAN_ARG(names[i]));
        }
        b->inputs[b->input_count++] = value != &ingot_absent_value ? value : NULL;
    }
    b->spec.operand_count = b->input_count;
    return INGOT_OK;
}

/* The graph of an attribute; what it captures becomes inputs behind all others. */
static ingot_status add_body(builder *b, ingot_attribute *attribute, const ingot_graph_proto *graph)
{
    ingot_importer *importer = b->importer;
    ingot_graph_value **captures;
    ingot_body *body = &b->bodies[b->spec.body_count];
    *body = (ingot_body){.attribute = attribute->name, .capture_first = b->input_count};
    INGOT_TRY(ingot_import_body(importer, b->scope, graph, body, &captures));
    attribute->body = b->spec.body_count++;
    size_t count = b->input_count + body->capture_count;
    if (count > b->input_capacity) {
        ingot_graph_value **inputs = allocate(b, count, sizeof *inputs);
        if (inputs == NULL)
            return INGOT_OUT_OF_MEMORY;
        memcpy(inputs, b->inputs, b->input_count * sizeof *inputs);
        b->inputs = inputs;
        b->input_capacity = count;
    }
    if (body->capture_count > 0)
        memcpy(b->inputs + b->input_count, captures, body->capture_count * sizeof *captures);
    b->input_count = count;
    return INGOT_OK;
}

static ingot_status add_attributes(builder *b)
{
    const ingot_attribute_proto *protos = b->proto->attributes.items;
    for (size_t i = 0; i < b->proto->attributes.count; i++) {
        const ingot_attribute_proto *proto = &protos[i];
        INGOT_TRY(ingot_import_reference(b->importer, b->scope, &proto));
        if (proto == NULL)
            continue;
        ingot_attribute *attribute = &b->attributes[b->spec.attribute_count++];
        INGOT_TRY(ingot_import_attribute(b->importer, b->scope, protos[i].name, proto, attribute));
        if (attribute->type == INGOT_ATTRIBUTE_GRAPH)
            INGOT_TRY(add_body(b, attribute, proto->g));
    }
    return INGOT_OK;
}

static ingot_status add_outputs(builder *b)
{
    const ingot_span *names = b->proto->outputs.items;
    for (size_t i = 0; i < b->proto->outputs.count; i++) {
        if (names[i].size == 0)
            continue;
        INGOT_TRY(ingot_scope_new_value(b->importer, b->scope, names[i], &b->outputs[i]));
        INGOT_TRY(ingot_scope_define(b->importer, b->scope, names[i], b->outputs[i], "an output"));
    }
    return INGOT_OK;
}

static ingot_status find_operator(builder *b)
{
    ingot_importer *importer = b->importer;
    ingot_span domain = ingot_import_domain(b->proto->domain);
    if (b->proto->op_type.size > MAX_OPERATOR_NAME || domain.size > MAX_OPERATOR_NAME)
        return ingot_fail(importer->error, INGOT_INVALID_MODEL,
                          "the name of its operator has %zu bytes, which no operator has",
                          b->proto->op_type.size + domain.size);
    int64_t opset = ingot_import_opset(b->scope, domain);
    if (opset == 0)
        return ingot_fail(importer->error, INGOT_INVALID_MODEL,
                          "operator %.*s is of the domain '%.*s', which the %s does not import (opset_import)",
                          INGOT_SPAN_ARG(b->proto->op_type), INGOT_SPAN_ARG(domain),
                          ingot_scope_in_function(b->scope) ? "function" : "model");
    b->spec.opset = (int)opset;
    INGOT_TRY(scratch_text(b, b->proto->op_type, &b->spec.op_type));
    INGOT_TRY(scratch_text(b, domain, &b->spec.domain));
    /* Looked at again when all nodes are there; here it stops a bad file early. */
    return ingot_op_require(b->spec.domain, b->spec.op_type, opset, importer->error);
}

static ingot_status make_name(builder *b, char *text, size_t size)
{
    if (b->scope->prefix[0] == '\0')
        return scratch_text(b, b->proto->name, &b->spec.name);
    ingot_span name = b->proto->name.size > 0 ? b->proto->name : b->proto->op_type;
    snprintf(text, size, "%s%.*s", b->scope->prefix, INGOT_SPAN_ARG(name));
    b->spec.name = text;
    return INGOT_OK;
}

/* ---- Constants ---- */

/* Makes the output of a Constant node a constant and takes the node away. */
static ingot_status fold_constant(builder *b, ingot_node *node)
{
    ingot_importer *importer = b->importer;
    ingot_graph_value *output = node->outputs[0];
    const ingot_value *content;
    INGOT_TRY(ingot_op_resolve(node, importer->error));
    const ingot_attribute *only = node->attribute_count == 1 ? &node->attributes[0] : NULL;
    if (only != NULL && (only->type == INGOT_ATTRIBUTE_TENSOR || only->type == INGOT_ATTRIBUTE_SPARSE_TENSOR)) {
        content = only->tensor; /* used where it is, without a copy */
    } else {
        ingot_value *made;
        INGOT_TRY(ingot_op_constant_content(node, &made, importer->error));
        INGOT_TRY(ingot_module_own(importer->module, made, importer->error));
        content = made;
    }
    ingot_graph_remove_node(node);
    if (output != NULL) {
        output->constant = content;
        output->type = ingot_type_of_value(content);
    }
    return INGOT_OK;
}

static bool is_constant(const builder *b)
{
    return strcmp(b->spec.op_type, "Constant") == 0 && strcmp(b->spec.domain, "ai.onnx") == 0 &&
           b->spec.output_count == 1;
}

/* ---- Nodes ---- */

/* Counts the node against the memory limit, and against what calls of functions may expand to. */
static ingot_status pay(ingot_importer *importer, const ingot_scope *scope, const ingot_node_proto *node)
{
    size_t parts = node->inputs.count + node->outputs.count + node->attributes.count;
    INGOT_TRY(
        ingot_budget_take(importer->source.budget, NODE_BYTES + parts * PART_BYTES, "the graph", importer->error));
    if (!ingot_scope_in_function(scope))
        return INGOT_OK;
    if (parts >= importer->cost_left)
        return ingot_fail(importer->error, INGOT_INVALID_MODEL,
                          "the calls of functions expand to far more nodes than the file holds");
    importer->cost_left -= parts + 1;
    return INGOT_OK;
}

static ingot_status build(builder *b)
{
    ingot_importer *importer = b->importer;
    char name[512];
    INGOT_TRY(find_operator(b));
    INGOT_TRY(make_name(b, name, sizeof name));
    INGOT_TRY(add_operands(b));
    INGOT_TRY(add_attributes(b));
    INGOT_TRY(add_outputs(b));
    b->spec.inputs = b->inputs;
    b->spec.input_count = b->input_count;
    b->spec.outputs = b->outputs;
    b->spec.output_count = b->proto->outputs.count;
    b->spec.attributes = b->attributes;
    b->spec.bodies = b->bodies;
    ingot_node *node;
    INGOT_TRY(ingot_graph_add_node(b->scope->graph, &b->spec, NULL, &node, importer->error));
    return is_constant(b) ? fold_constant(b, node) : INGOT_OK;
}

static ingot_status import_operator(ingot_importer *importer, ingot_scope *scope, const ingot_node_proto *proto)
{
    builder b = {.importer = importer, .scope = scope, .proto = proto, .input_capacity = proto->inputs.count};
    b.inputs = allocate(&b, proto->inputs.count, sizeof *b.inputs);
    b.outputs = allocate(&b, proto->outputs.count, sizeof *b.outputs);
    b.attributes = allocate(&b, proto->attributes.count, sizeof *b.attributes);
    b.bodies = allocate(&b, proto->attributes.count, sizeof *b.bodies);
    if (b.inputs == NULL || b.outputs == NULL || b.attributes == NULL || b.bodies == NULL)
        return INGOT_OUT_OF_MEMORY;
    return build(&b);
}

static ingot_status import_node(ingot_importer *importer, ingot_scope *scope, const ingot_node_proto *proto)
{
    const ingot_function_proto *function;
    INGOT_TRY(pay(importer, scope, proto));
    if (proto->op_type.size == 0)
        return ingot_fail(importer->error, INGOT_INVALID_MODEL, "it names no operator (op_type)");
    INGOT_TRY(ingot_import_find_function(importer, proto, &function));
    return function != NULL ? ingot_import_call(importer, scope, proto, function)
                            : import_operator(importer, scope, proto);
}

static ingot_status import_in_order(ingot_importer *importer, ingot_scope *scope, const ingot_proto_list *nodes,
                                    size_t *order)
{
    const ingot_node_proto *protos = nodes->items;
    INGOT_TRY(ingot_import_order(importer, scope, nodes, order));
    for (size_t i = 0; i < nodes->count; i++)
        if (import_node(importer, scope, &protos[order[i]]) != INGOT_OK)
            return ingot_import_fail_at_node(importer, scope, &protos[order[i]]);
    return INGOT_OK;
}

ingot_status ingot_import_nodes(ingot_importer *importer, ingot_scope *scope, const ingot_proto_list *nodes)
{
    size_t *order = ingot_calloc(nodes->count, sizeof *order);
    if (order == NULL)
        return ingot_fail_memory(importer->error, nodes->count, "the order of nodes");
    ingot_status status = import_in_order(importer, scope, nodes, order);
    ingot_free(order);
    return status;
}

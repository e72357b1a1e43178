/* What the parts of import share. Private to src/onnx. */
#ifndef INGOT_ONNX_IMPORTER_H
#define INGOT_ONNX_IMPORTER_H

#include "onnx/import.h"
#include "onnx/proto.h"
#include "onnx/tensor.h"

/* A value given to an attribute of a function call. */
typedef struct ingot_binding {
    ingot_span name;
    const ingot_attribute_proto *attribute;
} ingot_binding;

/* Where names mean something: the main graph, a body, or one call of a function. Lives on the C stack while its nodes are
 * imported; ingot_scope_clear frees what it holds. */
typedef struct ingot_scope ingot_scope;
struct ingot_scope {
    ingot_scope *enclosing; /* the scope of the node that holds the body or calls the function; NULL: the main graph */
    const ingot_function_proto *function; /* of a call; its body sees nothing of the enclosing scope */
    ingot_graph *graph;                   /* that nodes go to: of a call, the caller's */
    ingot_map names;                      /* ingot_graph_value */
    const ingot_proto_list *opsets;       /* imports of the model or function */
    const ingot_binding *bindings;        /* attributes that nodes may refer to; none outside functions */
    size_t binding_count;
    const ingot_proto_list *call_outputs; /* of a call: the caller's names for function->outputs */
    const char *prefix;                   /* of node and value names: "call/", or "" */
    ingot_graph_value **captures;         /* of a body: values of the enclosing graph that feed its last inputs */
    size_t capture_count, capture_capacity;
};

typedef struct ingot_importer {
    ingot_model *model;
    ingot_module *module;
    const ingot_model_proto *proto;
    ingot_tensor_source source;
    ingot_arena *scratch; /* goes when import ends */
    ingot_map functions;  /* ingot_function_proto by its key, see ingot_import_functions */
    ingot_map cache;      /* what bodies of functions read once, however often they are called */
    size_t cost_left;     /* of nodes that calls of functions may still expand to */
    int depth;            /* of bodies and calls */
    ingot_error *error;   /* never NULL */
} ingot_importer;

/* ---- Scopes (import_scope.c) ---- */

/* What a function's input means that the call leaves out. */
extern ingot_graph_value ingot_absent_value;

void ingot_scope_clear(ingot_scope *scope);
/* Names value; the name must be new here: what says what it is, for the message. */
ingot_status ingot_scope_define(ingot_importer *importer, ingot_scope *scope, ingot_span name, ingot_graph_value *value,
                                const char *what);
/* The value of that name as scope's graph sees it: one of an enclosing graph becomes an input of this one, a constant is
 * shared. *value is NULL where nothing defines the name. */
ingot_status ingot_scope_resolve(ingot_importer *importer, ingot_scope *scope, ingot_span name,
                                 ingot_graph_value **value);
/* A new value of scope's graph with that name, behind the prefix, or the caller's name where it is an output of a call. */
ingot_status ingot_scope_new_value(ingot_importer *importer, const ingot_scope *scope, ingot_span name,
                                   ingot_graph_value **value);
bool ingot_scope_in_function(const ingot_scope *scope);

/* ---- Types, attributes, tensors ---- */

/* NULL type: kind NONE. Negative sizes are free ones; names of sizes become symbols. */
ingot_status ingot_import_type(ingot_importer *importer, const ingot_type_proto *proto, ingot_type *type);
/* A constant with the tensor's content, owned by the module. Just one of tensor and sparse is given. */
ingot_status ingot_import_tensor(ingot_importer *importer, const ingot_scope *scope, const ingot_tensor_proto *tensor,
                                 const ingot_sparse_proto *sparse, const ingot_value **content);
/* What an attribute of a node says after references are replaced; *proto becomes NULL where it refers to an attribute of the
 * function that the call leaves out. */
ingot_status ingot_import_reference(ingot_importer *importer, const ingot_scope *scope,
                                    const ingot_attribute_proto **proto);
/* Fills attribute, whose name is given. Graphs are the caller's to import. */
ingot_status ingot_import_attribute(ingot_importer *importer, const ingot_scope *scope, ingot_span name,
                                    const ingot_attribute_proto *proto, ingot_attribute *attribute);
/* A copy with a NUL behind it, in the module's arena. */
ingot_status ingot_import_text(ingot_importer *importer, ingot_span text, const char **copy);

/* ---- Nodes and graphs ---- */

/* The order to import nodes in, count indices into order: as they stand wherever that respects data flow. Refuses a name
 * defined twice, and cycles. */
ingot_status ingot_import_order(ingot_importer *importer, const ingot_scope *scope, const ingot_proto_list *nodes,
                                size_t *order);
/* Imports nodes into scope's graph. */
ingot_status ingot_import_nodes(ingot_importer *importer, ingot_scope *scope, const ingot_proto_list *nodes);
/* Imports the graph of an attribute; scope is where its node stands. *captures, in the scratch arena, get what feeds
 * body->capture_count inputs. */
ingot_status ingot_import_body(ingot_importer *importer, ingot_scope *scope, const ingot_graph_proto *proto,
                               ingot_body *body, ingot_graph_value ***captures);
ingot_status ingot_import_main(ingot_importer *importer);

/* ---- Functions (import_function.c) ---- */

/* Fills importer->functions and checks that no two have one key. */
ingot_status ingot_import_functions(ingot_importer *importer);
/* The function that a node calls; *function is NULL where it names an operator. */
ingot_status ingot_import_find_function(ingot_importer *importer, const ingot_node_proto *node,
                                        const ingot_function_proto **function);
/* Puts the nodes of a function in the place of a node that calls it. */
ingot_status ingot_import_call(ingot_importer *importer, ingot_scope *scope, const ingot_node_proto *node,
                               const ingot_function_proto *function);

/* ---- The model (import_model.c, model_info.c) ---- */

/* What the standard asks of the model's head: IR version, opset imports. */
ingot_status ingot_import_check_head(ingot_importer *importer);
/* Version of a domain that scope imports; 0: none. */
int64_t ingot_import_opset(const ingot_scope *scope, ingot_span domain);
/* "" and "ai.onnx" are one domain: gives "ai.onnx" for both. */
ingot_span ingot_import_domain(ingot_span domain);
/* Puts the node in front of the error's message, unless a node stands there. */
ingot_status ingot_import_fail_at_node(ingot_importer *importer, const ingot_scope *scope,
                                       const ingot_node_proto *node);

/* Runs all steps; model has its files, budget and path. */
ingot_status ingot_import_model(ingot_model *model, ingot_span content, ingot_error *error);
/* Strings, opsets, operators, inputs and outputs of the model for people. */
ingot_status ingot_import_info(ingot_importer *importer);

#endif

/* Operators of a file that Ingot does not run: all of them, with a custom operator to fill in for each. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "ops/op.h"
#include "tools/doctor.h"

static const ingot_doctor_rule unsupported = {"unsupported-operator", INGOT_FAULT,
                                              "write it as a custom operator (--stub FILE writes a beginning, "
                                              "docs/custom-operators.md), or export the model with standard "
                                              "operators in its place"};

/* Most operators, and operands and attributes of one, that are named. */
#define MAX_KINDS 64
#define MAX_NAMES 16
#define NAME_SIZE 128

typedef struct missing {
    char domain[NAME_SIZE], name[NAME_SIZE];
    int64_t opset;
    const ingot_node_proto *example;
    ingot_doctor_tally tally;
} missing;

typedef struct search {
    const ingot_model_proto *proto;
    missing found[MAX_KINDS];
    size_t count;
} search;

static int64_t opset_of(const ingot_proto_list *list, const char *domain)
{
    const ingot_opset_proto *opsets = list->items;
    for (size_t i = 0; i < list->count; i++)
        if (ingot_span_is(opsets[i].domain, domain) || (opsets[i].domain.size == 0 && strcmp(domain, "ai.onnx") == 0))
            return opsets[i].version;
    return 0;
}

static bool is_function(const ingot_model_proto *proto, const ingot_node_proto *node)
{
    const ingot_function_proto *functions = proto->functions.items;
    for (size_t i = 0; i < proto->functions.count; i++)
        if (ingot_span_equal(functions[i].name, node->op_type) && ingot_span_equal(functions[i].domain, node->domain))
            return true;
    return false;
}

static void count_missing(search *s, const char *domain, const char *name, int64_t opset, const ingot_node_proto *node)
{
    char where[NAME_SIZE];
    size_t i = 0;
    while (i < s->count && (strcmp(s->found[i].domain, domain) != 0 || strcmp(s->found[i].name, name) != 0))
        i++;
    if (i == MAX_KINDS)
        return;
    if (i == s->count) {
        missing *m = &s->found[s->count++];
        *m = (missing){.opset = opset, .example = node};
        snprintf(m->domain, sizeof m->domain, "%s", domain);
        snprintf(m->name, sizeof m->name, "%s", name);
    }
    if (node->name.size > 0)
        snprintf(where, sizeof where, "node '%.*s'", INGOT_SPAN_ARG(node->name));
    else
        snprintf(where, sizeof where, "node %.*s without a name", INGOT_SPAN_ARG(node->op_type));
    ingot_doctor_count(&s->found[i].tally, where);
}

static void look_at_nodes(search *s, const ingot_proto_list *nodes, const ingot_proto_list *opsets);

static void look_at_node(search *s, const ingot_node_proto *node, const ingot_proto_list *opsets)
{
    char domain[NAME_SIZE], name[NAME_SIZE];
    const ingot_attribute_proto *attributes = node->attributes.items;
    snprintf(domain, sizeof domain, "%.*s", INGOT_SPAN_ARG(node->domain));
    snprintf(name, sizeof name, "%.*s", INGOT_SPAN_ARG(node->op_type));
    const char *standard = domain[0] ? domain : "ai.onnx";
    int64_t opset = opset_of(opsets, standard);
    if (!is_function(s->proto, node) && !ingot_op_runs(standard, name, opset))
        count_missing(s, standard, name, opset, node);
    for (size_t i = 0; i < node->attributes.count; i++) {
        const ingot_graph_proto *graphs = attributes[i].graphs.items;
        if (attributes[i].g)
            look_at_nodes(s, &attributes[i].g->nodes, opsets);
        for (size_t k = 0; k < attributes[i].graphs.count; k++)
            look_at_nodes(s, &graphs[k].nodes, opsets);
    }
}

/* Recursion is bounded by the reader: INGOT_PROTO_MAX_GRAPHS. */
static void look_at_nodes(search *s, const ingot_proto_list *nodes, const ingot_proto_list *opsets)
{
    const ingot_node_proto *list = nodes->items;
    for (size_t i = 0; i < nodes->count; i++)
        look_at_node(s, &list[i], opsets);
}

/* ---- The stub ---- */

/* A C identifier made of a name. */
static const char *identifier(const char *name, char *text, size_t size)
{
    size_t i = 0;
    for (; name[i] && i + 2 < size; i++)
        text[i] = isalnum((unsigned char)name[i]) ? (char)tolower((unsigned char)name[i]) : '_';
    text[i] = '\0';
    return text;
}

/* What the names of an operator's parts begin with: its own name, and its number as two domains may have one name. */
static const char *prefix_of(const search *s, size_t op, char *text, size_t size)
{
    char name[NAME_SIZE];
    snprintf(text, size, "op%zu_%.100s", op + 1, identifier(s->found[op].name, name, sizeof name));
    return text;
}

/* Text for a C string or comment: anything that could end one becomes '_'. */
static const char *harmless(ingot_span from, char *text, size_t size)
{
    size_t i = 0;
    for (; i < from.size && i + 1 < size; i++) {
        unsigned char c = ((const unsigned char *)from.data)[i];
        text[i] = isalnum(c) || (c && strchr("_-.:", c)) ? (char)c : '_';
    }
    text[i] = '\0';
    return text;
}

static const struct {
    const char *kind, *type;
} attribute_forms[] = {
    [INGOT_ATTRIBUTE_FLOAT] = {"INGOT_PARAM_FLOAT", "float"},
    [INGOT_ATTRIBUTE_INT] = {"INGOT_PARAM_INT", "int64_t"},
    [INGOT_ATTRIBUTE_STRING] = {"INGOT_PARAM_TEXT", "ingot_text"},
    [INGOT_ATTRIBUTE_TENSOR] = {"INGOT_PARAM_TENSOR", "const ingot_value *"},
    [INGOT_ATTRIBUTE_FLOATS] = {"INGOT_PARAM_FLOATS", "ingot_floats"},
    [INGOT_ATTRIBUTE_INTS] = {"INGOT_PARAM_INTS", "ingot_ints"},
    [INGOT_ATTRIBUTE_STRINGS] = {"INGOT_PARAM_TEXTS", "ingot_texts"},
};

static bool has_form(const ingot_attribute_proto *a)
{
    return a->type > 0 && (size_t)a->type < sizeof attribute_forms / sizeof *attribute_forms &&
           attribute_forms[a->type].kind;
}

/* The field of params for an attribute, without what sets it apart from words of C. */
static const char *field_of(const ingot_attribute_proto *attribute, char *text, size_t size)
{
    char name[NAME_SIZE];
    return identifier(harmless(attribute->name, name, sizeof name), text, size);
}

static ingot_status write_attributes(ingot_diagnosis *d, const missing *m, const char *id, ingot_error *error)
{
    const ingot_attribute_proto *attributes = m->example->attributes.items;
    char name[NAME_SIZE], field[NAME_SIZE];
    INGOT_TRY(ingot_doctor_write_stub(d, error, "typedef struct %s_params {\n    char unused;\n", id));
    for (size_t i = 0; i < m->example->attributes.count && i < MAX_NAMES; i++)
        if (has_form(&attributes[i]))
            INGOT_TRY(ingot_doctor_write_stub(d, error, "    %s a_%s;\n", attribute_forms[attributes[i].type].type,
                                              field_of(&attributes[i], field, sizeof field)));
    INGOT_TRY(ingot_doctor_write_stub(
        d, error, "} %s_params;\n\nstatic const ingot_custom_attribute %s_attributes[] = {\n", id, id));
    for (size_t i = 0; i < m->example->attributes.count && i < MAX_NAMES; i++)
        if (has_form(&attributes[i]))
            INGOT_TRY(ingot_doctor_write_stub(
                d, error, "    {.name = \"%s\", .kind = %s, .offset = offsetof(%s_params, a_%s)},\n",
                harmless(attributes[i].name, name, sizeof name), attribute_forms[attributes[i].type].kind, id,
                field_of(&attributes[i], field, sizeof field)));
    return ingot_doctor_write_stub(d, error, "    {0},\n};\n\n");
}

static ingot_status write_operands(ingot_diagnosis *d, const char *id, const char *what, const ingot_proto_list *names,
                                   ingot_error *error)
{
    char text[NAME_SIZE];
    const ingot_span *list = names->items;
    INGOT_TRY(ingot_doctor_write_stub(d, error, "static const ingot_custom_operand %s_%s[] = {\n", id, what));
    for (size_t i = 0; i < names->count && i < MAX_NAMES; i++)
        INGOT_TRY(ingot_doctor_write_stub(d, error, "    {.name = \"%c%zu\"%s}, /* '%s' in the model */\n", what[0], i,
                                          list[i].size == 0 ? ", .optional = true" : "",
                                          harmless(list[i], text, sizeof text)));
    return ingot_doctor_write_stub(d, error, "};\n\n");
}

static ingot_status write_op(ingot_diagnosis *d, const missing *m, const char *id, ingot_error *error)
{
    char domain[NAME_SIZE], name[NAME_SIZE];
    size_t attributes = 0;
    const ingot_attribute_proto *list = m->example->attributes.items;
    harmless((ingot_span){m->domain, strlen(m->domain)}, domain, sizeof domain);
    harmless((ingot_span){m->name, strlen(m->name)}, name, sizeof name);
    for (size_t i = 0; i < m->example->attributes.count && i < MAX_NAMES; i++)
        attributes += has_form(&list[i]);
    INGOT_TRY(ingot_doctor_write_stub(d, error, "/* ---- %s ---- */\n\n", id));
    INGOT_TRY(write_attributes(d, m, id, error));
    INGOT_TRY(write_operands(d, id, "inputs", &m->example->inputs, error));
    INGOT_TRY(write_operands(d, id, "outputs", &m->example->outputs, error));
    INGOT_TRY(ingot_doctor_write_stub(d, error,
                                      "static ingot_status %s_shape(ingot_custom_shape *shape)\n{\n"
                                      "    shape->outputs[0].element = INGOT_FLOAT;\n"
                                      "    return shape->fail(shape, \"its shape rule is not written yet\");\n}\n\n"
                                      "static ingot_status %s_kernel(ingot_custom_run *run)\n{\n"
                                      "    return run->fail(run, \"its kernel is not written yet\");\n}\n\n",
                                      id, id));
    return ingot_doctor_write_stub(
        d, error,
        "static const ingot_custom_op %s_op = {\n    .size = sizeof(ingot_custom_op),\n    .domain = \"%s\",\n"
        "    .name = \"%s\",\n    .since_version = %lld,\n    .inputs = %s_inputs,\n    .input_count = %zu,\n"
        "    .outputs = %s_outputs,\n    .output_count = %zu,\n    .params_size = sizeof(%s_params),\n"
        "    .attributes = %s_attributes,\n    .attribute_count = %zu,\n    .shape = %s_shape,\n    .kernel = "
        "%s_kernel,\n};\n\n",
        id, domain, name, (long long)(m->opset > 0 ? m->opset : 1), id, m->example->inputs.count, id,
        m->example->outputs.count, id, id, attributes, id, id);
}

static ingot_status write_stub(ingot_diagnosis *d, const search *s, ingot_error *error)
{
    char id[NAME_SIZE];
    INGOT_TRY(ingot_doctor_write_stub(
        d, error,
        "/* Custom operators to fill in: cc -O2 -shared -fPIC -I... FILE.c -lm -o FILE.so, then\n"
        " * --custom-ops FILE.so. See ingot/custom_op.h. */\n#include <stddef.h>\n\n"
        "#include \"ingot/custom_op.h\"\n\n"));
    for (size_t i = 0; i < s->count; i++)
        INGOT_TRY(write_op(d, &s->found[i], prefix_of(s, i, id, sizeof id), error));
    INGOT_TRY(ingot_doctor_write_stub(d, error,
                                      "INGOT_API const ingot_custom_op *const *ingot_custom_ops(int api);\n\n"
                                      "const ingot_custom_op *const *ingot_custom_ops(int api)\n{\n"
                                      "    static const ingot_custom_op *const ops[] = {"));
    for (size_t i = 0; i < s->count; i++)
        INGOT_TRY(ingot_doctor_write_stub(d, error, "&%s_op, ", prefix_of(s, i, id, sizeof id)));
    return ingot_doctor_write_stub(d, error, "NULL};\n    return api >= INGOT_CUSTOM_OP_API ? ops : NULL;\n}\n");
}

ingot_status ingot_doctor_check_operators(ingot_diagnosis *d, const ingot_model_proto *proto, ingot_error *error)
{
    const ingot_function_proto *functions = proto->functions.items;
    search *s = ingot_calloc(1, sizeof *s);
    ingot_status status = INGOT_OK;
    if (!s)
        return ingot_fail_memory(error, sizeof *s, "a diagnosis");
    s->proto = proto;
    look_at_nodes(s, &proto->graph->nodes, &proto->opsets);
    for (size_t i = 0; i < proto->functions.count; i++)
        look_at_nodes(s, &functions[i].nodes, &functions[i].opsets);
    for (size_t i = 0; i < s->count && status == INGOT_OK; i++)
        status = ingot_doctor_add(d, &unsupported, &s->found[i].tally, error,
                                  "operator '%s' of domain %s (opset %lld) is not one that Ingot runs",
                                  s->found[i].name, s->found[i].domain, (long long)s->found[i].opset);
    if (s->count > 0 && status == INGOT_OK)
        status = write_stub(d, s, error);
    ingot_free(s);
    return status;
}

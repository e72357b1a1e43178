#include "ops/control.h"

#include <string.h>

const ingot_body *ingot_node_body(const ingot_node *node, const char *attribute)
{
    for (size_t i = 0; i < node->body_count; i++)
        if (strcmp(node->bodies[i].attribute, attribute) == 0)
            return &node->bodies[i];
    return NULL;
}

size_t ingot_scan_state_count(const ingot_node *node, const ingot_control_params *params)
{
    return node->operand_count - (size_t)params->scan_input_count;
}

/* ---- Types across the border of a body ---- */

void ingot_control_set_input(const ingot_body *body, size_t input, const ingot_type *type)
{
    ingot_graph_value *v = body->graph->inputs[input];
    v->type = *type;
    v->known = NULL;
    v->known_count = 0;
}

void ingot_control_set_captures(const ingot_node *node, const ingot_body *body)
{
    for (size_t i = 0; i < body->capture_count; i++) {
        const ingot_graph_value *outer = node->inputs[body->capture_first + i];
        ingot_graph_value *inner = body->graph->inputs[body->formal_count + i];
        inner->type = outer->type;
        inner->known = outer->known;
        inner->known_count = outer->known_count;
    }
}

static ingot_status refuse_types(ingot_infer *c, const char *what, size_t index, const ingot_type *one,
                                 const ingot_type *other)
{
    char a[160], b[160];
    return ingot_infer_fail(c, "%s %zu has two types: %s and %s", what, index,
                            ingot_type_describe(c->dims, one, a, sizeof a),
                            ingot_type_describe(c->dims, other, b, sizeof b));
}

/* Whether an optional of that item may be the other type itself. */
static bool holds(const ingot_type *item, const ingot_type *other)
{
    bool same_element =
        item->element == other->element || item->element == INGOT_UNDEFINED || other->element == INGOT_UNDEFINED;
    return item->kind == other->kind && same_element;
}

/* Makes type hold for other too: sizes that differ become unknown, ranks that differ too. Sets *changed. An optional holds for
 * what may be in it. */
static ingot_status widen(ingot_infer *c, const char *what, size_t index, ingot_type *type, const ingot_type *other,
                          bool *changed)
{
    if (other->kind == INGOT_KIND_NONE || type->kind == INGOT_KIND_NONE) {
        *type = type->kind == INGOT_KIND_NONE ? *other : *type;
        return INGOT_OK;
    }
    if (type->kind == INGOT_KIND_OPTIONAL && other->kind != INGOT_KIND_OPTIONAL && type->item)
        return holds(type->item, other) ? INGOT_OK : refuse_types(c, what, index, type, other);
    if (type->kind != other->kind ||
        (type->element != other->element && type->element != INGOT_UNDEFINED && other->element != INGOT_UNDEFINED))
        return refuse_types(c, what, index, type, other);
    if (type->element == INGOT_UNDEFINED)
        type->element = other->element;
    if (!type->item)
        type->item = other->item;
    if (type->rank != other->rank) {
        *changed |= type->rank != -1;
        type->rank = -1;
        return INGOT_OK;
    }
    for (int i = 0; i < type->rank; i++) {
        if (type->dims[i] == other->dims[i] || type->dims[i] == INGOT_DIM_UNKNOWN)
            continue;
        type->dims[i] = INGOT_DIM_UNKNOWN;
        *changed = true;
    }
    return INGOT_OK;
}

static ingot_status require_body(ingot_infer *c, const char *attribute, size_t formal, size_t min_outputs,
                                 const ingot_body **body)
{
    *body = ingot_node_body(c->node, attribute);
    if (!*body)
        return ingot_infer_fail(c, "attribute '%s' holds no graph", attribute);
    if ((*body)->formal_count != formal)
        return ingot_infer_fail(c, "the graph '%s' has %zu inputs, but the operator feeds %zu", attribute,
                                (*body)->formal_count, formal);
    if ((*body)->graph->output_count < min_outputs)
        return ingot_infer_fail(c, "the graph '%s' has %zu outputs, but the operator needs %zu", attribute,
                                (*body)->graph->output_count, min_outputs);
    return INGOT_OK;
}

static ingot_status require_scalar(ingot_infer *c, size_t input, const char *name)
{
    const ingot_type *t = &c->inputs[input].type;
    if (!ingot_infer_has(c, input) || t->rank <= 0)
        return INGOT_OK;
    for (int i = 0; i < t->rank; i++)
        if (ingot_dim_is_number(t->dims[i]) && t->dims[i] != 1)
            return ingot_infer_fail(c, "input %zu '%s' must hold one element, but has a size %lld", input, name,
                                    (long long)t->dims[i]);
    return INGOT_OK;
}

/* ---- If ---- */

static ingot_status infer_if(ingot_infer *c)
{
    static const char *const branches[2] = {"then_branch", "else_branch"};
    INGOT_TRY(require_scalar(c, 0, "cond"));
    for (int b = 0; b < 2; b++) {
        const ingot_body *body;
        INGOT_TRY(require_body(c, branches[b], 0, c->output_count, &body));
        ingot_control_set_captures(c->node, body);
        INGOT_TRY(ingot_graph_infer(body->graph, c->error));
        for (size_t i = 0; i < c->output_count; i++) {
            const ingot_type *type = &body->graph->outputs[i]->type;
            bool changed = false;
            if (!ingot_infer_wants(c, i))
                continue;
            if (b == 0)
                c->outputs[i].type = *type;
            else
                INGOT_TRY(widen(c, "output", i, &c->outputs[i].type, type, &changed));
        }
    }
    return INGOT_OK;
}

/* ---- Loop and Scan: carried values ---- */

/* Bodies this deep are not inferred again to find sizes that stay: ranks and sizes of what they carry are given up at once. */
#define PRECISE_DEPTH 3

static int body_depth(const ingot_graph *graph)
{
    int depth = 0;
    for (const ingot_node *owner = graph->owner; owner; owner = owner->graph->owner)
        depth++;
    return depth;
}

static void fresh_sizes(ingot_dims *dims, ingot_type *type)
{
    for (int i = 0; i < type->rank; i++)
        if (type->dims[i] == INGOT_DIM_UNKNOWN)
            type->dims[i] = ingot_dim_fresh(dims);
}

typedef struct carried {
    const ingot_body *body;
    size_t first_operand, first_input, first_output; /* of the node, of the body's inputs and outputs */
    size_t count;
} carried;

/* Infers the body with the types carried so far; makes types hold for what one more trip gives. */
static ingot_status infer_trip(ingot_infer *c, const carried *k, ingot_type *types, bool *changed)
{
    for (size_t i = 0; i < k->count; i++) {
        ingot_type input = types[i];
        fresh_sizes(c->dims, &input);
        ingot_control_set_input(k->body, k->first_input + i, &input);
    }
    INGOT_TRY(ingot_graph_infer(k->body->graph, c->error));
    for (size_t i = 0; i < k->count; i++) {
        const ingot_graph_value *input = k->body->graph->inputs[k->first_input + i];
        ingot_type result = k->body->graph->outputs[k->first_output + i]->type;
        for (int d = 0; d < result.rank && result.rank == types[i].rank; d++)
            if (types[i].dims[d] == INGOT_DIM_UNKNOWN || result.dims[d] == input->type.dims[d])
                result.dims[d] = types[i].dims[d];
        INGOT_TRY(widen(c, "carried value", i, &types[i], &result, changed));
    }
    return INGOT_OK;
}

static ingot_status infer_carried(ingot_infer *c, const carried *k, ingot_type *types)
{
    bool precise = body_depth(k->body->graph) <= PRECISE_DEPTH, changed = false;
    for (size_t i = 0; i < k->count; i++) {
        types[i] = c->inputs[k->first_operand + i].type;
        if (!precise)
            types[i].rank = -1;
    }
    INGOT_TRY(infer_trip(c, k, types, &changed));
    if (changed) {
        changed = false;
        INGOT_TRY(infer_trip(c, k, types, &changed));
    }
    if (changed) {
        for (size_t i = 0; i < k->count; i++)
            types[i].rank = -1;
        INGOT_TRY(infer_trip(c, k, types, &changed));
    }
    for (size_t i = 0; i < k->count; i++) {
        const ingot_type *given = &k->body->graph->outputs[k->first_output + i]->type;
        bool unwrapped = types[i].kind == INGOT_KIND_OPTIONAL && given->kind != INGOT_KIND_OPTIONAL &&
                         given->kind != INGOT_KIND_NONE;
        if (ingot_infer_wants(c, i))
            c->outputs[i].type = unwrapped ? *types[i].item : types[i];
    }
    return INGOT_OK;
}

static ingot_status infer_all_carried(ingot_infer *c, const carried *k)
{
    ingot_type *types = ingot_calloc(k->count + 1, sizeof *types);
    if (!types)
        return ingot_fail_memory(c->error, k->count * sizeof *types, "shape inference");
    ingot_status status = infer_carried(c, k, types);
    ingot_free(types);
    return status;
}

/* A scan output: what one trip gives, stacked along axis. */
static ingot_status set_scan_output(ingot_infer *c, size_t output, const ingot_type *trip, int64_t axis,
                                    ingot_dim length)
{
    if (!ingot_infer_wants(c, output))
        return INGOT_OK;
    if (trip->kind != INGOT_KIND_TENSOR && trip->kind != INGOT_KIND_NONE)
        return ingot_infer_fail(c, "scan output %zu is no tensor", output);
    ingot_infer_set_unranked(c, output, trip->element);
    if (trip->rank < 0)
        return INGOT_OK;
    if (trip->rank + 1 > INGOT_MAX_RANK)
        return ingot_infer_fail(c, "output %zu would have more than %d dimensions", output, INGOT_MAX_RANK);
    int at;
    ingot_dim dims[INGOT_MAX_RANK];
    INGOT_TRY(ingot_infer_axis(c, "scan_output_axes", axis, trip->rank, 1, &at));
    for (int i = 0; i <= trip->rank; i++)
        dims[i] = i < at ? trip->dims[i] : i == at ? length : trip->dims[i - 1];
    ingot_infer_set(c, output, trip->element, trip->rank + 1, dims);
    return INGOT_OK;
}

static ingot_status infer_loop(ingot_infer *c)
{
    const ingot_node *node = c->node;
    size_t count = node->operand_count > 2 ? node->operand_count - 2 : 0;
    const ingot_body *body;
    INGOT_TRY(require_scalar(c, 0, "M"));
    INGOT_TRY(require_scalar(c, 1, "cond"));
    INGOT_TRY(require_body(c, "body", count + 2, count + 1, &body));
    if (body->graph->output_count < c->output_count + 1)
        return ingot_infer_fail(c, "the graph 'body' has %zu outputs, but the node has %zu and the condition",
                                body->graph->output_count, c->output_count);
    ingot_type trip = ingot_type_shaped(INGOT_INT64, 0, NULL), condition = ingot_type_shaped(INGOT_BOOL, 0, NULL);
    ingot_control_set_captures(node, body);
    ingot_control_set_input(body, 0, &trip);
    ingot_control_set_input(body, 1, &condition);
    carried k = {body, 2, 2, 1, count};
    INGOT_TRY(infer_all_carried(c, &k));
    for (size_t i = count; i < c->output_count; i++)
        INGOT_TRY(set_scan_output(c, i, &body->graph->outputs[i + 1]->type, 0, INGOT_DIM_UNKNOWN));
    return INGOT_OK;
}

/* Types of the slices that the body sees; *length gets the number of trips as far as the inputs tell. */
static ingot_status set_scan_inputs(ingot_infer *c, const ingot_body *body, size_t states, ingot_dim *length)
{
    const ingot_control_params *p = c->params;
    for (size_t i = 0; i < (size_t)p->scan_input_count; i++) {
        ingot_type type = c->inputs[states + i].type;
        if (type.rank >= 0) {
            int axis;
            INGOT_TRY(
                ingot_infer_axis(c, "scan_input_axes", ingot_ints_or_zero(&p->input_axes, i), type.rank, 0, &axis));
            ingot_dim size = type.dims[axis];
            INGOT_TRY(ingot_infer_same_dim(c, "the lengths of the scan inputs", i ? *length : size, size, length));
            memmove(type.dims + axis, type.dims + axis + 1, (size_t)(type.rank - axis - 1) * sizeof *type.dims);
            type.rank--;
        }
        ingot_control_set_input(body, states + i, &type);
    }
    return INGOT_OK;
}

static ingot_status infer_scan(ingot_infer *c)
{
    const ingot_control_params *p = c->params;
    const ingot_node *node = c->node;
    size_t states = ingot_scan_state_count(node, p);
    const ingot_body *body;
    INGOT_TRY(require_body(c, "body", node->operand_count, c->output_count, &body));
    ingot_dim length = INGOT_DIM_UNKNOWN;
    ingot_control_set_captures(node, body);
    INGOT_TRY(set_scan_inputs(c, body, states, &length));
    carried k = {body, 0, 0, 0, states};
    INGOT_TRY(infer_all_carried(c, &k));
    for (size_t i = states; i < c->output_count; i++)
        INGOT_TRY(set_scan_output(c, i, &body->graph->outputs[i]->type, ingot_ints_or_zero(&p->output_axes, i - states),
                                  length));
    return INGOT_OK;
}

/* ---- SequenceMap ---- */

/* A sequence of what the body gives; sizes that are no numbers may differ from item to item. */
static ingot_status set_sequence(ingot_infer *c, size_t output, const ingot_type *given)
{
    if (!ingot_infer_wants(c, output))
        return INGOT_OK;
    if (given->kind != INGOT_KIND_TENSOR && given->kind != INGOT_KIND_NONE)
        return ingot_infer_fail(c, "output %zu of the graph 'body' is no tensor", output);
    ingot_type *item = ingot_arena_copy(c->node->graph->module->arena, given, sizeof *given);
    if (!item)
        return ingot_fail_memory(c->error, sizeof *given, "a type");
    for (int i = 0; i < item->rank; i++)
        if (!ingot_dim_is_number(item->dims[i]))
            item->dims[i] = INGOT_DIM_UNKNOWN;
    c->outputs[output].type = (ingot_type){.kind = INGOT_KIND_SEQUENCE, .rank = -1, .item = item};
    return INGOT_OK;
}

static ingot_status infer_sequence_map(ingot_infer *c)
{
    const ingot_body *body;
    size_t operands = c->node->operand_count;
    INGOT_TRY(require_body(c, "body", operands, c->output_count, &body));
    ingot_control_set_captures(c->node, body);
    for (size_t i = 0; i < operands; i++) {
        ingot_type type = c->inputs[i].type;
        if (type.kind == INGOT_KIND_SEQUENCE) {
            type = type.item ? *type.item : ingot_type_tensor(INGOT_UNDEFINED);
            fresh_sizes(c->dims, &type);
        }
        ingot_control_set_input(body, i, &type);
    }
    INGOT_TRY(ingot_graph_infer(body->graph, c->error));
    for (size_t i = 0; i < c->output_count; i++)
        INGOT_TRY(set_sequence(c, i, &body->graph->outputs[i]->type));
    return INGOT_OK;
}

/* ---- Descriptors ---- */

static ingot_status check_sequence_map(const ingot_node *node, void *params, ingot_error *error)
{
    ((ingot_control_params *)params)->control = INGOT_CONTROL_SEQUENCE_MAP;
    return INGOT_OK;
}

static ingot_status check_if(const ingot_node *node, void *params, ingot_error *error)
{
    ((ingot_control_params *)params)->control = INGOT_CONTROL_IF;
    return INGOT_OK;
}

static ingot_status check_loop(const ingot_node *node, void *params, ingot_error *error)
{
    ((ingot_control_params *)params)->control = INGOT_CONTROL_LOOP;
    return INGOT_OK;
}

static ingot_status check_scan_list(const ingot_ints *list, const char *name, size_t count, bool directions,
                                    ingot_error *error)
{
    if (list->given && list->count != count)
        return ingot_fail(error, INGOT_INVALID_MODEL, "attribute '%s' has %zu elements, but there are %zu scan values",
                          name, list->count, count);
    for (size_t i = 0; directions && i < list->count; i++)
        if (list->data[i] != 0 && list->data[i] != 1)
            return ingot_fail(error, INGOT_INVALID_MODEL, "attribute '%s' holds %lld, but directions are 0 or 1", name,
                              (long long)list->data[i]);
    return INGOT_OK;
}

static ingot_status check_scan(const ingot_node *node, void *params, ingot_error *error)
{
    ingot_control_params *p = params;
    p->control = INGOT_CONTROL_SCAN;
    if (p->scan_input_count < 1 || (uint64_t)p->scan_input_count > node->operand_count)
        return ingot_fail(error, INGOT_INVALID_MODEL,
                          "attribute 'num_scan_inputs' is %lld, but the node has %zu inputs",
                          (long long)p->scan_input_count, node->operand_count);
    size_t inputs = (size_t)p->scan_input_count, states = node->operand_count - inputs;
    if (node->output_count < states)
        return ingot_fail(error, INGOT_INVALID_MODEL, "the node carries %zu values, but has %zu outputs", states,
                          node->output_count);
    size_t outputs = node->output_count - states;
    INGOT_TRY(check_scan_list(&p->input_axes, "scan_input_axes", inputs, false, error));
    INGOT_TRY(check_scan_list(&p->input_directions, "scan_input_directions", inputs, true, error));
    INGOT_TRY(check_scan_list(&p->output_axes, "scan_output_axes", outputs, false, error));
    return check_scan_list(&p->output_directions, "scan_output_directions", outputs, true, error);
}

static const ingot_param_field scan_fields[] = {
    {"num_scan_inputs", INGOT_PARAM_INT, offsetof(ingot_control_params, scan_input_count), NULL, 0},
    {"scan_input_axes", INGOT_PARAM_INTS, offsetof(ingot_control_params, input_axes), NULL, 0},
    {"scan_input_directions", INGOT_PARAM_INTS, offsetof(ingot_control_params, input_directions), NULL, 0},
    {"scan_output_axes", INGOT_PARAM_INTS, offsetof(ingot_control_params, output_axes), NULL, 0},
    {"scan_output_directions", INGOT_PARAM_INTS, offsetof(ingot_control_params, output_directions), NULL, 0},
    {NULL, INGOT_PARAM_INT, 0, NULL, 0},
};

#define CONTROL_FLAGS (INGOT_OP_CONTROL | INGOT_OP_SIZES_OUTPUT)

const ingot_op ingot_op_if = {.summary = "Runs one of two graphs",
                              .params_size = sizeof(ingot_control_params),
                              .check = check_if,
                              .infer = infer_if,
                              .flags = CONTROL_FLAGS};
const ingot_op ingot_op_loop = {.summary = "Runs a graph again and again, carrying values",
                                .params_size = sizeof(ingot_control_params),
                                .check = check_loop,
                                .infer = infer_loop,
                                .flags = CONTROL_FLAGS};
const ingot_op ingot_op_scan = {.summary = "Runs a graph over the slices of its inputs",
                                .params_size = sizeof(ingot_control_params),
                                .fields = scan_fields,
                                .check = check_scan,
                                .infer = infer_scan,
                                .flags = CONTROL_FLAGS};
const ingot_op ingot_op_sequence_map = {.summary = "Runs a graph for every item of sequences",
                                        .params_size = sizeof(ingot_control_params),
                                        .check = check_sequence_map,
                                        .infer = infer_sequence_map,
                                        .flags = CONTROL_FLAGS};

/* Running control flow: If, Loop, Scan and SequenceMap. A body runs in a frame of its own; carried values are double-buffered, and the body's
 * last steps write them in place. */
#include "ops/control.h"

#include <string.h>

#include "base/number.h"
#include "runtime/frame.h"
#include "runtime/search.h"
#include "runtime/slices.h"

/* One execution of a control step. */
typedef struct control {
    ingot_frame *frame;
    const ingot_plan_step *step;
    const ingot_node *node;
    const ingot_control_params *params;
    ingot_control_state *state;
    const ingot_value *const *inputs; /* operands, then captures */
    ingot_value *const *outputs;      /* owned by the frame; NULL: left out */
    ingot_budget *budget;
    const ingot_run *run;
} control;

/* ---- State ---- */

void ingot_control_release(const ingot_plan_step *step, ingot_control_state *s)
{
    for (size_t i = 0; s->bodies && i < step->node->body_count; i++)
        ingot_frame_release(s->bodies[i]);
    for (size_t i = 0; s->carried && i < 2 * s->carried_count; i++)
        ingot_value_clear(&s->carried[i]);
    for (size_t i = 0; s->slices && i < s->slice_count; i++)
        ingot_value_clear(&s->slices[i]);
    ingot_free(s->bodies);
    ingot_free(s->carried);
    ingot_free(s->slices);
    ingot_free(s->inputs);
    ingot_free(s->targets);
    *s = (ingot_control_state){0};
}

void ingot_control_count(ingot_control_state *s, ingot_budget *budget)
{
    for (size_t i = 0; i < 2 * s->carried_count; i++)
        s->carried[i].budget = budget;
    for (size_t i = 0; i < s->slice_count; i++)
        s->slices[i].budget = budget;
}

/* Memory for the state on the first run of the step. */
static ingot_status prepare_state(control *c, size_t carried, size_t slices)
{
    ingot_control_state *s = c->state;
    size_t inputs = 0, outputs = 0;
    if (s->bodies)
        return INGOT_OK;
    for (size_t i = 0; i < c->node->body_count; i++) {
        const ingot_graph *g = c->node->bodies[i].graph;
        inputs = g->input_count > inputs ? g->input_count : inputs;
        outputs = g->output_count > outputs ? g->output_count : outputs;
    }
    s->carried_count = carried;
    s->slice_count = slices;
    s->carried = ingot_calloc(2 * carried + 1, sizeof *s->carried);
    s->slices = ingot_calloc(slices + 1, sizeof *s->slices);
    s->inputs = ingot_calloc(inputs + 1, sizeof *s->inputs);
    s->targets = ingot_calloc(outputs + 1, sizeof *s->targets);
    s->bodies = ingot_calloc(c->node->body_count + 1, sizeof *s->bodies);
    if (s->carried && s->slices && s->inputs && s->targets && s->bodies) {
        ingot_control_count(s, c->budget);
        return INGOT_OK;
    }
    if (!s->bodies) /* the release below walks the lists by it */
        s->carried_count = s->slice_count = 0;
    ingot_control_release(c->step, s);
    return ingot_fail_memory(c->run->error, inputs * sizeof *s->inputs, "a body");
}

static ingot_status body_frame(control *c, const ingot_body *body, ingot_frame **frame)
{
    size_t index = (size_t)(body - c->node->bodies);
    if (!c->state->bodies[index])
        INGOT_TRY(ingot_frame_create(c->step->bodies[index], c->budget, &c->state->bodies[index], c->run->error));
    *frame = c->state->bodies[index];
    for (size_t i = 0; i < body->capture_count; i++)
        c->state->inputs[body->formal_count + i] = c->inputs[body->capture_first + i];
    return INGOT_OK;
}

/* A scalar operand: bool or int64 in a tensor of one element. */
static ingot_status read_scalar(control *c, size_t input, const char *name, int64_t *result)
{
    const ingot_value *v = c->inputs[input];
    if (v->kind != INGOT_KIND_TENSOR || ingot_value_count(v) != 1)
        return ingot_node_fail(c->node, c->run->error, INGOT_INVALID_INPUT,
                               "input %zu '%s' must hold one element, but holds %zu", input, name,
                               ingot_value_count(v));
    *result = ingot_load_i64(v->element, v->data, 0);
    return INGOT_OK;
}

/* ---- If ---- */

static ingot_status run_if(control *c)
{
    int64_t condition;
    ingot_frame *frame;
    INGOT_TRY(prepare_state(c, 0, 0));
    INGOT_TRY(read_scalar(c, 0, "cond", &condition));
    const ingot_body *body = ingot_node_body(c->node, condition ? "then_branch" : "else_branch");
    INGOT_TRY(body_frame(c, body, &frame));
    for (size_t i = 0; i < body->graph->output_count; i++)
        c->state->targets[i].value = i < c->step->output_count ? c->outputs[i] : NULL;
    return ingot_frame_run(frame, c->state->inputs, c->state->targets, c->run);
}

/* ---- Carried values ---- */

/* Trip number trip writes here, and the next one reads. */
static ingot_value *carried_value(const control *c, size_t index, int64_t trip)
{
    return &c->state->carried[2 * index + (size_t)(trip & 1)];
}

static ingot_status check_carried(control *c, size_t index, const ingot_value *before, const ingot_value *after)
{
    if (before->kind == INGOT_KIND_OPTIONAL && after->kind != INGOT_KIND_OPTIONAL) /* infer has seen to its item */
        return INGOT_OK;
    if (before->kind == after->kind && before->element == after->element)
        return INGOT_OK;
    char a[128], b[128];
    return ingot_node_fail(c->node, c->run->error, INGOT_INVALID_MODEL,
                           "carried value %zu was %s, but the body makes it %s", index,
                           ingot_value_describe(before, a, sizeof a), ingot_value_describe(after, b, sizeof b));
}

/* Without a trip the output is the initial value; of an optional what it holds, where the body would have given that. */
static ingot_status deliver_initial(control *c, size_t index, const ingot_value *initial)
{
    if (initial->kind == INGOT_KIND_OPTIONAL && c->node->outputs[index]->type.kind != INGOT_KIND_OPTIONAL) {
        if (initial->item_count == 0)
            return ingot_node_fail(c->node, c->run->error, INGOT_INVALID_INPUT,
                                   "carried value %zu is an empty optional and the body never runs", index);
        initial = initial->items[0];
    }
    return ingot_value_copy(c->outputs[index], initial, c->run->error);
}

/* After the last trip: what was carried becomes an output, without a copy where there was a trip. */
static ingot_status deliver_carried(control *c, size_t first_operand, int64_t trips)
{
    for (size_t i = 0; i < c->state->carried_count; i++) {
        if (i >= c->step->output_count || !c->outputs[i])
            continue;
        if (trips == 0) {
            INGOT_TRY(deliver_initial(c, i, c->inputs[first_operand + i]));
            continue;
        }
        ingot_value *last = carried_value(c, i, trips - 1), swap = *last;
        *last = *c->outputs[i];
        *c->outputs[i] = swap;
    }
    return INGOT_OK;
}

static ingot_status check_scan_item(control *c, size_t output, int axis, const ingot_value *stack,
                                    const ingot_value *item)
{
    bool same = item->kind == INGOT_KIND_TENSOR && stack->rank == item->rank + 1 && stack->element == item->element;
    for (int i = 0; same && i < item->rank; i++)
        same = item->dims[i] == stack->dims[i < axis ? i : i + 1];
    if (same)
        return INGOT_OK;
    char text[160];
    return ingot_node_fail(c->node, c->run->error, INGOT_INVALID_INPUT,
                           "scan output %zu changes its shape: a trip gives %s, unlike the trips before", output,
                           ingot_value_describe(item, text, sizeof text));
}

/* A scan output without any trip: sizes that only a trip would tell are 0. */
static ingot_status empty_scan(control *c, size_t output)
{
    const ingot_type *type = &c->node->outputs[output]->type;
    int64_t dims[INGOT_MAX_RANK] = {0};
    int rank = type->rank < 0 ? 1 : type->rank;
    for (int i = 0; i < type->rank; i++)
        dims[i] = ingot_dim_is_number(type->dims[i]) ? type->dims[i] : 0;
    return ingot_value_set_tensor_within(c->budget, c->outputs[output], type->element, rank, dims, c->run->error);
}

/* ---- Loop ---- */

typedef struct loop {
    ingot_frame *frame;
    const ingot_body *body;
    int64_t trip, keep_going;
    ingot_value trip_value, condition_value;
    bool condition_byte;
} loop;

static ingot_status append_scans(control *c, loop *l)
{
    for (size_t i = c->state->carried_count; i < c->step->output_count; i++) {
        if (!c->outputs[i])
            continue;
        const ingot_value *item = ingot_frame_output(l->frame, i + 1);
        if (l->trip > 0)
            INGOT_TRY(check_scan_item(c, i, 0, c->outputs[i], item));
        else if (item->kind != INGOT_KIND_TENSOR)
            return ingot_node_fail(c->node, c->run->error, INGOT_INVALID_MODEL, "scan output %zu is no tensor", i);
        INGOT_TRY(ingot_stack_append(c->outputs[i], item, l->trip, c->budget, c->run->error));
    }
    return INGOT_OK;
}

static ingot_status run_trip(control *c, loop *l)
{
    size_t count = c->state->carried_count;
    l->condition_byte = l->keep_going != 0;
    c->state->inputs[0] = &l->trip_value;
    c->state->inputs[1] = &l->condition_value;
    for (size_t i = 0; i < count; i++) {
        c->state->inputs[2 + i] = l->trip == 0 ? c->inputs[2 + i] : carried_value(c, i, l->trip - 1);
        c->state->targets[1 + i].value = carried_value(c, i, l->trip);
    }
    INGOT_TRY(ingot_frame_run(l->frame, c->state->inputs, c->state->targets, c->run));
    for (size_t i = 0; i < count; i++)
        INGOT_TRY(check_carried(c, i, c->state->inputs[2 + i], carried_value(c, i, l->trip)));
    const ingot_value *condition = ingot_frame_output(l->frame, 0);
    if (condition->kind != INGOT_KIND_TENSOR || condition->element != INGOT_BOOL || ingot_value_count(condition) != 1)
        return ingot_node_fail(c->node, c->run->error, INGOT_INVALID_MODEL,
                               "the condition that the body gives must be one bool");
    l->keep_going = *(const uint8_t *)condition->data;
    return append_scans(c, l);
}

static ingot_status run_loop(control *c)
{
    loop l = {.keep_going = 1};
    int64_t limit = INT64_MAX;
    size_t count = c->node->operand_count > 2 ? c->node->operand_count - 2 : 0;
    if (c->node->operand_count > 0 && c->inputs[0])
        INGOT_TRY(read_scalar(c, 0, "M", &limit));
    if (c->node->operand_count > 1 && c->inputs[1])
        INGOT_TRY(read_scalar(c, 1, "cond", &l.keep_going));
    INGOT_TRY(prepare_state(c, count, 0));
    ingot_value_set_view(&l.trip_value, INGOT_INT64, 0, NULL, &l.trip, sizeof l.trip);
    ingot_value_set_view(&l.condition_value, INGOT_BOOL, 0, NULL, &l.condition_byte, sizeof l.condition_byte);
    l.body = ingot_node_body(c->node, "body");
    INGOT_TRY(body_frame(c, l.body, &l.frame));
    for (; l.trip < limit && l.keep_going; l.trip++)
        INGOT_TRY(run_trip(c, &l));
    for (size_t i = count; i < c->step->output_count && l.trip == 0; i++)
        if (c->outputs[i])
            INGOT_TRY(empty_scan(c, i));
    return deliver_carried(c, 2, l.trip);
}

/* ---- Scan ---- */

typedef struct scan {
    ingot_frame *frame;
    const ingot_body *body;
    size_t states;
    int64_t length;
} scan;

static ingot_status scan_axis(control *c, const char *what, int64_t axis, int rank, int *result)
{
    int64_t positive = axis < 0 ? axis + rank : axis;
    if (positive < 0 || positive >= rank)
        return ingot_node_fail(c->node, c->run->error, INGOT_INVALID_INPUT, "'%s' is %lld, but the tensor has rank %d",
                               what, (long long)axis, rank);
    *result = (int)positive;
    return INGOT_OK;
}

static ingot_status scan_length(control *c, scan *s)
{
    for (size_t i = 0; i < c->state->slice_count; i++) {
        int axis;
        const ingot_value *v = c->inputs[s->states + i];
        INGOT_TRY(scan_axis(c, "scan_input_axes", ingot_ints_or_zero(&c->params->input_axes, i), v->rank, &axis));
        if (i > 0 && v->dims[axis] != s->length)
            return ingot_node_fail(c->node, c->run->error, INGOT_INVALID_INPUT,
                                   "scan input %zu has length %lld, but those before it have %lld", i,
                                   (long long)v->dims[axis], (long long)s->length);
        s->length = v->dims[axis];
    }
    return INGOT_OK;
}

static ingot_status take_slices(control *c, const scan *s, int64_t trip)
{
    for (size_t i = 0; i < c->state->slice_count; i++) {
        int axis;
        const ingot_value *v = c->inputs[s->states + i];
        bool backward = ingot_ints_or_zero(&c->params->input_directions, i) == 1;
        INGOT_TRY(scan_axis(c, "scan_input_axes", ingot_ints_or_zero(&c->params->input_axes, i), v->rank, &axis));
        INGOT_TRY(ingot_slice_take(&c->state->slices[i], v, axis, backward ? s->length - 1 - trip : trip, c->budget,
                                   c->run->error));
        c->state->inputs[s->states + i] = &c->state->slices[i];
    }
    return INGOT_OK;
}

static ingot_status put_scans(control *c, const scan *s, int64_t trip)
{
    for (size_t i = s->states; i < c->step->output_count; i++) {
        const ingot_value *item = ingot_frame_output(s->frame, i);
        size_t scan_index = i - s->states;
        int axis;
        if (!c->outputs[i])
            continue;
        if (item->kind != INGOT_KIND_TENSOR || item->rank + 1 > INGOT_MAX_RANK)
            return ingot_node_fail(c->node, c->run->error, INGOT_INVALID_MODEL,
                                   "scan output %zu is no tensor, or has too many dimensions", scan_index);
        INGOT_TRY(scan_axis(c, "scan_output_axes", ingot_ints_or_zero(&c->params->output_axes, scan_index),
                            item->rank + 1, &axis));
        if (trip == 0) {
            int64_t dims[INGOT_MAX_RANK];
            ingot_stack_dims(item, axis, s->length, dims);
            INGOT_TRY(ingot_value_set_tensor_within(c->budget, c->outputs[i], item->element, item->rank + 1, dims,
                                                    c->run->error));
        }
        INGOT_TRY(check_scan_item(c, scan_index, axis, c->outputs[i], item));
        bool backward = ingot_ints_or_zero(&c->params->output_directions, scan_index) == 1;
        INGOT_TRY(ingot_slice_put(c->outputs[i], item, axis, backward ? s->length - 1 - trip : trip, c->run->error));
    }
    return INGOT_OK;
}

static ingot_status scan_trip(control *c, scan *s, int64_t trip)
{
    for (size_t i = 0; i < s->states; i++) {
        c->state->inputs[i] = trip == 0 ? c->inputs[i] : carried_value(c, i, trip - 1);
        c->state->targets[i].value = carried_value(c, i, trip);
    }
    INGOT_TRY(take_slices(c, s, trip));
    INGOT_TRY(ingot_frame_run(s->frame, c->state->inputs, c->state->targets, c->run));
    for (size_t i = 0; i < s->states; i++)
        INGOT_TRY(check_carried(c, i, c->state->inputs[i], carried_value(c, i, trip)));
    return put_scans(c, s, trip);
}

static ingot_status run_scan(control *c)
{
    scan s = {.states = ingot_scan_state_count(c->node, c->params), .body = ingot_node_body(c->node, "body")};
    INGOT_TRY(prepare_state(c, s.states, (size_t)c->params->scan_input_count));
    INGOT_TRY(scan_length(c, &s));
    INGOT_TRY(body_frame(c, s.body, &s.frame));
    for (int64_t trip = 0; trip < s.length; trip++)
        INGOT_TRY(scan_trip(c, &s, trip));
    for (size_t i = s.states; i < c->step->output_count && s.length == 0; i++)
        if (c->outputs[i])
            INGOT_TRY(empty_scan(c, i));
    return deliver_carried(c, 0, s.length);
}

/* ---- SequenceMap ---- */

/* The body's operands for item number index: items of sequences, and tensors as they are. */
static void map_operands(control *c, size_t index)
{
    for (size_t i = 0; i < c->node->operand_count; i++) {
        const ingot_value *v = c->inputs[i];
        c->state->inputs[i] = v->kind == INGOT_KIND_SEQUENCE ? v->items[index] : v;
    }
}

static ingot_status begin_sequences(control *c, size_t *count)
{
    *count = c->inputs[0]->item_count;
    for (size_t i = 1; i < c->node->operand_count; i++)
        if (c->inputs[i]->kind == INGOT_KIND_SEQUENCE && c->inputs[i]->item_count != *count)
            return ingot_node_fail(c->node, c->run->error, INGOT_INVALID_INPUT,
                                   "input %zu is a sequence of %zu, but input 0 has %zu", i, c->inputs[i]->item_count,
                                   *count);
    for (size_t i = 0; i < c->step->output_count; i++) {
        const ingot_graph_value *output = c->node->outputs[i];
        if (c->outputs[i])
            INGOT_TRY(ingot_value_set_list(c->outputs[i], INGOT_KIND_SEQUENCE,
                                           output->type.item ? output->type.item->element : INGOT_UNDEFINED,
                                           c->run->error));
    }
    return INGOT_OK;
}

static ingot_status run_sequence_map(control *c)
{
    const ingot_body *body = ingot_node_body(c->node, "body");
    ingot_frame *frame;
    size_t count;
    INGOT_TRY(prepare_state(c, 0, 0));
    INGOT_TRY(body_frame(c, body, &frame));
    INGOT_TRY(begin_sequences(c, &count));
    for (size_t item = 0; item < count; item++) {
        map_operands(c, item);
        for (size_t i = 0; i < body->graph->output_count; i++) {
            c->state->targets[i].value = NULL;
            if (i < c->step->output_count && c->outputs[i])
                INGOT_TRY(ingot_value_add_item(c->outputs[i], &c->state->targets[i].value, c->run->error));
        }
        INGOT_TRY(ingot_frame_run(frame, c->state->inputs, c->state->targets, c->run));
    }
    return INGOT_OK;
}

/* ---- Dispatch ---- */

ingot_status ingot_control_run(ingot_frame *frame, size_t number, const ingot_run *run)
{
    static ingot_status (*const runners[])(control *) = {[INGOT_CONTROL_IF] = run_if,
                                                         [INGOT_CONTROL_LOOP] = run_loop,
                                                         [INGOT_CONTROL_SCAN] = run_scan,
                                                         [INGOT_CONTROL_SEQUENCE_MAP] = run_sequence_map};
    const ingot_plan_step *step = &frame->plan->steps[number];
    if (*(const ingot_control *)step->node->params == INGOT_CONTROL_SEARCH)
        return ingot_search_run(frame, number, run);
    control c = {.frame = frame,
                 .step = step,
                 .node = step->node,
                 .params = step->node->params,
                 .state = &frame->control[number],
                 .inputs = frame->inputs + frame->first_input[number],
                 .outputs = frame->outputs + frame->first_output[number],
                 .budget = &frame->budget,
                 .run = run};
    return runners[c.params->control](&c);
}

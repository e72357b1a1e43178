/* Running control flow: state between runs, If and SequenceMap; Loop and Scan have files of their own. A body runs in a frame
 * of its own; carried values are double-buffered, and the body's last steps write them in place. */
#include "runtime/control.h"

#include "base/number.h"
#include "runtime/search.h"

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
ingot_status ingot_control_prepare(ingot_control_call *c, size_t carried, size_t slices)
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

ingot_status ingot_control_frame(ingot_control_call *c, const ingot_body *body, ingot_frame **frame)
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
ingot_status ingot_control_scalar(ingot_control_call *c, size_t input, const char *name, int64_t *result)
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

static ingot_status run_branch(ingot_control_call *c, bool condition, const ingot_run *run)
{
    ingot_frame *frame;
    const ingot_body *body = ingot_node_body(c->node, condition ? "then_branch" : "else_branch");
    INGOT_TRY(ingot_control_frame(c, body, &frame));
    for (size_t i = 0; i < body->graph->output_count; i++)
        c->state->targets[i].value = i < c->step->output_count ? c->outputs[i] : NULL;
    return ingot_frame_run(frame, c->state->inputs, c->state->targets, run);
}

static ingot_status run_if(ingot_control_call *c)
{
    int64_t condition;
    INGOT_TRY(ingot_control_prepare(c, 0, 0));
    INGOT_TRY(ingot_control_scalar(c, 0, "cond", &condition));
    if (c->run->warms_up) { /* the condition tells nothing about runs to come; a branch that fails is no fault */
        ingot_error ignored = {0};
        ingot_run other = *c->run;
        other.error = &ignored;
        run_branch(c, !condition, &other);
    }
    return run_branch(c, condition, c->run);
}

/* ---- Carried values ---- */

/* Trip number trip writes here, and the next one reads. */
ingot_value *ingot_carried_value(const ingot_control_call *c, size_t index, int64_t trip)
{
    return &c->state->carried[2 * index + (size_t)(trip & 1)];
}

ingot_status ingot_check_carried(ingot_control_call *c, size_t index, const ingot_value *before,
                                 const ingot_value *after)
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
static ingot_status deliver_initial(ingot_control_call *c, size_t index, const ingot_value *initial)
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
ingot_status ingot_deliver_carried(ingot_control_call *c, size_t first_operand, int64_t trips)
{
    for (size_t i = 0; i < c->state->carried_count; i++) {
        if (i >= c->step->output_count || !c->outputs[i])
            continue;
        if (trips == 0) {
            INGOT_TRY(deliver_initial(c, i, c->inputs[first_operand + i]));
            continue;
        }
        ingot_value *last = ingot_carried_value(c, i, trips - 1), swap = *last;
        *last = *c->outputs[i];
        *c->outputs[i] = swap;
    }
    return INGOT_OK;
}

ingot_status ingot_check_scan_item(ingot_control_call *c, size_t output, int axis, const ingot_value *stack,
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
ingot_status ingot_empty_scan(ingot_control_call *c, size_t output)
{
    const ingot_type *type = &c->node->outputs[output]->type;
    int64_t dims[INGOT_MAX_RANK] = {0};
    int rank = type->rank < 0 ? 1 : type->rank;
    for (int i = 0; i < type->rank; i++)
        dims[i] = ingot_dim_is_number(type->dims[i]) ? type->dims[i] : 0;
    return ingot_value_set_tensor_within(c->budget, c->outputs[output], type->element, rank, dims, c->run->error);
}

/* ---- SequenceMap ---- */

/* The body's operands for item number index: items of sequences, and tensors as they are. */
static void map_operands(ingot_control_call *c, size_t index)
{
    for (size_t i = 0; i < c->node->operand_count; i++) {
        const ingot_value *v = c->inputs[i];
        c->state->inputs[i] = v->kind == INGOT_KIND_SEQUENCE ? v->items[index] : v;
    }
}

static ingot_status begin_sequences(ingot_control_call *c, size_t *count)
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

static ingot_status run_sequence_map(ingot_control_call *c)
{
    const ingot_body *body = ingot_node_body(c->node, "body");
    ingot_frame *frame;
    size_t count;
    INGOT_TRY(ingot_control_prepare(c, 0, 0));
    INGOT_TRY(ingot_control_frame(c, body, &frame));
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
    static ingot_status (*const runners[])(ingot_control_call *) = {[INGOT_CONTROL_IF] = run_if,
                                                                    [INGOT_CONTROL_LOOP] = ingot_run_loop,
                                                                    [INGOT_CONTROL_SCAN] = ingot_run_scan,
                                                                    [INGOT_CONTROL_SEQUENCE_MAP] = run_sequence_map};
    const ingot_plan_step *step = &frame->plan->steps[number];
    if (*(const ingot_control *)step->node->params == INGOT_CONTROL_SEARCH)
        return ingot_search_run(frame, number, run);
    ingot_control_call c = {.frame = frame,
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

/* Scan: a body run for each slice of its inputs. */
#include "runtime/control.h"
#include "runtime/slices.h"

typedef struct scan {
    ingot_frame *frame;
    const ingot_body *body;
    size_t states;
    int64_t length;
} scan;

static ingot_status scan_axis(ingot_control_call *c, const char *what, int64_t axis, int rank, int *result)
{
    int64_t positive = axis < 0 ? axis + rank : axis;
    if (positive < 0 || positive >= rank)
        return ingot_node_fail(c->node, c->run->error, INGOT_INVALID_INPUT, "'%s' is %lld, but the tensor has rank %d",
                               what, (long long)axis, rank);
    *result = (int)positive;
    return INGOT_OK;
}

static ingot_status scan_length(ingot_control_call *c, scan *s)
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

static ingot_status take_slices(ingot_control_call *c, const scan *s, int64_t trip)
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

static ingot_status put_scans(ingot_control_call *c, const scan *s, int64_t trip)
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
        INGOT_TRY(ingot_check_scan_item(c, scan_index, axis, c->outputs[i], item));
        bool backward = ingot_ints_or_zero(&c->params->output_directions, scan_index) == 1;
        INGOT_TRY(ingot_slice_put(c->outputs[i], item, axis, backward ? s->length - 1 - trip : trip, c->run->error));
    }
    return INGOT_OK;
}

static ingot_status scan_trip(ingot_control_call *c, scan *s, int64_t trip)
{
    for (size_t i = 0; i < s->states; i++) {
        c->state->inputs[i] = trip == 0 ? c->inputs[i] : ingot_carried_value(c, i, trip - 1);
        c->state->targets[i].value = ingot_carried_value(c, i, trip);
    }
    INGOT_TRY(take_slices(c, s, trip));
    INGOT_TRY(ingot_frame_run(s->frame, c->state->inputs, c->state->targets, c->run));
    for (size_t i = 0; i < s->states; i++)
        INGOT_TRY(ingot_check_carried(c, i, c->state->inputs[i], ingot_carried_value(c, i, trip)));
    return put_scans(c, s, trip);
}

ingot_status ingot_run_scan(ingot_control_call *c)
{
    scan s = {.states = ingot_scan_state_count(c->node, c->params), .body = ingot_node_body(c->node, "body")};
    INGOT_TRY(ingot_control_prepare(c, s.states, (size_t)c->params->scan_input_count));
    INGOT_TRY(scan_length(c, &s));
    INGOT_TRY(ingot_control_frame(c, s.body, &s.frame));
    for (int64_t trip = 0; trip < s.length; trip++)
        INGOT_TRY(scan_trip(c, &s, trip));
    for (size_t i = s.states; i < c->step->output_count && s.length == 0; i++)
        if (c->outputs[i])
            INGOT_TRY(ingot_empty_scan(c, i));
    return ingot_deliver_carried(c, 0, s.length);
}

/* Loop: trips of a body while its condition holds. */
#include "runtime/control.h"
#include "runtime/slices.h"

typedef struct loop {
    ingot_frame *frame;
    const ingot_body *body;
    int64_t trip, keep_going;
    ingot_value trip_value, condition_value;
    bool condition_byte;
} loop;

static ingot_status append_scans(ingot_control_call *c, loop *l)
{
    for (size_t i = c->state->carried_count; i < c->step->output_count; i++) {
        if (!c->outputs[i])
            continue;
        const ingot_value *item = ingot_frame_output(l->frame, i + 1);
        if (l->trip > 0)
            INGOT_TRY(ingot_check_scan_item(c, i, 0, c->outputs[i], item));
        else if (item->kind != INGOT_KIND_TENSOR)
            return ingot_node_fail(c->node, c->run->error, INGOT_INVALID_MODEL, "scan output %zu is no tensor", i);
        INGOT_TRY(ingot_stack_append(c->outputs[i], item, l->trip, c->budget, c->run->error));
    }
    return INGOT_OK;
}

static ingot_status run_trip(ingot_control_call *c, loop *l)
{
    size_t count = c->state->carried_count;
    l->condition_byte = l->keep_going != 0;
    c->state->inputs[0] = &l->trip_value;
    c->state->inputs[1] = &l->condition_value;
    for (size_t i = 0; i < count; i++) {
        c->state->inputs[2 + i] = l->trip == 0 ? c->inputs[2 + i] : ingot_carried_value(c, i, l->trip - 1);
        c->state->targets[1 + i].value = ingot_carried_value(c, i, l->trip);
    }
    INGOT_TRY(ingot_frame_run(l->frame, c->state->inputs, c->state->targets, c->run));
    for (size_t i = 0; i < count; i++)
        INGOT_TRY(ingot_check_carried(c, i, c->state->inputs[2 + i], ingot_carried_value(c, i, l->trip)));
    const ingot_value *condition = ingot_frame_output(l->frame, 0);
    if (condition->kind != INGOT_KIND_TENSOR || condition->element != INGOT_BOOL || ingot_value_count(condition) != 1)
        return ingot_node_fail(c->node, c->run->error, INGOT_INVALID_MODEL,
                               "the condition that the body gives must be one bool");
    l->keep_going = *(const uint8_t *)condition->data;
    return append_scans(c, l);
}

ingot_status ingot_run_loop(ingot_control_call *c)
{
    loop l = {.keep_going = 1};
    int64_t limit = INT64_MAX;
    size_t count = c->node->operand_count > 2 ? c->node->operand_count - 2 : 0;
    if (c->node->operand_count > 0 && c->inputs[0])
        INGOT_TRY(ingot_control_scalar(c, 0, "M", &limit));
    if (c->node->operand_count > 1 && c->inputs[1])
        INGOT_TRY(ingot_control_scalar(c, 1, "cond", &l.keep_going));
    INGOT_TRY(ingot_control_prepare(c, count, 0));
    ingot_value_set_view(&l.trip_value, INGOT_INT64, 0, NULL, &l.trip, sizeof l.trip);
    ingot_value_set_view(&l.condition_value, INGOT_BOOL, 0, NULL, &l.condition_byte, sizeof l.condition_byte);
    l.body = ingot_node_body(c->node, "body");
    INGOT_TRY(ingot_control_frame(c, l.body, &l.frame));
    for (; l.trip < limit && l.keep_going; l.trip++)
        INGOT_TRY(run_trip(c, &l));
    for (size_t i = count; i < c->step->output_count && l.trip == 0; i++)
        if (c->outputs[i])
            INGOT_TRY(ingot_empty_scan(c, i));
    return ingot_deliver_carried(c, 2, l.trip);
}

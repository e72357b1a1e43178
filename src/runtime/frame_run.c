/* Running the steps of a plan in its frame. */
#include <string.h>

#include "runtime/estimate.h"
#include "runtime/frame.h"

/* ---- Shapes that a run finds out ---- */

static const ingot_value *slot_content(void *argument, size_t slot)
{
    return ((const ingot_frame *)argument)->current[slot];
}

/* Gives an output the shape that the step's rules found. One that the layout knew already must have that shape: it was laid
 * out believing that the inputs whose sizes only the run tells would fit. */
static ingot_status shape_output(ingot_frame *f, const ingot_plan_step *step, size_t slot, const ingot_run *run)
{
    const ingot_type *type = &f->types[f->plan->slots[slot].value->id];
    const ingot_layout_slot *s = &f->layout->slots[slot];
    bool known = type->kind == INGOT_KIND_TENSOR && type->rank >= 0 && type->element != INGOT_UNDEFINED;
    for (int d = 0; d < type->rank; d++)
        known &= ingot_dim_is_number(type->dims[d]);
    if (s->known && known &&
        (type->rank != s->rank ||
         memcmp(type->dims, f->layout->dims + s->dims, (size_t)s->rank * sizeof *type->dims) != 0)) {
        char is[200], expected[200];
        return ingot_fail(run->error, INGOT_INVALID_INPUT, "output '%s' would be %s%s, but everything else needs %s%s",
                          f->plan->slots[slot].value->name, ingot_element_name(type->element),
                          ingot_dims_describe(type->rank, type->dims, is, sizeof is), ingot_element_name(s->element),
                          ingot_dims_describe(s->rank, f->layout->dims + s->dims, expected, sizeof expected));
    }
    if (!s->known && !known && type->kind == INGOT_KIND_TENSOR && !(step->node->op->flags & INGOT_OP_SIZES_OUTPUT))
        return ingot_node_fail(step->node, run->error, INGOT_INVALID_INPUT,
                               "the shape of its output '%s' cannot be told from its inputs",
                               f->plan->slots[slot].value->name);
    if (s->known || !known || step->kind != INGOT_STEP_REGION)
        return INGOT_OK;
    size_t bytes;
    if (run->warms_up && (!ingot_plan_slot_bytes(f->plan, slot, type->element, type->rank, type->dims, &bytes) ||
                          bytes > INGOT_WARM_UP_BYTES))
        return ingot_fail(run->error, INGOT_CANCELLED, "a value is too large for a warm-up");
    return ingot_frame_size_buffer(f, slot, type->element, type->rank, type->dims, run->error);
}

/* Shapes that the layout does not know: the step's rules run on the values at hand. */
static ingot_status shape_outputs(ingot_frame *f, const ingot_plan_step *step, const ingot_run *run)
{
    for (size_t i = 0; i < step->input_count; i++) {
        if (step->inputs[i] == INGOT_NO_SLOT)
            continue;
        const ingot_value *v = f->current[step->inputs[i]];
        const ingot_graph_value *value = f->plan->slots[step->inputs[i]].value;
        f->types[value->id] = v->kind == INGOT_KIND_TENSOR ? ingot_type_of_value(v) : value->type;
    }
    ingot_shape_values values = {.types = f->types, .content = slot_content, .argument = f, .scratch = f->infer_values};
    INGOT_TRY(ingot_plan_shape_step(f->plan, step, &values, run->error));
    for (size_t i = 0; i < step->output_count; i++)
        if (step->outputs[i] != INGOT_NO_SLOT)
            INGOT_TRY(shape_output(f, step, step->outputs[i], run));
    return INGOT_OK;
}

static bool has_unknown(const ingot_frame *f, const size_t *slots, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (slots[i] != INGOT_NO_SLOT && !f->layout->slots[slots[i]].known)
            return true;
    return false;
}

/* ---- Steps ---- */

static ingot_status find_workspace(ingot_frame *f, size_t number, ingot_step *s, const ingot_run *run)
{
    const ingot_plan *plan = f->plan;
    s->workspace_bytes = f->layout->workspace_bytes[number];
    if (s->workspace_bytes != INGOT_NO_SLOT) {
        s->workspace = f->arena.data + f->layout->workspace_offset[number];
        return INGOT_OK;
    }
    INGOT_TRY(plan->backend->measure(plan->device, s->region, s->tactic, s->inputs,
                                     (const ingot_value *const *)s->outputs, run->threads, &s->workspace_bytes,
                                     run->error));
    INGOT_TRY(
        ingot_block_reserve(&f->workspace, s->workspace_bytes, &f->budget, "the workspace of a kernel", run->error));
    s->workspace = f->workspace.data;
    return INGOT_OK;
}

/* Whether a step of a warm-up would end after the deadline: once begun, it cannot be left. */
static bool is_too_long(const ingot_frame *f, const ingot_plan_step *step, const ingot_step *s, const ingot_run *run)
{
    return (double)ingot_clock_ns() + ingot_step_least_ns(f->layout, f->types, step, s->inputs, s->outputs) >
           (double)run->deadline;
}

static ingot_status run_region(ingot_frame *f, size_t number, const ingot_run *run)
{
    const ingot_plan_step *step = &f->plan->steps[number];
    if (has_unknown(f, step->inputs, step->input_count) || has_unknown(f, step->outputs, step->output_count))
        INGOT_TRY(shape_outputs(f, step, run));
    ingot_step s = {.region = &step->region,
                    .tactic = &step->tactic,
                    .packed = step->packed,
                    .inputs = f->inputs + f->first_input[number],
                    .outputs = f->outputs + f->first_output[number],
                    .scratch = &f->scratch,
                    .threads = run->threads,
                    .budget = &f->budget,
                    .error = run->error};
    if (run->warms_up && is_too_long(f, step, &s, run))
        return ingot_fail(run->error, INGOT_CANCELLED, "there is no time left for a warm-up");
    INGOT_TRY(find_workspace(f, number, &s, run));
    return f->plan->backend->run(f->plan->device, &s, NULL);
}

static ingot_status check_view(const ingot_plan_step *step, const ingot_value *from, int rank, const int64_t *dims,
                               const ingot_run *run)
{
    size_t have = ingot_value_count(from), want;
    if (rank >= 0 && ingot_count_elements(rank, dims, &want) && want == have)
        return INGOT_OK;
    return ingot_node_fail(step->node, run->error, INGOT_INVALID_INPUT,
                           "its output must have as many elements as its input, which has %zu", have);
}

static ingot_status run_view(ingot_frame *f, const ingot_plan_step *step, const ingot_run *run)
{
    size_t slot = step->outputs[0];
    if (slot == INGOT_NO_SLOT)
        return INGOT_OK;
    const ingot_value *from = f->current[step->inputs[0]];
    ingot_value *view = &f->views[slot];
    if (f->layout->slots[slot].known) {
        view->data = from->data;
        return check_view(step, from, view->rank, view->dims, run);
    }
    ingot_dim dims[INGOT_MAX_RANK];
    int rank = from->rank;
    if (from->kind == INGOT_KIND_TENSOR) {
        INGOT_TRY(shape_outputs(f, step, run));
        rank = f->types[slot].rank;
        memcpy(dims, f->types[slot].dims, sizeof dims);
    }
    *view = *from;
    view->owns_data = false;
    view->fixed = true;
    if (from->kind != INGOT_KIND_TENSOR)
        return INGOT_OK;
    INGOT_TRY(check_view(step, from, rank, dims, run));
    view->rank = rank;
    memcpy(view->dims, dims, sizeof dims);
    return INGOT_OK;
}

static ingot_status run_reorder(ingot_frame *f, const ingot_plan_step *step, const ingot_run *run)
{
    const ingot_plan *plan = f->plan;
    size_t from = step->inputs[0], to = step->outputs[0];
    const ingot_value *x = f->current[from];
    if (!f->layout->slots[to].known)
        INGOT_TRY(ingot_frame_size_buffer(f, to, x->element, x->rank, x->dims, run->error));
    plan->backend->reorder(plan->device, x, plan->slots[from].layout, f->current[to], plan->slots[to].layout,
                           run->threads, NULL);
    return INGOT_OK;
}

static ingot_status run_step(ingot_frame *f, size_t number, const ingot_run *run)
{
    switch (f->plan->steps[number].kind) {
    case INGOT_STEP_REGION:
        return run_region(f, number, run);
    case INGOT_STEP_VIEW:
        return run_view(f, &f->plan->steps[number], run);
    case INGOT_STEP_CONTROL:
        return ingot_control_run(f, number, run);
    case INGOT_STEP_REORDER:
        return run_reorder(f, &f->plan->steps[number], run);
    }
    return INGOT_INTERNAL;
}

static ingot_status check_cancelled(const ingot_run *run)
{
    return ingot_run_cancelled(run) ? ingot_fail(run->error, INGOT_CANCELLED, "the run was cancelled") : INGOT_OK;
}

ingot_status ingot_frame_run(ingot_frame *f, const ingot_value *const *inputs, const ingot_target *targets,
                             const ingot_run *run)
{
    INGOT_TRY(check_cancelled(run));
    INGOT_TRY(ingot_frame_prepare(f, inputs, run));
    ingot_frame_load_inputs(f, inputs);
    INGOT_TRY(ingot_frame_aim_outputs(f, targets, run));
    uint64_t ticks = 0;
    for (size_t i = 0; i < f->plan->step_count; i++) {
        INGOT_TRY(check_cancelled(run));
        bool noted = run->profile && ingot_profile_wants(run->profile, f->plan->first_number + i) &&
                     f->plan->steps[i].kind != INGOT_STEP_VIEW;
        if (noted)
            ticks = ingot_profile_start(run->profile, ticks);
        ingot_status status = run_step(f, i, run);
        if (noted)
            ticks = ingot_profile_note(run->profile, f->plan->first_number + i, ticks);
        if (status != INGOT_OK) {
            ingot_node_fail_at(f->plan->steps[i].node, run->error);
            return status;
        }
    }
    for (size_t i = 0; i < f->plan->graph->output_count; i++)
        INGOT_TRY(ingot_frame_deliver(f, i, &targets[i], run));
    return INGOT_OK;
}

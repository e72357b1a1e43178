/* The memory of a running plan: made, laid out, tied to inputs and outputs. Running it is frame_run.c. */
#include "runtime/frame.h"

#include <string.h>

/* ---- Making and releasing ---- */

static size_t count_operands(const ingot_plan *plan, size_t *first_input, size_t *first_output, size_t *outputs)
{
    size_t inputs = 0;
    *outputs = 0;
    for (size_t i = 0; i < plan->step_count; i++) {
        if (first_input) {
            first_input[i] = inputs;
            first_output[i] = *outputs;
        }
        inputs += plan->steps[i].input_count;
        *outputs += plan->steps[i].output_count;
    }
    return inputs;
}

static bool alloc_frame(ingot_frame *f)
{
    const ingot_plan *plan = f->plan;
    size_t outputs, inputs = count_operands(plan, NULL, NULL, &outputs);
    f->views = ingot_calloc(plan->slot_count + 1, sizeof *f->views);
    f->owned = ingot_calloc(plan->slot_count + 1, sizeof *f->owned);
    f->current = ingot_calloc(plan->slot_count + 1, sizeof *f->current);
    f->inputs = ingot_calloc(inputs + 1, sizeof *f->inputs);
    f->outputs = ingot_calloc(outputs + 1, sizeof *f->outputs);
    f->first_input = ingot_calloc(plan->step_count + 1, sizeof *f->first_input);
    f->first_output = ingot_calloc(plan->step_count + 1, sizeof *f->first_output);
    f->types = ingot_calloc(plan->slot_count + 1, sizeof *f->types);
    f->infer_values = ingot_calloc(plan->max_operands + 1, sizeof *f->infer_values);
    f->control = ingot_calloc(plan->step_count + 1, sizeof *f->control);
    return f->views && f->owned && f->current && f->inputs && f->outputs && f->first_input && f->first_output &&
           f->types && f->infer_values && f->control;
}

ingot_status ingot_frame_create(ingot_plan *plan, ingot_budget *budget, ingot_frame **frame, ingot_error *error)
{
    *frame = NULL;
    ingot_frame *f = ingot_calloc(1, sizeof *f);
    if (!f)
        return ingot_fail_memory(error, sizeof *f, "a context");
    f->plan = plan;
    ingot_budget_init_part(&f->budget, budget);
    if (!alloc_frame(f)) {
        ingot_frame_release(f);
        return ingot_fail_memory(error, plan->slot_count * sizeof *f->views, "a context");
    }
    size_t outputs;
    count_operands(plan, f->first_input, f->first_output, &outputs);
    for (size_t i = 0; i < plan->slot_count; i++) {
        f->owned[i].budget = &f->budget;
        if (plan->slots[i].place != INGOT_PLACE_CONSTANT)
            continue;
        f->views[i] = *plan->slots[i].value->constant;
        f->views[i].owns_data = false;
        f->views[i].fixed = true;
        f->current[i] = &f->views[i];
    }
    *frame = f;
    return INGOT_OK;
}

void ingot_frame_trim(ingot_frame *f)
{
    for (size_t i = 0; f->owned && i < f->plan->slot_count; i++)
        ingot_value_clear(&f->owned[i]);
    for (size_t i = 0; f->control && i < f->plan->step_count; i++)
        ingot_control_release(&f->plan->steps[i], &f->control[i]);
    ingot_block_release(&f->arena, &f->budget);
    ingot_block_release(&f->scratch, &f->budget);
    ingot_block_release(&f->workspace, &f->budget);
    ingot_layout_release(f->layout);
    f->layout = NULL;
    atomic_store(&f->arena_bytes, 0);
    atomic_store(&f->arena_bound, 0);
}

void ingot_frame_forget_found(ingot_frame *f)
{
    for (size_t i = 0; i < f->plan->slot_count; i++)
        if (!f->layout || !f->layout->slots[i].known)
            ingot_value_clear(&f->owned[i]);
    for (size_t i = 0; i < f->plan->step_count; i++)
        ingot_control_release(&f->plan->steps[i], &f->control[i]);
    ingot_block_release(&f->workspace, &f->budget);
}

void ingot_frame_release(ingot_frame *f)
{
    if (!f)
        return;
    ingot_frame_trim(f);
    ingot_free(f->views);
    ingot_free(f->owned);
    ingot_free(f->current);
    ingot_free(f->inputs);
    ingot_free(f->outputs);
    ingot_free(f->first_input);
    ingot_free(f->first_output);
    ingot_free(f->types);
    ingot_free(f->infer_values);
    ingot_free(f->control);
    ingot_free(f);
}

const ingot_value *ingot_frame_output(const ingot_frame *frame, size_t index)
{
    return frame->current[frame->plan->graph->outputs[index]->id];
}

/* ---- Laying out ---- */

ingot_status ingot_frame_size_buffer(ingot_frame *f, size_t slot, ingot_element element, int rank, const int64_t *dims,
                                     ingot_error *error)
{
    ingot_value *owned = &f->owned[slot];
    size_t bytes;
    if (f->plan->slots[slot].layout != INGOT_LAYOUT_PLAIN) { /* as bytes first: it may need more than its elements */
        if (!ingot_plan_slot_bytes(f->plan, slot, element, rank, dims, &bytes))
            return ingot_fail(error, INGOT_OUT_OF_MEMORY, "value '%s' would be beyond any memory",
                              f->plan->slots[slot].value->name);
        INGOT_TRY(ingot_value_set_tensor_within(&f->budget, owned, INGOT_UINT8, 1, &(int64_t){(int64_t)bytes}, error));
    }
    return ingot_value_set_tensor_within(&f->budget, owned, element, rank, dims, error);
}

static void set_view(ingot_value *view, const ingot_layout *layout, size_t slot, void *data, size_t capacity)
{
    const ingot_layout_slot *s = &layout->slots[slot];
    ingot_value_set_view(view, s->element, s->rank, layout->dims + s->dims, data, capacity);
    view->fixed = true;
}

/* Memory of a buffer slot under the frame's layout. */
static ingot_status place_buffer(ingot_frame *f, size_t slot, const ingot_run *run)
{
    const ingot_layout_slot *s = &f->layout->slots[slot];
    if (s->known && s->offset != INGOT_NO_SLOT) {
        set_view(&f->views[slot], f->layout, slot, f->arena.data + s->offset, s->bytes);
        f->current[slot] = &f->views[slot];
        return INGOT_OK;
    }
    f->current[slot] = &f->owned[slot];
    if (!s->known)
        return INGOT_OK;
    return ingot_frame_size_buffer(f, slot, s->element, s->rank, f->layout->dims + s->dims, run->error);
}

static void link_operands(ingot_frame *f)
{
    for (size_t i = 0; i < f->plan->step_count; i++) {
        const ingot_plan_step *step = &f->plan->steps[i];
        for (size_t k = 0; k < step->input_count; k++)
            f->inputs[f->first_input[i] + k] = step->inputs[k] == INGOT_NO_SLOT ? NULL : f->current[step->inputs[k]];
        for (size_t k = 0; k < step->output_count; k++)
            f->outputs[f->first_output[i] + k] =
                step->outputs[k] == INGOT_NO_SLOT ? NULL : f->current[step->outputs[k]];
    }
}

/* Takes the layout over. On failure the frame has none, and the next run starts anew. */
static ingot_status apply_layout(ingot_frame *f, ingot_layout *layout, const ingot_run *run)
{
    const ingot_plan *plan = f->plan;
    ingot_layout_release(f->layout);
    f->layout = NULL;
    ingot_status status =
        ingot_block_reserve(&f->arena, layout->arena_bytes, &f->budget, "the arena of a context", run->error);
    f->layout = layout;
    for (size_t i = 0; i < plan->slot_count && status == INGOT_OK; i++) {
        if (plan->slots[i].place == INGOT_PLACE_BUFFER)
            status = place_buffer(f, i, run);
        else if (plan->slots[i].place == INGOT_PLACE_VIEW || plan->slots[i].place == INGOT_PLACE_INPUT)
            f->current[i] = &f->views[i];
        if (plan->slots[i].place == INGOT_PLACE_VIEW && layout->slots[i].known)
            set_view(&f->views[i], layout, i, NULL, 0);
    }
    if (status != INGOT_OK) {
        ingot_layout_release(layout);
        f->layout = NULL;
        return status;
    }
    atomic_store(&f->arena_bytes, layout->arena_bytes);
    atomic_store(&f->arena_bound, layout->arena_bound);
    link_operands(f);
    return INGOT_OK;
}

ingot_status ingot_frame_prepare(ingot_frame *f, const ingot_value *const *inputs, const ingot_run *run)
{
    ingot_layout *layout;
    INGOT_TRY(ingot_plan_layout(f->plan, inputs, run->threads, &layout, run->error));
    if (layout == f->layout)
        ingot_layout_release(layout);
    else
        INGOT_TRY(apply_layout(f, layout, run));
    ingot_block_touch(&f->arena, run->threads, run->touch_until);
    return INGOT_OK;
}

/* ---- Inputs and outputs ---- */

void ingot_frame_load_inputs(ingot_frame *f, const ingot_value *const *inputs)
{
    for (size_t i = 0; i < f->plan->graph->input_count; i++) {
        ingot_value *view = &f->views[f->plan->graph->inputs[i]->id];
        *view = *inputs[i];
        view->owns_data = false;
        view->fixed = true;
    }
}

ingot_status ingot_frame_check_bound(const ingot_frame *f, size_t output, const ingot_value *target,
                                     ingot_element element, int rank, const int64_t *dims, ingot_error *error)
{
    if (target->kind == INGOT_KIND_TENSOR && target->element == element && target->rank == rank &&
        memcmp(target->dims, dims, (size_t)rank * sizeof *dims) == 0)
        return INGOT_OK;
    char have[200], want[200];
    return ingot_fail(error, INGOT_INVALID_INPUT, "output '%s' is %s%s, but the value bound to it is %s",
                      f->plan->graph->output_names[output], ingot_element_name(element),
                      ingot_dims_describe(rank, dims, want, sizeof want),
                      ingot_value_describe(target, have, sizeof have));
}

void ingot_frame_touch_outputs(const ingot_frame *f, const ingot_run *run)
{
    for (size_t i = 0; i < f->plan->graph->output_count; i++) {
        const ingot_value *owned = &f->owned[f->plan->slots[f->plan->graph->outputs[i]->id].root];
        if (owned->owns_data && owned->element != INGOT_STRING)
            ingot_memory_touch(owned->data, owned->capacity, run->threads, run->touch_until);
    }
}

/* Memory of the frame's own for an output of so many bytes, made and touched before the run, becomes that of a new value, unless
 * it was made for a much larger one. */
static void hand_over(ingot_frame *f, ingot_value *owned, size_t bytes, ingot_value *to)
{
    if (to->data || to->fixed || to->budget || !owned->owns_data || owned->capacity / 2 > bytes)
        return;
    ingot_budget_give(&f->budget, owned->capacity);
    to->data = owned->data;
    to->capacity = owned->capacity;
    to->owns_data = true;
    owned->data = NULL;
    owned->capacity = 0;
    owned->owns_data = false;
}

/* Lets the step that makes an output write the target itself, where shapes are known and no other output shares the
 * memory. Else the output is copied after the run. */
static ingot_status aim_output(ingot_frame *f, size_t output, const ingot_target *target, const ingot_run *run)
{
    const ingot_plan *plan = f->plan;
    size_t slot = plan->graph->outputs[output]->id, root = plan->slots[slot].root;
    const ingot_layout_slot *s = &f->layout->slots[slot], *r = &f->layout->slots[root];
    if (target->value && target->bound && s->known)
        INGOT_TRY(ingot_frame_check_bound(f, output, target->value, s->element, s->rank, f->layout->dims + s->dims,
                                          run->error));
    if (plan->slots[root].place != INGOT_PLACE_BUFFER || !s->known || !r->known)
        return INGOT_OK;
    for (size_t i = 0; i < output; i++)
        if (plan->slots[plan->graph->outputs[i]->id].root == root)
            return INGOT_OK;
    if (!target->value)
        return place_buffer(f, root, run);
    if (!target->bound) {
        hand_over(f, &f->owned[root], r->bytes, target->value);
        INGOT_TRY(ingot_value_set_tensor_within(&f->budget, target->value, s->element, s->rank,
                                                f->layout->dims + s->dims, run->error));
    }
    set_view(&f->views[root], f->layout, root, target->value->data, r->bytes);
    f->current[root] = &f->views[root];
    return INGOT_OK;
}

ingot_status ingot_frame_aim_outputs(ingot_frame *f, const ingot_target *targets, const ingot_run *run)
{
    for (size_t i = 0; i < f->plan->graph->output_count; i++)
        INGOT_TRY(aim_output(f, i, &targets[i], run));
    for (size_t i = 0; i < f->plan->graph->output_count; i++) {
        size_t root = f->plan->slots[f->plan->graph->outputs[i]->id].root;
        if (f->plan->slots[root].place != INGOT_PLACE_BUFFER)
            continue;
        for (size_t u = 0; u < f->plan->slots[root].operand_count; u++) {
            const ingot_operand *o = &f->plan->slots[root].operands[u];
            if (o->is_output)
                f->outputs[f->first_output[o->step] + o->index] = f->current[root];
            else
                f->inputs[f->first_input[o->step] + o->index] = f->current[root];
        }
    }
    return INGOT_OK;
}

ingot_status ingot_frame_deliver(ingot_frame *f, size_t output, const ingot_target *target, const ingot_run *run)
{
    const ingot_value *value = ingot_frame_output(f, output);
    ingot_value *to = target->value;
    if (!to || (value->data && to->data == value->data))
        return INGOT_OK;
    if (!target->bound)
        return ingot_value_copy(to, value, run->error);
    if (value->kind != INGOT_KIND_TENSOR) {
        char have[200], want[200];
        return ingot_fail(run->error, INGOT_INVALID_INPUT, "output '%s' is %s, but the value bound to it is %s",
                          f->plan->graph->output_names[output], ingot_value_describe(value, want, sizeof want),
                          ingot_value_describe(to, have, sizeof have));
    }
    INGOT_TRY(ingot_frame_check_bound(f, output, to, value->element, value->rank, value->dims, run->error));
    if (value->element == INGOT_STRING)
        return ingot_value_copy(to, value, run->error);
    memcpy(to->data, value->data, ingot_value_bytes(value));
    return INGOT_OK;
}

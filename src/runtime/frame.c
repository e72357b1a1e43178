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

ingot_status ingot_frame_create(ingot_plan *plan, ingot_frame **frame, ingot_error *error)
{
    *frame = NULL;
    ingot_frame *f = ingot_calloc(1, sizeof *f);
    if (!f)
        return ingot_fail_memory(error, sizeof *f, "a context");
    f->plan = plan;
    if (!alloc_frame(f)) {
        ingot_frame_release(f);
        return ingot_fail_memory(error, plan->slot_count * sizeof *f->views, "a context");
    }
    size_t outputs;
    count_operands(plan, f->first_input, f->first_output, &outputs);
    for (size_t i = 0; i < plan->slot_count; i++) {
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

void ingot_frame_release(ingot_frame *f)
{
    if (!f)
        return;
    ingot_budget *budget = f->plan->budget;
    for (size_t i = 0; f->owned && i < f->plan->slot_count; i++)
        ingot_value_clear(&f->owned[i]);
    for (size_t i = 0; f->control && i < f->plan->step_count; i++)
        ingot_control_release(&f->plan->steps[i], &f->control[i]);
    if (f->arena)
        ingot_budget_give(budget, f->arena_capacity);
    ingot_budget_give(budget, f->scratch.capacity + f->workspace.capacity);
    ingot_free(f->arena);
    ingot_free(f->scratch.data);
    ingot_free(f->workspace.data);
    ingot_layout_release(f->layout);
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

size_t ingot_frame_bytes(const ingot_frame *f)
{
    size_t bytes = f->arena_capacity + f->scratch.capacity + f->workspace.capacity;
    for (size_t i = 0; i < f->plan->slot_count; i++)
        bytes += f->owned[i].owns_data ? f->owned[i].capacity : 0;
    for (size_t i = 0; i < f->plan->step_count; i++)
        bytes += ingot_control_bytes(&f->plan->steps[i], &f->control[i]);
    return bytes;
}

const ingot_value *ingot_frame_output(const ingot_frame *frame, size_t index)
{
    return frame->current[frame->plan->graph->outputs[index]->id];
}

/* ---- Laying out ---- */

/* Memory of its own for a buffer slot, and the tensor's shape. */
static ingot_status size_buffer(ingot_frame *f, size_t slot, ingot_element element, int rank, const int64_t *dims,
                                ingot_error *error)
{
    ingot_value *owned = &f->owned[slot];
    size_t bytes;
    if (f->plan->slots[slot].layout != INGOT_LAYOUT_PLAIN) { /* as bytes first: it may need more than its elements */
        if (!ingot_plan_slot_bytes(f->plan, slot, element, rank, dims, &bytes))
            return ingot_fail(error, INGOT_OUT_OF_MEMORY, "value '%s' would be beyond any memory",
                              f->plan->slots[slot].value->name);
        INGOT_TRY(
            ingot_value_set_tensor_within(f->plan->budget, owned, INGOT_UINT8, 1, &(int64_t){(int64_t)bytes}, error));
    }
    return ingot_value_set_tensor_within(f->plan->budget, owned, element, rank, dims, error);
}

static ingot_status grow_block(ingot_budget *budget, char **data, size_t *capacity, size_t bytes, const char *what,
                               ingot_error *error)
{
    if (bytes <= *capacity)
        return INGOT_OK;
    INGOT_TRY(ingot_budget_take(budget, bytes - *capacity, what, error));
    char *memory = ingot_malloc_aligned(bytes);
    if (!memory) {
        ingot_budget_give(budget, bytes - *capacity);
        return ingot_fail_memory(error, bytes, what);
    }
    memset(memory, 0, bytes); /* touched now, not by the first run */
    ingot_free(*data);
    *data = memory;
    *capacity = bytes;
    return INGOT_OK;
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
        set_view(&f->views[slot], f->layout, slot, f->arena + s->offset, s->bytes);
        f->current[slot] = &f->views[slot];
        return INGOT_OK;
    }
    f->current[slot] = &f->owned[slot];
    if (!s->known)
        return INGOT_OK;
    return size_buffer(f, slot, s->element, s->rank, f->layout->dims + s->dims, run->error);
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
    ingot_status status = grow_block(plan->budget, &f->arena, &f->arena_capacity, layout->arena_bytes,
                                     "the arena of a context", run->error);
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
    link_operands(f);
    return INGOT_OK;
}

ingot_status ingot_frame_prepare(ingot_frame *f, const ingot_value *const *inputs, const ingot_run *run)
{
    ingot_layout *layout;
    INGOT_TRY(ingot_plan_layout(f->plan, inputs, run->threads, &layout, run->error));
    if (layout == f->layout) {
        ingot_layout_release(layout);
        return INGOT_OK;
    }
    return apply_layout(f, layout, run);
}

/* ---- Inputs and outputs ---- */

static void load_inputs(ingot_frame *f, const ingot_value *const *inputs)
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
    if (!target->bound)
        INGOT_TRY(ingot_value_set_tensor_within(plan->budget, target->value, s->element, s->rank,
                                                f->layout->dims + s->dims, run->error));
    set_view(&f->views[root], f->layout, root, target->value->data, r->bytes);
    f->current[root] = &f->views[root];
    return INGOT_OK;
}

static ingot_status aim_outputs(ingot_frame *f, const ingot_target *targets, const ingot_run *run)
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

static ingot_status deliver(ingot_frame *f, size_t output, const ingot_target *target, const ingot_run *run)
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

/* ---- Steps ---- */

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
    return size_buffer(f, slot, type->element, type->rank, type->dims, run->error);
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

static ingot_status find_workspace(ingot_frame *f, size_t number, ingot_step *s, const ingot_run *run)
{
    const ingot_plan *plan = f->plan;
    s->workspace_bytes = f->layout->workspace_bytes[number];
    if (s->workspace_bytes != INGOT_NO_SLOT) {
        s->workspace = f->arena + f->layout->workspace_offset[number];
        return INGOT_OK;
    }
    INGOT_TRY(plan->backend->measure(plan->device, s->region, s->tactic, s->inputs,
                                     (const ingot_value *const *)s->outputs, run->threads, &s->workspace_bytes,
                                     run->error));
    INGOT_TRY(grow_block(plan->budget, &f->workspace.data, &f->workspace.capacity, s->workspace_bytes,
                         "the workspace of a kernel", run->error));
    s->workspace = f->workspace.data;
    return INGOT_OK;
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
                    .budget = f->plan->budget,
                    .error = run->error};
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
        INGOT_TRY(size_buffer(f, to, x->element, x->rank, x->dims, run->error));
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
    load_inputs(f, inputs);
    INGOT_TRY(aim_outputs(f, targets, run));
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
        INGOT_TRY(deliver(f, i, &targets[i], run));
    return INGOT_OK;
}

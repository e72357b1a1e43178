/* A plan for one set of input shapes: all sizes, and where in the arena each value lies. */
#include <string.h>

#include "plan/offsets.h"
#include "plan/parts.h"
#include "plan/planner.h"

typedef struct builder {
    ingot_plan *plan;
    ingot_layout *layout;
    ingot_shape_values shapes;
    ingot_offsets offsets;
    ingot_parts parts;
    size_t *spans;              /* [slot]: 1 + number of its block of the arena; 0: none */
    bool *placed;               /* [slot]: it lives now, and nobody else has its block */
    ingot_value *operands;      /* [max_operands]: shapes without data, for measure */
    const ingot_value **inputs; /* into operands */
    const ingot_value **outputs;
    int threads;
    ingot_error *error;
} builder;

/* ---- Shapes ---- */

/* Memory of it can be laid out: a tensor of plain elements whose sizes are all numbers. */
static bool is_known(const ingot_type *type)
{
    if (type->kind != INGOT_KIND_TENSOR || type->rank < 0 || type->element == INGOT_UNDEFINED ||
        type->element == INGOT_STRING)
        return false;
    for (int i = 0; i < type->rank; i++)
        if (!ingot_dim_is_number(type->dims[i]))
            return false;
    return true;
}

static void start_types(builder *b, const ingot_value *const *inputs)
{
    const ingot_graph *g = b->plan->graph;
    for (size_t i = 0; i < b->plan->slot_count; i++) {
        const ingot_slot *s = &b->plan->slots[i];
        if (s->place == INGOT_PLACE_CONSTANT)
            b->shapes.types[i] = ingot_type_of_value(s->value->constant);
    }
    for (size_t i = 0; i < g->input_count; i++)
        b->shapes.types[g->inputs[i]->id] =
            inputs[i]->kind == INGOT_KIND_TENSOR ? ingot_type_of_value(inputs[i]) : g->inputs[i]->type;
}

/* What control flow gives is found out by running it. */
static void unknown_outputs(builder *b, const ingot_plan_step *step)
{
    for (size_t i = 0; i < step->output_count; i++) {
        if (step->outputs[i] == INGOT_NO_SLOT)
            continue;
        const ingot_graph_value *value = b->plan->slots[step->outputs[i]].value;
        ingot_type *type = &b->shapes.types[value->id];
        *type = value->type;
        type->rank = -1;
    }
}

static ingot_status record_slot(builder *b, size_t slot)
{
    const ingot_type *type = &b->shapes.types[b->plan->slots[slot].value->id];
    ingot_layout_slot *s = &b->layout->slots[slot];
    s->element = (uint8_t)type->element;
    s->offset = INGOT_NO_SLOT;
    s->known = is_known(type);
    if (!s->known)
        return INGOT_OK;
    s->rank = (uint8_t)type->rank;
    s->dims = (uint32_t)(slot * INGOT_MAX_RANK);
    if (!ingot_plan_slot_bytes(b->plan, slot, type->element, type->rank, type->dims, &s->bytes)) {
        char text[256];
        return ingot_fail(b->error, INGOT_OUT_OF_MEMORY, "value '%s' would have the size %s, beyond any memory",
                          b->plan->slots[slot].value->name,
                          ingot_dims_describe(type->rank, type->dims, text, sizeof text));
    }
    memcpy(b->layout->dims + s->dims, type->dims, (size_t)type->rank * sizeof *type->dims);
    return INGOT_OK;
}

/* Shapes of all that a region's nodes make, whatever has memory in the plain layout: its arithmetic is counted from them. */
static ingot_status record_inner(builder *b, const ingot_plan_step *step)
{
    for (size_t n = 0; n < step->region.node_count; n++)
        for (size_t i = 0; i < step->region.nodes[n]->output_count; i++)
            if (step->region.nodes[n]->outputs[i])
                INGOT_TRY(record_slot(b, step->region.nodes[n]->outputs[i]->id));
    return INGOT_OK;
}

static ingot_status shape_step(builder *b, const ingot_plan_step *step)
{
    if (step->kind == INGOT_STEP_CONTROL)
        unknown_outputs(b, step);
    else if (step->kind != INGOT_STEP_REORDER)
        INGOT_TRY(ingot_plan_shape_step(b->plan, step, &b->shapes, b->error));
    INGOT_TRY(record_inner(b, step));
    for (size_t i = 0; i < step->output_count; i++) {
        if (step->outputs[i] == INGOT_NO_SLOT)
            continue;
        ingot_status status = record_slot(b, step->outputs[i]);
        if (status != INGOT_OK)
            return ingot_node_fail_at(step->node, b->error), status;
    }
    return INGOT_OK;
}

/* ---- Memory ---- */

/* Input 0 ends here and output 0 is just like it: the output takes its block. */
static bool take_over(builder *b, const ingot_plan_step *step, size_t number)
{
    const ingot_plan *plan = b->plan;
    if (!(step->region.flags & INGOT_OP_IN_PLACE) || step->input_count == 0 || step->inputs[0] == INGOT_NO_SLOT ||
        step->outputs[0] == INGOT_NO_SLOT)
        return false;
    size_t in = step->inputs[0], root = plan->slots[in].root, out = step->outputs[0];
    const ingot_layout_slot *x = &b->layout->slots[in], *y = &b->layout->slots[out];
    if (b->parts.whole[root] || b->parts.living[root] || b->parts.whole[out] || b->parts.living[out])
        return false;
    if (!b->placed[root] || plan->slots[root].last_step != number || plan->slots[out].escapes || !y->known ||
        !x->known || x->element != y->element || x->bytes != y->bytes || x->rank != y->rank ||
        b->layout->slots[root].bytes != y->bytes || plan->slots[in].layout != plan->slots[out].layout ||
        memcmp(b->layout->dims + x->dims, b->layout->dims + y->dims, (size_t)x->rank * sizeof(int64_t)) != 0)
        return false;
    for (size_t i = 1; i < step->input_count; i++)
        if (step->inputs[i] != INGOT_NO_SLOT && plan->slots[step->inputs[i]].root == root)
            return false;
    b->spans[out] = b->spans[root];
    b->placed[root] = false;
    b->placed[out] = true;
    return true;
}

static ingot_status place_outputs(builder *b, const ingot_plan_step *step, size_t number)
{
    bool taken = step->kind == INGOT_STEP_REGION && step->output_count > 0 && take_over(b, step, number);
    for (size_t i = taken; i < step->output_count; i++) {
        size_t slot = step->outputs[i];
        if (slot == INGOT_NO_SLOT || b->plan->slots[slot].place != INGOT_PLACE_BUFFER || b->plan->slots[slot].escapes ||
            !b->layout->slots[slot].known)
            continue;
        size_t offset, span, whole = ingot_parts_place(&b->parts, slot, &offset);
        if (!b->spans[whole]) {
            INGOT_TRY(ingot_offsets_begin(&b->offsets, b->layout->slots[whole].bytes, number, &span, b->error));
            b->spans[whole] = span + 1;
        }
        b->spans[slot] = b->spans[whole];
        b->placed[slot] = true;
    }
    return INGOT_OK;
}

static void free_ended(builder *b, const size_t *slots, size_t count, size_t number)
{
    for (size_t i = 0; i < count; i++) {
        if (slots[i] == INGOT_NO_SLOT)
            continue;
        size_t root = b->plan->slots[slots[i]].root;
        if (!b->placed[root] || b->plan->slots[root].last_step > number)
            continue;
        size_t offset, whole = ingot_parts_place(&b->parts, root, &offset);
        b->placed[root] = false;
        if (b->parts.living[whole] == 0 || --b->parts.living[whole] == 0)
            ingot_offsets_end(&b->offsets, b->spans[root] - 1, number);
    }
}

/* ---- Workspace ---- */

static bool shape_operands(builder *b, const size_t *slots, size_t count, ingot_value *values, const ingot_value **list)
{
    for (size_t i = 0; i < count; i++) {
        list[i] = NULL;
        if (slots[i] == INGOT_NO_SLOT)
            continue;
        const ingot_type *type = &b->shapes.types[b->plan->slots[slots[i]].value->id];
        ingot_value_init(&values[i]);
        if (type->kind == INGOT_KIND_TENSOR && !is_known(type) && type->element != INGOT_STRING)
            return false;
        values[i].kind = type->kind;
        values[i].element = type->element;
        values[i].rank = type->rank > 0 ? type->rank : 0;
        memcpy(values[i].dims, type->dims, sizeof values[i].dims);
        list[i] = &values[i];
    }
    return true;
}

static ingot_status measure(builder *b, const ingot_plan_step *step, size_t number)
{
    size_t bytes = 0;
    b->layout->workspace_offset[number] = b->layout->workspace_bytes[number] = 0;
    if (step->kind != INGOT_STEP_REGION || !b->plan->backend->measure)
        return INGOT_OK;
    if (!shape_operands(b, step->inputs, step->input_count, b->operands, b->inputs) ||
        !shape_operands(b, step->outputs, step->output_count, b->operands + step->input_count, b->outputs)) {
        b->layout->workspace_bytes[number] = INGOT_NO_SLOT; /* measured in the run */
        return INGOT_OK;
    }
    INGOT_TRY(b->plan->backend->measure(b->plan->device, &step->region, &step->tactic, b->inputs, b->outputs,
                                        b->threads, &bytes, b->error));
    b->layout->workspace_bytes[number] = bytes;
    if (bytes == 0)
        return INGOT_OK;
    size_t *span = &b->layout->workspace_offset[number]; /* which becomes the offset when all blocks are known */
    INGOT_TRY(ingot_offsets_begin(&b->offsets, bytes, number, span, b->error));
    ingot_offsets_end(&b->offsets, *span, number);
    return INGOT_OK;
}

/* ---- Building ---- */

static ingot_status place_all(builder *b)
{
    ingot_layout *l = b->layout;
    INGOT_TRY(ingot_offsets_place(&b->offsets, b->error));
    for (size_t i = 0; i < b->plan->slot_count; i++) {
        size_t offset;
        if (!b->spans[i])
            continue;
        ingot_parts_place(&b->parts, i, &offset);
        l->slots[i].offset = b->offsets.spans[b->spans[i] - 1].offset + offset;
    }
    for (size_t i = 0; i < b->plan->step_count; i++)
        if (l->workspace_bytes[i] != 0 && l->workspace_bytes[i] != INGOT_NO_SLOT)
            l->workspace_offset[i] = b->offsets.spans[l->workspace_offset[i]].offset;
    l->arena_bytes = b->offsets.end;
    l->arena_bound = b->offsets.most;
    return INGOT_OK;
}

static ingot_status build(builder *b, const ingot_value *const *inputs)
{
    start_types(b, inputs);
    for (size_t i = 0; i < b->plan->slot_count; i++)
        if (b->plan->slots[i].place == INGOT_PLACE_CONSTANT || b->plan->slots[i].place == INGOT_PLACE_INPUT)
            INGOT_TRY(record_slot(b, i));
    for (size_t i = 0; i < b->plan->step_count; i++)
        INGOT_TRY(shape_step(b, &b->plan->steps[i]));
    INGOT_TRY(ingot_parts_create(b->plan, &b->parts, b->error));
    ingot_parts_find(b->plan, b->layout, &b->parts);
    for (size_t i = 0; i < b->plan->step_count; i++) {
        const ingot_plan_step *step = &b->plan->steps[i];
        INGOT_TRY(place_outputs(b, step, i));
        INGOT_TRY(measure(b, step, i));
        free_ended(b, step->inputs, step->input_count, i);
        free_ended(b, step->outputs, step->output_count, i);
    }
    return place_all(b);
}

static bool alloc_builder(builder *b)
{
    const ingot_plan *plan = b->plan;
    b->shapes.types = ingot_calloc(plan->slot_count + 1, sizeof *b->shapes.types);
    b->shapes.known = ingot_calloc(plan->slot_count + 1, sizeof *b->shapes.known);
    b->shapes.known_counts = ingot_calloc(plan->slot_count + 1, sizeof *b->shapes.known_counts);
    b->shapes.arena = ingot_arena_create();
    b->shapes.scratch = ingot_calloc(plan->max_operands + 1, sizeof *b->shapes.scratch);
    b->spans = ingot_calloc(plan->slot_count + 1, sizeof *b->spans);
    b->placed = ingot_calloc(plan->slot_count + 1, sizeof *b->placed);
    b->operands = ingot_calloc(plan->max_region_operands + 1, sizeof *b->operands);
    b->inputs = ingot_calloc(plan->max_region_operands + 1, sizeof *b->inputs);
    b->outputs = ingot_calloc(plan->max_region_operands + 1, sizeof *b->outputs);
    return b->shapes.types && b->shapes.known && b->shapes.known_counts && b->shapes.arena && b->shapes.scratch &&
           b->spans && b->placed && b->operands && b->inputs && b->outputs;
}

static void free_builder(builder *b)
{
    ingot_free(b->shapes.types);
    ingot_free(b->shapes.known);
    ingot_free(b->shapes.known_counts);
    ingot_arena_release(b->shapes.arena);
    ingot_free(b->shapes.scratch);
    ingot_free(b->spans);
    ingot_free(b->placed);
    ingot_free(b->operands);
    ingot_free(b->inputs);
    ingot_free(b->outputs);
    ingot_offsets_clear(&b->offsets);
    ingot_parts_clear(&b->parts);
}

/* Where these sizes lie among the last few before count; count: not there. */
static size_t find_dims(const int64_t *dims, size_t count, const int64_t *wanted, size_t rank)
{
    enum { LOOKED_AT = 64 };
    for (size_t at = count > LOOKED_AT ? count - LOOKED_AT : 0; at + rank <= count; at++)
        if (memcmp(dims + at, wanted, rank * sizeof *dims) == 0)
            return at;
    return count;
}

/* Sizes lie with room for the greatest rank while they are found out. A layout is kept: without the gaps, and with sizes that
 * follow one another alike once. */
static ingot_status close_gaps(const ingot_plan *plan, ingot_layout *layout, ingot_error *error)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->slot_count; i++) {
        ingot_layout_slot *s = &layout->slots[i];
        if (!s->known)
            continue;
        const int64_t *dims = layout->dims + s->dims; /* never before count: they are moved down, in order */
        const size_t at = find_dims(layout->dims, count, dims, s->rank);
        if (at == count) {
            memmove(layout->dims + count, dims, s->rank * sizeof *dims);
            count += s->rank;
        }
        s->dims = (uint32_t)at;
    }
    int64_t *kept = ingot_realloc(layout->dims, (count + 1) * sizeof *kept);
    if (!kept)
        return ingot_fail_memory(error, count * sizeof *kept, "the layout of a shape");
    layout->dims = kept;
    return INGOT_OK;
}

ingot_status ingot_layout_fill(ingot_plan *plan, const ingot_value *const *inputs, int threads, ingot_layout *layout,
                               ingot_error *error)
{
    builder b = {.plan = plan, .layout = layout, .threads = threads, .error = error};
    ingot_status status = alloc_builder(&b) ? build(&b, inputs) : ingot_fail_memory(error, 0, "the layout of a shape");
    free_builder(&b);
    return status == INGOT_OK ? close_gaps(plan, layout, error) : status;
}

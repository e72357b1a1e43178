/* Values that lie inside of others. Tensors that are joined, or split off, along their outermost axis lie side by side in the whole:
 * where they are made, or stay, at that place, nothing is copied. */
#include "plan/parts.h"

typedef struct finder {
    const ingot_plan *plan;
    const ingot_layout *layout;
    ingot_parts *parts;
} finder;

ingot_status ingot_parts_create(const ingot_plan *plan, ingot_parts *parts, ingot_error *error)
{
    size_t count = plan->slot_count + 1;
    parts->whole = ingot_calloc(count, sizeof *parts->whole);
    parts->offset = ingot_calloc(count, sizeof *parts->offset);
    parts->living = ingot_calloc(count, sizeof *parts->living);
    return parts->whole && parts->offset && parts->living ? INGOT_OK
                                                          : ingot_fail_memory(error, 0, "the layout of a shape");
}

void ingot_parts_clear(ingot_parts *parts)
{
    ingot_free(parts->whole);
    ingot_free(parts->offset);
    ingot_free(parts->living);
}

/* The slot has memory of its own in the arena. */
static bool has_block(const finder *f, size_t slot)
{
    const ingot_slot *s = &f->plan->slots[slot];
    return s->place == INGOT_PLACE_BUFFER && s->root == slot && !s->escapes && f->layout->slots[slot].known &&
           f->layout->slots[slot].bytes > 0;
}

/* Its sizes are the whole's but for one axis, and those before that are 1: in a layout that keeps the order of axes, as backend.h
 * asks of regions that join or split, it lies in one piece. */
static bool is_slice(const finder *f, const ingot_layout_slot *whole, const ingot_layout_slot *part)
{
    const int64_t *a = f->layout->dims + whole->dims, *b = f->layout->dims + part->dims;
    int axis = 0;
    if (whole->rank != part->rank || whole->element != part->element)
        return false;
    while (axis < whole->rank && a[axis] == b[axis] && a[axis] == 1)
        axis++;
    for (int i = axis + 1; i < whole->rank; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

/* Nothing lies between its elements or after them. */
static bool is_dense(const finder *f, const ingot_layout_slot *s)
{
    size_t bytes;
    return ingot_tensor_bytes(s->element, s->rank, f->layout->dims + s->dims, &bytes) && bytes == s->bytes;
}

/* Parts in the order of list fill the whole. */
static bool fit(const finder *f, size_t whole, const size_t *list, size_t count)
{
    const ingot_layout_slot *w = &f->layout->slots[whole];
    size_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        if (list[i] == INGOT_NO_SLOT || !f->layout->slots[list[i]].known)
            return false;
        const ingot_layout_slot *s = &f->layout->slots[list[i]];
        if (f->plan->slots[list[i]].layout != f->plan->slots[whole].layout || !is_slice(f, w, s) ||
            (i + 1 < count && !is_dense(f, s)) || !ingot_add_size(sum, s->bytes, &sum))
            return false;
    }
    return sum == w->bytes;
}

static void add_parts(finder *f, size_t whole, const size_t *list, size_t count)
{
    size_t at = 0;
    if (whole == INGOT_NO_SLOT || !has_block(f, whole) || !fit(f, whole, list, count))
        return;
    for (size_t i = 0; i < count; at += f->layout->slots[list[i++]].bytes) {
        if (list[i] == whole || f->parts->whole[list[i]] || !has_block(f, list[i]) || at % INGOT_ALIGNMENT != 0)
            continue;
        f->parts->whole[list[i]] = whole + 1;
        f->parts->offset[list[i]] = at;
    }
}

size_t ingot_parts_place(const ingot_parts *parts, size_t slot, size_t *offset)
{
    *offset = 0;
    for (; parts->whole[slot]; slot = parts->whole[slot] - 1)
        *offset += parts->offset[slot];
    return slot;
}

void ingot_parts_find(const ingot_plan *plan, const ingot_layout *layout, ingot_parts *parts)
{
    finder f = {plan, layout, parts};
    for (size_t i = plan->step_count;
         i-- > 0;) { /* backwards: a whole that is a part itself is one before its parts are */
        const ingot_plan_step *step = &plan->steps[i];
        if (step->kind != INGOT_STEP_REGION)
            continue;
        if (step->region.flags & INGOT_REGION_JOINS)
            add_parts(&f, step->outputs[0], step->inputs, step->input_count);
        else if (step->region.flags & INGOT_REGION_SPLITS)
            add_parts(&f, step->inputs[0], step->outputs, step->output_count);
    }
    for (size_t i = 0; i < plan->slot_count; i++) {
        size_t offset, top = ingot_parts_place(parts, i, &offset);
        if (top != i)
            parts->living[top] += parts->living[top] == 0 ? 2 : 1;
    }
}

/* Weights in the layouts of their kernels. */
#include <stdlib.h>
#include <string.h>

#include "base/block.h"
#include "plan/planner.h"

/* Bytes of a constant that are in memory at a time while it is packed or copied, but for single rows that are longer. */
#define PIECE ((size_t)4 << 20)

static void forget(const ingot_planner *p, const void *data, size_t bytes)
{
    if (p->options->packed)
        p->options->packed(p->options->argument, data, bytes);
}

ingot_status ingot_planner_copy_constant(ingot_planner *p, const ingot_value *from, ingot_value **copy)
{
    const size_t bytes = ingot_value_bytes(from);
    INGOT_TRY(ingot_value_create_like(from, copy, p->error));
    for (size_t at = 0; at < bytes; at += PIECE) {
        const size_t size = bytes - at < PIECE ? bytes - at : PIECE;
        memcpy((char *)(*copy)->data + at, (const char *)from->data + at, size);
        forget(p, (const char *)from->data + at, size);
    }
    return INGOT_OK;
}

/* Lets the backend read the constants that only it will read: aligned copies stand in for those that are not aligned, one
 * region at a time. */
static ingot_status pack_whole(ingot_planner *p, ingot_plan_step *step)
{
    const ingot_value *original[32] = {NULL};
    ingot_value *copies[32] = {NULL};
    ingot_status status = INGOT_OK;
    for (size_t i = 0; i < step->region.input_count && i < 32 && status == INGOT_OK; i++) {
        ingot_graph_value *v = step->region.inputs[i];
        if (!(step->region.packed_inputs >> i & 1) || ingot_value_is_aligned(v->constant))
            continue;
        status = ingot_planner_copy_constant(p, v->constant, &copies[i]);
        if (status != INGOT_OK)
            break;
        original[i] = v->constant;
        v->constant = copies[i];
    }
    if (status == INGOT_OK)
        status = p->options->backend->pack(p->options->device, &step->region, &step->tactic, step->packed, p->error);
    for (size_t i = 0; i < 32; i++) {
        if (original[i])
            step->region.inputs[i]->constant = original[i];
        ingot_value_release(copies[i]);
    }
    for (size_t i = 0; i < step->region.input_count && i < 32; i++)
        if (step->region.packed_inputs >> i & 1)
            forget(p, step->region.inputs[i]->constant->data, ingot_value_bytes(step->region.inputs[i]->constant));
    return status;
}

/* Where some region reads the constant as it lies all the same, its pages come back. */
static ingot_status pack_by_rows(ingot_planner *p, ingot_plan_step *step)
{
    const ingot_value *from = step->tactic.packed_constant->constant;
    size_t rows = (size_t)from->dims[0], row_bytes = rows > 0 ? ingot_value_bytes(from) / rows : 0;
    size_t units = row_bytes > 0 ? PIECE / row_bytes / INGOT_PACK_ROWS : 0;
    size_t most = (units > 0 ? units : 1) * INGOT_PACK_ROWS;
    void *aligned = NULL;
    most = most < rows ? most : rows;
    if (!ingot_value_is_aligned(from)) {
        aligned = ingot_malloc_aligned(most * row_bytes);
        if (!aligned)
            return ingot_fail_memory(p->error, most * row_bytes, "weights to pack");
    }
    for (size_t row = 0; row < rows; row += most) {
        size_t count = rows - row < most ? rows - row : most;
        const char *data = (const char *)from->data + row * row_bytes;
        if (aligned)
            memcpy(aligned, data, count * row_bytes);
        p->options->backend->pack_rows(p->options->device, &step->region, &step->tactic, row, count,
                                       aligned ? aligned : data, step->packed);
        forget(p, data, count * row_bytes);
    }
    ingot_free(aligned);
    return INGOT_OK;
}

/* What an earlier step has packed of the same constant in the same form, or NULL. */
static void *find_packed(const ingot_plan *plan, const ingot_plan_step *step)
{
    const ingot_tactic *tactic = &step->tactic;
    for (const ingot_plan_step *s = plan->steps; tactic->packed_constant && s < step; s++)
        if (s->packed && s->tactic.packed_constant == tactic->packed_constant &&
            s->tactic.packed_form == tactic->packed_form && s->tactic.packed_bytes == tactic->packed_bytes)
            return s->packed;
    return NULL;
}

static ingot_status pack_step(ingot_planner *p, ingot_plan_step *step)
{
    const size_t bytes = step->tactic.packed_bytes;
    step->packed = find_packed(p->plan, step);
    step->shares_packed = step->packed != NULL;
    if (step->shares_packed)
        return INGOT_OK;
    INGOT_TRY(ingot_budget_take(p->options->budget, bytes, "packed weights", p->error));
    step->packed = ingot_malloc_aligned(bytes);
    if (!step->packed) {
        ingot_budget_give(p->options->budget, bytes);
        return ingot_fail_memory(p->error, bytes, "packed weights");
    }
    ingot_memory_touch(step->packed, bytes, 1, 0);
    p->plan->packed_bytes += bytes;
    return step->tactic.packed_constant ? pack_by_rows(p, step) : pack_whole(p, step);
}

/* What is packed as a whole needs its constants beside it, so the largest goes first, while little else is in memory. The rest keeps
 * the order of the steps. */
static int compare_turns(const void *a, const void *b)
{
    const ingot_plan_step *x = *(ingot_plan_step *const *)a, *y = *(ingot_plan_step *const *)b;
    const size_t whole_x = x->tactic.packed_constant ? 0 : x->tactic.packed_bytes;
    const size_t whole_y = y->tactic.packed_constant ? 0 : y->tactic.packed_bytes;
    if (whole_x != whole_y)
        return whole_x > whole_y ? -1 : 1;
    return x < y ? -1 : x > y;
}

ingot_status ingot_planner_pack(ingot_planner *p)
{
    ingot_plan *plan = p->plan;
    if (plan->step_count == 0)
        return INGOT_OK;
    const size_t bytes = plan->step_count * sizeof(ingot_plan_step *);
    ingot_plan_step **turns = ingot_malloc(bytes);
    if (!turns)
        return ingot_fail_memory(p->error, bytes, "the plan");
    size_t count = 0;
    for (size_t i = 0; i < plan->step_count; i++)
        if (plan->steps[i].kind == INGOT_STEP_REGION && plan->steps[i].tactic.packed_bytes > 0)
            turns[count++] = &plan->steps[i];
    qsort(turns, count, sizeof *turns, compare_turns);
    ingot_status status = INGOT_OK;
    for (size_t i = 0; i < count && status == INGOT_OK; i++)
        status = pack_step(p, turns[i]);
    ingot_free(turns);
    return status;
}

/* Concat and Split of elements of whole bytes: runs that lie side by side. */
#include <string.h>

#include "base/threads.h"
#include "cpu/c16/c16.h"
#include "cpu/extent.h"
#include "cpu/family.h"
#include "ops/join.h"

/* Bytes of the joined tensor that a chunk of work moves. */
#define CHUNK ((size_t)64 << 10)

static ingot_status claim(ingot_cpu_claim *claim, ingot_node *node, bool *claimed)
{
    const ingot_graph_value *x = node->operand_count > 0 ? node->inputs[0] : NULL;
    if ((!ingot_cpu_is(node, "Concat") && !ingot_cpu_is(node, "Split")) || !x || !ingot_cpu_is_copyable(x) ||
        (node->op->flags & (INGOT_OP_SIZES_OUTPUT | INGOT_OP_IN_PLACE)))
        return INGOT_OK;
    INGOT_TRY(ingot_cpu_claim_whole_node(claim, &ingot_cpu_join, node, claimed));
    claim->out->regions[claim->out->count - 1].flags |=
        ingot_cpu_is(node, "Concat") ? INGOT_REGION_JOINS : INGOT_REGION_SPLITS;
    return INGOT_OK;
}

static void tactic(const ingot_region *region, ingot_tactic *tactic)
{
    tactic->name = "copy_runs";
}

/* Joined or split along the channels, and all of it can lie in blocks of them. */
static bool is_of_channels(const ingot_region *region)
{
    const void *params = region->nodes[0]->params;
    bool joins = ingot_cpu_is(region->nodes[0], "Concat");
    const ingot_graph_value *x = region->inputs[0];
    int64_t axis = joins ? ((const ingot_axis_params *)params)->axis : ((const ingot_split_params *)params)->axis;
    if (!ingot_cpu_can_block(x) || ingot_axis_of(axis, x->type.rank) != 1)
        return false;
    size_t inputs = joins ? region->input_count : 1, outputs = region->output_count;
    for (size_t i = 0; i < inputs; i++)
        if (inputs > INGOT_MAX_LAID_OUT || !ingot_cpu_can_block(region->inputs[i]))
            return false;
    for (size_t i = 0; i < outputs; i++)
        if (outputs > INGOT_MAX_LAID_OUT || !ingot_cpu_can_block(region->outputs[i]))
            return false;
    return true;
}

static void blocked(const ingot_region *region, ingot_cpu_tactics *list)
{
    bool joins = ingot_cpu_is(region->nodes[0], "Concat");
    if (is_of_channels(region))
        ingot_cpu_add_blocked(list, region, "copy_c16", joins ? 0 : ~1u);
}

/* Whether the channels lie at their place in what is joined already: there, parts are of whole blocks. */
static bool is_in_place(const ingot_channel_copy *copy, bool joins)
{
    size_t first = joins ? copy->y_first : copy->x_first;
    const float *joined = joins ? copy->y : copy->x, *own = joins ? copy->x : copy->y;
    return first % INGOT_BLOCK == 0 && own == joined + first * copy->image;
}

static void run_blocked(const ingot_step *step)
{
    bool joins = ingot_cpu_is(step->region->nodes[0], "Concat");
    const ingot_value *joined = joins ? step->outputs[0] : step->inputs[0];
    ingot_channel_copy copy = {.batch = (size_t)joined->dims[0],
                               .image = ingot_blocked_image(joined->rank, joined->dims)};
    size_t parts = joins ? step->region->input_count : step->region->output_count, first = 0;
    for (size_t i = 0; i < parts; i++, first += copy.count) {
        const ingot_value *own = joins ? step->inputs[i] : step->outputs[i];
        const ingot_value *x = joins ? own : joined, *y = joins ? joined : own;
        copy.count = (size_t)own->dims[1];
        copy.x = x->data;
        copy.x_channels = (size_t)x->dims[1];
        copy.x_first = joins ? 0 : first;
        copy.y = y->data;
        copy.y_channels = (size_t)y->dims[1];
        copy.y_first = joins ? first : 0;
        if (!is_in_place(&copy, joins))
            ingot_c16_copy_f32(&copy, step->threads);
    }
}

/* Rows of the joined tensor, row bytes each, that a part takes part bytes of, from at on. A chunk is some rows, or a piece of one. */
typedef struct part_task {
    size_t rows, rows_per_chunk, pieces, row, part, at;
    char *joined, *own;
    bool joins; /* from own to joined; else back */
} part_task;

/* One part: short ones by a copy of a size that the compiler knows. */
static inline void copy_part(char *to, const char *from, size_t bytes)
{
    if (bytes == 4)
        memcpy(to, from, 4);
    else if (bytes == 8)
        memcpy(to, from, 8);
    else if (bytes == 16)
        memcpy(to, from, 16);
    else
        memcpy(to, from, bytes);
}

static void run_part(void *argument, size_t chunk, int participant)
{
    const part_task *t = argument;
    if (t->pieces > 1) {
        size_t row = chunk / t->pieces, begin = chunk % t->pieces * CHUNK;
        char *joined = t->joined + row * t->row + t->at + begin, *own = t->own + row * t->part + begin;
        memcpy(t->joins ? joined : own, t->joins ? own : joined, t->part - begin < CHUNK ? t->part - begin : CHUNK);
        return;
    }
    size_t first = chunk * t->rows_per_chunk;
    size_t end = t->rows - first < t->rows_per_chunk ? t->rows : first + t->rows_per_chunk;
    for (size_t i = first; i < end; i++) {
        char *joined = t->joined + i * t->row + t->at, *own = t->own + i * t->part;
        copy_part(t->joins ? joined : own, t->joins ? own : joined, t->part);
    }
}

static void move_part(part_task *t, int threads)
{
    if (t->part == 0 || t->own == t->joined + t->at) { /* empty, or at its place already */
        t->at += t->part;
        return;
    }
    t->rows_per_chunk = t->part < CHUNK ? CHUNK / t->part : 1;
    t->pieces = (t->part + CHUNK - 1) / CHUNK;
    ingot_parallel(threads, (t->rows + t->rows_per_chunk - 1) / t->rows_per_chunk * t->pieces, run_part, t);
    t->at += t->part;
}

static part_task task_of(const ingot_value *joined, int axis, bool joins)
{
    ingot_extent e = ingot_extent_of(joined, axis, axis + 1);
    return (part_task){.rows = e.outer,
                       .row = e.count * e.inner * ingot_element_size(joined->element),
                       .joined = joined->data,
                       .joins = joins};
}

static size_t part_bytes(const part_task *t, const ingot_value *own)
{
    return ingot_value_count(own) / t->rows * ingot_element_size(own->element);
}

static void concat(const ingot_step *step)
{
    const ingot_axis_params *p = step->region->nodes[0]->params;
    ingot_value *y = step->outputs[0];
    if (ingot_value_count(y) == 0)
        return;
    part_task t = task_of(y, ingot_axis_of(p->axis, y->rank), true);
    for (size_t i = 0; i < step->region->input_count; i++) {
        t.own = step->inputs[i]->data;
        t.part = part_bytes(&t, step->inputs[i]);
        move_part(&t, step->threads);
    }
}

/* Outputs that nobody wants have a place in the input all the same: then their sizes must be read. */
static bool split(const ingot_step *step)
{
    const ingot_split_params *p = step->region->nodes[0]->params;
    const ingot_value *x = step->inputs[0];
    if (ingot_value_count(x) == 0)
        return true;
    part_task t = task_of(x, ingot_axis_of(p->axis, x->rank), false);
    for (size_t i = 0; i < step->region->output_count; i++)
        if (!step->outputs[i])
            return false;
    for (size_t i = 0; i < step->region->output_count; i++) {
        t.own = step->outputs[i]->data;
        t.part = part_bytes(&t, step->outputs[i]);
        move_part(&t, step->threads);
    }
    return true;
}

static ingot_status run(const ingot_step *step, bool *declined)
{
    if (ingot_cpu_is_blocked(step))
        run_blocked(step);
    else if (ingot_cpu_is(step->region->nodes[0], "Concat"))
        concat(step);
    else
        *declined = !split(step);
    return INGOT_OK;
}

const ingot_cpu_family ingot_cpu_join = {
    .name = "join", .claim = claim, .tactic = tactic, .blocked = blocked, .run = run};

/* QLinearAdd and QLinearMul on bytes: see their reference for the order of their roundings. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "cpu/int8/bytes.h"
#include "cpu/ref/ref_iterate.h"
#include "cpu/region_int8.h"

enum { A, A_SCALE, A_ZERO, B, B_SCALE, B_ZERO, C_SCALE, C_ZERO };

typedef struct detail {
    bool multiplies;
} detail;

static const detail *detail_of(const ingot_region *region)
{
    return ((const ingot_cpu_region *)region->detail)->detail;
}

static ingot_status claim(ingot_cpu_claim *claim, ingot_node *node, bool *claimed)
{
    detail d = {.multiplies = strcmp(node->op_type, "QLinearMul") == 0};
    ingot_cpu_draft draft;
    if ((!d.multiplies && strcmp(node->op_type, "QLinearAdd") != 0) || strcmp(node->domain, "com.microsoft") != 0 ||
        !node->outputs[0] || !ingot_cpu_draft_node(node, &draft))
        return INGOT_OK;
    draft.detail = &d;
    draft.detail_size = sizeof d;
    return ingot_cpu_claim_region(claim, &ingot_cpu_int8_binary, &draft, claimed);
}

static void tactic(const ingot_region *region, ingot_tactic *tactic)
{
    tactic->name = detail_of(region)->multiplies ? "multiply_bytes" : "add_bytes";
}

/* Where scales are known to be single numbers and both operands have the output's shape, places do not matter. */
static void channels_last(const ingot_region *region, ingot_cpu_tactics *list)
{
    const ingot_graph_value *c = region->outputs[0];
    bool good = ingot_cpu_can_be_channels_last(c) && ingot_cpu_same_shape(region->inputs[A], c) &&
                ingot_cpu_same_shape(region->inputs[B], c);
    for (size_t i = A; i < region->input_count && good; i++)
        good =
            i == A || i == B || !region->inputs[i] ||
            (ingot_graph_value_is_constant(region->inputs[i]) && ingot_value_count(region->inputs[i]->constant) == 1);
    if (good)
        ingot_cpu_add_channels_last(list, list->list[0].name, 1u << A | 1u << B);
}

/* ---- Operands ---- */

typedef struct binary {
    const ingot_step *step;
    bool multiplies;
    ingot_int8_sum sum;
    ingot_int8_times times;
} binary;

static float scale_at(const ingot_step *step, size_t index)
{
    return *(const float *)step->inputs[index]->data;
}

static float number_at(const ingot_value *v, int64_t index)
{
    return v ? (float)ingot_load_i64(v->element, v->data, (size_t)index) : 0;
}

static binary load(const ingot_step *step)
{
    bool is_signed = step->outputs[0]->element == INGOT_INT8;
    float a_scale = scale_at(step, A_SCALE), b_scale = scale_at(step, B_SCALE), c_scale = scale_at(step, C_SCALE);
    float a_zero = number_at(ingot_int8_input(step, A_ZERO), 0), b_zero = number_at(ingot_int8_input(step, B_ZERO), 0);
    float c_zero = number_at(ingot_int8_input(step, C_ZERO), 0);
    binary b = {.step = step, .multiplies = detail_of(step->region)->multiplies};
    b.sum = (ingot_int8_sum){.a_ratio = a_scale / c_scale, .b_ratio = b_scale / c_scale, .is_signed = is_signed};
    float b_part = b.sum.b_ratio * b_zero;
    b.sum.fixed = c_zero - fmaf(b.sum.a_ratio, a_zero, b_part);
    b.times = (ingot_int8_times){.a_zero = (int32_t)a_zero,
                                 .b_zero = (int32_t)b_zero,
                                 .ratio = a_scale * b_scale / c_scale,
                                 .fixed = c_zero,
                                 .is_signed = is_signed};
    return b;
}

/* ---- Runs ---- */

/* Where an operand is one number in a run, it is part of what is fixed. */
static void add_run(const binary *op, const ingot_walk *walk, const char *a, const char *b, char *c)
{
    const ingot_step *step = op->step;
    ingot_int8_sum s = op->sum;
    if (walk->step[1] == 0) {
        float part = number_at(step->inputs[A], walk->offset[1]) * s.a_ratio;
        s.fixed = s.fixed + part;
        s.a_ratio = s.b_ratio;
        a = b;
        b = NULL;
    } else if (walk->step[2] == 0) {
        float part = number_at(step->inputs[B], walk->offset[2]) * s.b_ratio;
        s.fixed = s.fixed + part;
        b = NULL;
    }
    ingot_int8_add(&s, a, b, c, walk->run, step->threads);
}

/* x times one number. */
static void multiply_by(const binary *op, const ingot_int8_times *times, const char *x, char number, char *c,
                        size_t count)
{
    uint8_t bytes[256], numbers[256], table[256];
    memset(numbers, number, sizeof numbers);
    if (count <= sizeof numbers) {
        ingot_int8_multiply_bytes(times, x, numbers, c, count, 1);
        return;
    }
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)i;
    ingot_int8_multiply_bytes(times, bytes, numbers, table, sizeof bytes, 1);
    ingot_int8_look_up(table, x, c, count, op->step->threads);
}

static void multiply_run(const binary *op, const ingot_walk *walk, const char *a, const char *b, char *c)
{
    ingot_int8_times swapped = op->times;
    swapped.a_zero = op->times.b_zero;
    swapped.b_zero = op->times.a_zero;
    if (walk->step[2] == 0)
        multiply_by(op, &op->times, a, *b, c, walk->run);
    else if (walk->step[1] == 0)
        multiply_by(op, &swapped, b, *a, c, walk->run);
    else
        ingot_int8_multiply_bytes(&op->times, a, b, c, walk->run, op->step->threads);
}

static ingot_status run(const ingot_step *step, bool *declined)
{
    static const size_t singles[] = {A_SCALE, A_ZERO, B_SCALE, B_ZERO, C_SCALE, C_ZERO};
    const ingot_value *a = step->inputs[A], *b = step->inputs[B], *c = step->outputs[0];
    for (size_t i = 0; i < sizeof singles / sizeof *singles; i++)
        if (ingot_int8_input(step, singles[i]) && ingot_value_count(ingot_int8_input(step, singles[i])) != 1)
            *declined = true; /* the reference says what is wrong */
    if (*declined)
        return INGOT_OK;
    binary op = load(step);
    ingot_walk walk;
    ingot_walk_init(&walk, c->rank, c->dims);
    ingot_walk_add_broadcast(&walk, a->rank, a->dims);
    ingot_walk_add_broadcast(&walk, b->rank, b->dims);
    for (bool more = ingot_walk_begin(&walk); more; more = ingot_walk_next(&walk)) {
        const char *x = (const char *)a->data + walk.offset[1], *z = (const char *)b->data + walk.offset[2];
        char *to = (char *)c->data + walk.offset[0];
        if (op.multiplies)
            multiply_run(&op, &walk, x, z, to);
        else
            add_run(&op, &walk, x, z, to);
    }
    return INGOT_OK;
}

const ingot_cpu_family ingot_cpu_int8_binary = {
    .name = "int8_binary", .claim = claim, .tactic = tactic, .blocked = channels_last, .run = run};

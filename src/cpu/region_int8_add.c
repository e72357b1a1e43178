/* QLinearAdd on bytes: see its reference for the order of its roundings. */
#include <math.h>
#include <string.h>

#include "cpu/family.h"
#include "cpu/int8/bytes.h"
#include "cpu/ref/ref_iterate.h"

enum { A, A_SCALE, A_ZERO, B, B_SCALE, B_ZERO, C_SCALE, C_ZERO };

static ingot_status claim(ingot_cpu_claim *claim, ingot_node *node, bool *claimed)
{
    ingot_cpu_draft draft;
    if (strcmp(node->op_type, "QLinearAdd") != 0 || strcmp(node->domain, "com.microsoft") != 0 || !node->outputs[0] ||
        !ingot_cpu_draft_node(node, &draft))
        return INGOT_OK;
    return ingot_cpu_claim_region(claim, &ingot_cpu_int8_add, &draft, claimed);
}

static void tactic(const ingot_region *region, ingot_tactic *tactic)
{
    tactic->name = "add_bytes";
}

static const ingot_value *input_at(const ingot_step *step, size_t index)
{
    return index < step->region->input_count ? step->inputs[index] : NULL;
}

static float scale_at(const ingot_step *step, size_t index)
{
    return *(const float *)step->inputs[index]->data;
}

static float number_at(const ingot_value *v, int64_t index)
{
    return v ? (float)ingot_load_i64(v->element, v->data, (size_t)index) : 0;
}

/* Where an operand is one number in a run, it is part of what is fixed. */
static void add_run(const ingot_step *step, const ingot_int8_sum *sum, const ingot_walk *walk)
{
    const ingot_value *a = step->inputs[A], *b = step->inputs[B];
    const char *a_data = (const char *)a->data + walk->offset[1], *b_data = (const char *)b->data + walk->offset[2];
    char *c = (char *)step->outputs[0]->data + walk->offset[0];
    ingot_int8_sum s = *sum;
    if (walk->step[1] == 0) {
        float part = number_at(a, walk->offset[1]) * s.a_ratio;
        s.fixed = s.fixed + part;
        s.a_ratio = s.b_ratio;
        a_data = b_data;
        b_data = NULL;
    } else if (walk->step[2] == 0) {
        float part = number_at(b, walk->offset[2]) * s.b_ratio;
        s.fixed = s.fixed + part;
        b_data = NULL;
    }
    ingot_int8_add(&s, a_data, b_data, c, walk->run, step->threads);
}

static ingot_status run(const ingot_step *step, bool *declined)
{
    static const size_t singles[] = {A_SCALE, A_ZERO, B_SCALE, B_ZERO, C_SCALE, C_ZERO};
    const ingot_value *a = step->inputs[A], *b = step->inputs[B], *c = step->outputs[0];
    for (size_t i = 0; i < sizeof singles / sizeof *singles; i++)
        if (input_at(step, singles[i]) && ingot_value_count(input_at(step, singles[i])) != 1)
            *declined = true; /* the reference says what is wrong */
    if (*declined)
        return INGOT_OK;
    ingot_int8_sum sum = {.is_signed = c->element == INGOT_INT8};
    sum.a_ratio = scale_at(step, A_SCALE) / scale_at(step, C_SCALE);
    sum.b_ratio = scale_at(step, B_SCALE) / scale_at(step, C_SCALE);
    float b_part = sum.b_ratio * number_at(input_at(step, B_ZERO), 0);
    sum.fixed = number_at(input_at(step, C_ZERO), 0) - fmaf(sum.a_ratio, number_at(input_at(step, A_ZERO), 0), b_part);
    ingot_walk walk;
    ingot_walk_init(&walk, c->rank, c->dims);
    ingot_walk_add_broadcast(&walk, a->rank, a->dims);
    ingot_walk_add_broadcast(&walk, b->rank, b->dims);
    for (bool more = ingot_walk_begin(&walk); more; more = ingot_walk_next(&walk))
        add_run(step, &sum, &walk);
    return INGOT_OK;
}

const ingot_cpu_family ingot_cpu_int8_add = {.name = "int8_add", .claim = claim, .tactic = tactic, .run = run};

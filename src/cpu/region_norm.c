/* LayerNormalization, RMSNormalization, InstanceNormalization and GroupNormalization on floats. */
#include "cpu/c16/c16.h"
#include "cpu/extent.h"
#include "cpu/family.h"
#include "cpu/reduce/reduce.h"
#include "ops/norm.h"

typedef enum kind { LAYER, ROOT_MEAN_SQUARE, INSTANCE, GROUP } kind;

typedef struct detail {
    kind kind;
    ingot_cpu_epilogue epilogue; /* of INSTANCE alone */
} detail;

static const detail *detail_of(const ingot_region *region)
{
    return ((const ingot_cpu_region *)region->detail)->detail;
}

static bool kind_of(const ingot_node *node, kind *k)
{
    static const struct {
        const char *op_type;
        kind kind;
    } entries[] = {{"LayerNormalization", LAYER},
                   {"RMSNormalization", ROOT_MEAN_SQUARE},
                   {"InstanceNormalization", INSTANCE},
                   {"GroupNormalization", GROUP}};
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        *k = entries[i].kind;
        if (ingot_cpu_is(node, entries[i].op_type))
            return true;
    }
    return false;
}

static ingot_status claim(ingot_cpu_claim *claim, ingot_node *node, bool *claimed)
{
    detail d = {.epilogue = {.column_bias = SIZE_MAX, .add = SIZE_MAX}};
    ingot_cpu_draft draft;
    if (!kind_of(node, &d.kind) || !node->outputs[0] || !ingot_cpu_draft_node(node, &draft))
        return INGOT_OK;
    for (size_t i = 0; i < node->operand_count; i++)
        if (node->inputs[i] && !ingot_cpu_is_float(node->inputs[i]))
            return INGOT_OK;
    for (size_t i = 1; i < node->output_count; i++) /* mean and inverse deviation */
        if (node->outputs[i] && node->outputs[i]->type.element != INGOT_FLOAT)
            return INGOT_OK;
    if (d.kind == INSTANCE && node->inputs[0]->type.rank >= 2)
        ingot_cpu_absorb(claim, &draft, 0, &d.epilogue);
    draft.detail = &d;
    draft.detail_size = sizeof d;
    draft.flags = INGOT_OP_IN_PLACE;
    return ingot_cpu_claim_region(claim, &ingot_cpu_normalization, &draft, claimed);
}

static void tactic(const ingot_region *region, ingot_tactic *tactic)
{
    tactic->name = "norm_f32";
}

static void blocked(const ingot_region *region, ingot_cpu_tactics *list)
{
    if (detail_of(region)->kind == INSTANCE && ingot_cpu_can_block(region->inputs[0]))
        ingot_cpu_add_blocked(list, region, "norm_c16", 1u << 1 | 1u << 2);
}

/* An operand that is the same for all rows and has one number for each of a row's elements. Rows are the last axes. */
static bool fits_row(const ingot_value *v, int axes, size_t count)
{
    int first = v->rank > axes ? v->rank - axes : 0;
    return ingot_value_count(v) == count && ingot_sizes_product(v->dims, first, v->rank) == count;
}

static bool run_layer(const ingot_step *step, bool root_mean_square)
{
    const ingot_layer_norm_params *p = step->region->nodes[0]->params;
    const ingot_value *x = step->inputs[0];
    size_t inputs = step->region->input_count, outputs = step->region->output_count;
    if (x->rank == 0)
        return false;
    int axis = ingot_axis_of(p->axis, x->rank);
    ingot_extent e = ingot_extent_of(x, axis, x->rank);
    const ingot_value *operands[2] = {inputs > 1 ? step->inputs[1] : NULL, inputs > 2 ? step->inputs[2] : NULL};
    for (int i = 0; i < 2; i++)
        if (operands[i] && !fits_row(operands[i], x->rank - axis, e.count))
            return false;
    ingot_layer_norm norm = {.rows = e.outer,
                             .count = e.count,
                             .root_mean_square = root_mean_square,
                             .epsilon = p->epsilon,
                             .x = x->data,
                             .scale = operands[0] ? operands[0]->data : NULL,
                             .bias = operands[1] ? operands[1]->data : NULL,
                             .y = step->outputs[0]->data,
                             .mean = outputs > 1 && step->outputs[1] ? step->outputs[1]->data : NULL,
                             .inverse = outputs > 2 && step->outputs[2] ? step->outputs[2]->data : NULL};
    ingot_layer_norm_f32(&norm, step->threads);
    return true;
}

/* What follows a normalization in the plain layout. */
static void run_epilogue(const ingot_step *step, const ingot_cpu_epilogue *e)
{
    float *y = step->outputs[0]->data;
    const size_t count = ingot_value_count(step->outputs[0]);
    const ptrdiff_t stride = 1;
    if (e->activation.kind != INGOT_UNARY_IDENTITY && (e->add == SIZE_MAX || e->add_last))
        ingot_unary_f32(&e->activation, y, y, count, step->threads);
    if (e->add == SIZE_MAX)
        return;
    ingot_binary op = {.kind = INGOT_BINARY_ADD, .rank = 1, .dims = &count, .a = y, .y = y};
    op.b = step->inputs[e->add]->data;
    op.a_strides = op.b_strides = &stride;
    if (!e->add_last)
        op.then = e->activation;
    ingot_binary_f32(&op, step->threads);
}

/* In the blocked layout; sizes are those of values alone where they have no data. */
static ingot_c16_norm blocked_norm(const ingot_region *region, const ingot_value *const *inputs)
{
    const ingot_cpu_epilogue *e = &detail_of(region)->epilogue;
    const ingot_value *x = inputs[0];
    return (ingot_c16_norm){.batch = (size_t)x->dims[0],
                            .channels = (size_t)x->dims[1],
                            .image = ingot_blocked_image(x->rank, x->dims),
                            .epsilon = ((const ingot_group_norm_params *)region->nodes[0]->params)->epsilon,
                            .x = x->data,
                            .scale = inputs[1]->data,
                            .bias = inputs[2]->data,
                            .add = e->add == SIZE_MAX ? NULL : inputs[e->add]->data,
                            .add_last = e->add_last,
                            .then = e->activation};
}

static ingot_status measure(const ingot_region *region, const ingot_tactic *tactic, const ingot_value *const *inputs,
                            const ingot_value *const *outputs, int threads, size_t *bytes, ingot_error *error)
{
    if (tactic->input_layouts[0] != INGOT_LAYOUT_C16)
        return INGOT_OK;
    const ingot_c16_norm norm = blocked_norm(region, inputs);
    *bytes = ingot_c16_instance_norm_workspace(&norm);
    return INGOT_OK;
}

static bool run_group(const ingot_step *step)
{
    const ingot_group_norm_params *p = step->region->nodes[0]->params;
    const ingot_value *x = step->inputs[0];
    if (x->rank < 2)
        return false;
    ingot_extent e = ingot_extent_of(x, 1, 2);
    size_t groups = p->num_groups > 0 ? (size_t)p->num_groups : e.count;
    if (e.count % groups != 0)
        return false;
    ingot_group_norm norm = {.batch = e.outer,
                             .channels = e.count,
                             .groups = groups,
                             .inner = e.inner,
                             .epsilon = p->epsilon,
                             .x = x->data,
                             .scale = step->inputs[1]->data,
                             .bias = step->inputs[2]->data,
                             .y = step->outputs[0]->data};
    ingot_group_norm_f32(&norm, step->threads);
    run_epilogue(step, &detail_of(step->region)->epilogue);
    return true;
}

static ingot_status run(const ingot_step *step, bool *declined)
{
    const kind k = detail_of(step->region)->kind;
    if (ingot_cpu_is_blocked(step)) {
        ingot_c16_norm norm = blocked_norm(step->region, step->inputs);
        norm.y = step->outputs[0]->data;
        ingot_c16_instance_norm_f32(&norm, step->workspace, step->threads);
    } else if (ingot_value_count(step->inputs[0]) == 0)
        *declined = true;
    else
        *declined = !(k >= INSTANCE ? run_group(step) : run_layer(step, k == ROOT_MEAN_SQUARE));
    return INGOT_OK;
}

const ingot_cpu_family ingot_cpu_normalization = {
    .name = "normalization", .claim = claim, .tactic = tactic, .blocked = blocked, .measure = measure, .run = run};

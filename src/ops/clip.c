/* Where, Clip: attributes, shapes, content. */
#include "ops/clip.h"

#include <float.h>
#include <math.h>

#include "ops/content.h"

/* ---- Where ---- */

static void where_content(ingot_infer *c)
{
    ingot_dim choice[INGOT_MAX_KNOWN], x[INGOT_MAX_KNOWN], y[INGOT_MAX_KNOWN];
    size_t choices, x_count, y_count;
    if (!ingot_content_of(c, 0, choice, &choices) || !ingot_content_of(c, 1, x, &x_count) ||
        !ingot_content_of(c, 2, y, &y_count))
        return;
    size_t count = choices != 1 ? choices : x_count != 1 ? x_count : y_count;
    if ((choices != 1 && choices != count) || (x_count != 1 && x_count != count) || (y_count != 1 && y_count != count))
        return;
    ingot_dim values[INGOT_MAX_KNOWN];
    for (size_t i = 0; i < count; i++) {
        ingot_dim which = choice[choices == 1 ? 0 : i];
        ingot_dim yes = x[x_count == 1 ? 0 : i], no = y[y_count == 1 ? 0 : i];
        if (yes == no)
            values[i] = yes;
        else
            values[i] = ingot_dim_is_number(which) ? (which ? yes : no) : INGOT_DIM_UNKNOWN;
    }
    ingot_content_set(c, 0, values, count);
}

static ingot_status infer_where(ingot_infer *c)
{
    ingot_dim dims[INGOT_MAX_RANK];
    int rank;
    INGOT_TRY(ingot_infer_broadcast(c, 0, 3, &rank, dims));
    ingot_infer_set(c, 0, c->inputs[1].type.element, rank, dims);
    where_content(c);
    return INGOT_OK;
}

const ingot_op ingot_op_where = {.summary = "X where the condition holds, else Y", .infer = infer_where};

/* ---- Clip ---- */

static const ingot_param_field clip_1_fields[] = {
    {"min", INGOT_PARAM_FLOAT, offsetof(ingot_clip_params, min), NULL, 0},
    {"max", INGOT_PARAM_FLOAT, offsetof(ingot_clip_params, max), NULL, 0},
    {0},
};

/* Later versions give the bounds the ends of float for defaults, version 1 none. */
static ingot_status check_clip_1(const ingot_node *node, void *params, ingot_error *error)
{
    ingot_clip_params *p = params;
    p->from_attributes = true;
    if (!ingot_node_attribute(node, "min"))
        p->min = node->opset < 6 ? -INFINITY : -FLT_MAX;
    if (!ingot_node_attribute(node, "max"))
        p->max = node->opset < 6 ? INFINITY : FLT_MAX;
    return INGOT_OK;
}

static ingot_status check_bound(ingot_infer *c, size_t input, const char *name)
{
    if (!ingot_infer_has(c, input) || c->inputs[input].type.rank < 0)
        return INGOT_OK;
    const ingot_type *type = &c->inputs[input].type;
    for (int i = 0; i < type->rank; i++)
        if (ingot_dim_is_number(type->dims[i]) && type->dims[i] != 1)
            return ingot_infer_fail(c, "input '%s' must be a single number, but its axis %d has size %lld", name, i,
                                    (long long)type->dims[i]);
    return INGOT_OK;
}

/* Content held to a bound, which is a single value; all unknown where the bound is. */
static void hold_content(ingot_infer *c, size_t input, ingot_dim_kind kind, ingot_dim *values, size_t count)
{
    ingot_dim bound[INGOT_MAX_KNOWN];
    size_t bounds;
    if (!ingot_infer_has(c, input))
        return;
    bool known = ingot_content_of(c, input, bound, &bounds) && bounds == 1;
    for (size_t i = 0; i < count; i++)
        values[i] = known ? ingot_dim_make(c->dims, kind, values[i], bound[0]) : INGOT_DIM_UNKNOWN;
}

static ingot_status infer_clip(ingot_infer *c)
{
    ingot_dim values[INGOT_MAX_KNOWN];
    size_t count;
    INGOT_TRY(check_bound(c, 1, "min"));
    INGOT_TRY(check_bound(c, 2, "max"));
    ingot_infer_copy(c, 0, 0, false);
    if (!ingot_content_of(c, 0, values, &count))
        return INGOT_OK;
    hold_content(c, 1, INGOT_DIM_MAX, values, count);
    hold_content(c, 2, INGOT_DIM_MIN, values, count);
    ingot_content_set(c, 0, values, count);
    return INGOT_OK;
}

const ingot_op ingot_op_clip_1 = {.summary = "x held between two bounds (before version 11)",
                                  .params_size = sizeof(ingot_clip_params),
                                  .fields = clip_1_fields,
                                  .check = check_clip_1,
                                  .infer = infer_clip,
                                  .flags = INGOT_OP_IN_PLACE};
const ingot_op ingot_op_clip = {.summary = "x held between two bounds",
                                .params_size = sizeof(ingot_clip_params),
                                .infer = infer_clip,
                                .flags = INGOT_OP_IN_PLACE};

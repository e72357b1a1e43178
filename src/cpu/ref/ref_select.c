/* Reference kernels of TopK, NonMaxSuppression, NonZero and Compress. */
#include "ops/select.h"

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_order.h"

/* ---- TopK ---- */

/* Ranks count elements, which lie inner apart; whole blocks of floats are passed over that have none for a full ranking. */
static void rank(ingot_ranking *ranking, const ingot_value *x, size_t first, size_t inner, size_t count, bool smallest)
{
    enum { BLOCK = 16 };
    const float *floats = x->element == INGOT_FLOAT && inner == 1 ? (const float *)x->data + first : NULL;
    for (size_t i = 0; i < count;) {
        size_t end = i + 1;
        if (floats && ranking->count > 0 && ranking->count == ranking->keep && count - i >= BLOCK) {
            float last = floats[ranking->items[0].index];
            int found = 0;
            for (size_t k = 0; k < BLOCK; k++)
                found |= smallest ? !(floats[i + k] >= last) : !(floats[i + k] <= last);
            end = i + BLOCK;
            if (!found)
                i = end;
        }
        for (; i < end; i++) {
            uint64_t key = ingot_ref_order_key(x->element, x->data, first + i * inner);
            ingot_ranking_add(ranking, (ingot_ranked){smallest ? ~key : key, i});
        }
    }
}

ingot_status ingot_ref_topk(const ingot_kernel_call *call)
{
    const ingot_topk_params *params = call->params;
    const ingot_value *x = call->inputs[0];
    ingot_value *values = call->outputs[0], *indices = ingot_kernel_wants(call, 1) ? call->outputs[1] : NULL;
    int axis = ingot_axis(params->axis, x->rank);
    ingot_split split = ingot_split_at(x->rank, x->dims, axis);
    const ingot_value *shaped = values ? values : indices;
    if (!shaped)
        return INGOT_OK;
    ingot_ranking ranking = {.keep = (size_t)shaped->dims[axis]};
    size_t bytes;
    if (!ingot_mul_size(ranking.keep, sizeof *ranking.items, &bytes))
        return ingot_kernel_fail(call, "k is %zu, which is more than memory can hold", ranking.keep);
    INGOT_TRY(ingot_kernel_scratch(call, bytes, (void **)&ranking.items));
    for (size_t row = 0; row < split.outer * split.inner; row++) {
        size_t first = row / split.inner * split.size * split.inner + row % split.inner;
        size_t to = row / split.inner * ranking.keep * split.inner + row % split.inner;
        ranking.count = 0;
        rank(&ranking, x, first, split.inner, split.size, params->smallest);
        ingot_ranking_sort(&ranking);
        for (size_t i = 0; i < ranking.count; i++, to += split.inner) {
            size_t index = ranking.items[i].index;
            if (values)
                INGOT_TRY(ingot_ref_copy_run(call, values, to, x, first + index * split.inner, 1));
            if (indices)
                ((int64_t *)indices->data)[to] = (int64_t)index;
        }
    }
    return INGOT_OK;
}

/* ---- NonMaxSuppression ---- */

typedef struct box {
    float left, top, right, bottom;
} box;

static box read_box(const float *b, bool center)
{
    if (center)
        return (box){b[0] - b[2] / 2, b[1] - b[3] / 2, b[0] + b[2] / 2, b[1] + b[3] / 2};
    box result = {b[1], b[0], b[3], b[2]};
    if (b[1] > b[3]) {
        result.left = b[3];
        result.right = b[1];
    }
    if (b[0] > b[2]) {
        result.top = b[2];
        result.bottom = b[0];
    }
    return result;
}

static float area(box b)
{
    return (b.right - b.left) * (b.bottom - b.top);
}

/* The chosen boxes of a class, in columns; those behind the last one, up to a whole block, have no area. */
enum { BLOCK = 16 };
typedef struct chosen_boxes {
    float *left, *top, *right, *bottom, *area; /* room for the most boxes of a class, in whole blocks */
    size_t count;
} chosen_boxes;

static void choose(chosen_boxes *c, box b)
{
    if (c->count % BLOCK == 0)
        for (size_t i = 0; i < BLOCK; i++)
            c->left[c->count + i] = c->top[c->count + i] = c->right[c->count + i] = c->bottom[c->count + i] =
                c->area[c->count + i] = 0;
    c->left[c->count] = b.left;
    c->top[c->count] = b.top;
    c->right[c->count] = b.right;
    c->bottom[c->count] = b.bottom;
    c->area[c->count++] = area(b);
}

/* Whether the share of the union that the box and one of a block cover both is above the threshold. */
static bool overlaps_block(const chosen_boxes *c, size_t first, box a, float threshold)
{
    float own = area(a);
    int found = 0;
    for (size_t i = first; i < first + BLOCK; i++) {
        box both = {a.left > c->left[i] ? a.left : c->left[i], a.top > c->top[i] ? a.top : c->top[i],
                    a.right < c->right[i] ? a.right : c->right[i], a.bottom < c->bottom[i] ? a.bottom : c->bottom[i]};
        float shared = area(both), all = own + c->area[i] - shared;
        found |= (both.right > both.left) & (both.bottom > both.top) & (own > 0) & (c->area[i] > 0) & (all > 0) &
                 (shared / all > threshold);
    }
    return found;
}

static bool overlaps(const chosen_boxes *c, box a, float threshold)
{
    for (size_t i = 0; i < c->count; i += BLOCK)
        if (overlaps_block(c, i, a, threshold))
            return true;
    return false;
}

typedef struct suppression {
    bool center, has_score_threshold;
    float iou_threshold, score_threshold;
    size_t most;         /* boxes of a class */
    ingot_ranking order; /* of the candidates of a class */
    chosen_boxes chosen;
} suppression;

/* The boxes of one class, best first; writes their indices to the rows of selected and returns how many. */
static size_t select_boxes(suppression *s, const float *boxes, const float *scores, size_t count, int64_t *selected)
{
    s->chosen.count = s->order.count = 0;
    for (size_t i = 0; i < count; i++)
        if (!s->has_score_threshold || scores[i] > s->score_threshold)
            ingot_ranking_add(&s->order, (ingot_ranked){ingot_ref_order_key(INGOT_FLOAT, scores, i), i});
    ingot_ranking_sort(&s->order);
    for (size_t i = 0; i < s->order.count && s->chosen.count < s->most; i++) {
        size_t index = s->order.items[i].index;
        box candidate = read_box(boxes + 4 * index, s->center);
        if (overlaps(&s->chosen, candidate, s->iou_threshold))
            continue;
        selected[3 * s->chosen.count + 2] = (int64_t)index;
        choose(&s->chosen, candidate);
    }
    return s->chosen.count;
}

/* Scratch for the candidates and for the chosen boxes of a class. */
static ingot_status find_room(const ingot_kernel_call *call, suppression *s, size_t count)
{
    size_t items = count * sizeof *s->order.items, column = (s->most + BLOCK - 1) / BLOCK * BLOCK;
    char *room;
    INGOT_TRY(ingot_kernel_scratch(call, items + 5 * column * sizeof(float), (void **)&room));
    s->order = (ingot_ranking){.items = (ingot_ranked *)(void *)room, .keep = count};
    float *columns = (float *)(void *)(room + items);
    s->chosen =
        (chosen_boxes){columns, columns + column, columns + 2 * column, columns + 3 * column, columns + 4 * column, 0};
    return INGOT_OK;
}

static float optional_float(const ingot_kernel_call *call, size_t input)
{
    return ingot_kernel_has(call, input) && ingot_ref_count(call->inputs[input]) > 0
               ? ((const float *)call->inputs[input]->data)[0]
               : 0;
}

/* The output is made as large as it can become, then cut to what was selected. */
ingot_status ingot_ref_nms(const ingot_kernel_call *call)
{
    const ingot_nms_params *params = call->params;
    const ingot_value *boxes = call->inputs[0], *scores = call->inputs[1];
    size_t batches = (size_t)scores->dims[0], classes = (size_t)scores->dims[1], count = (size_t)scores->dims[2];
    int64_t most =
        ingot_kernel_has(call, 2) && ingot_ref_count(call->inputs[2]) > 0 ? ingot_ref_integer(call->inputs[2], 0) : 0;
    suppression s = {.center = params->center_point_box,
                     .has_score_threshold = ingot_kernel_has(call, 4) && ingot_ref_count(call->inputs[4]) > 0,
                     .iou_threshold = optional_float(call, 3),
                     .score_threshold = optional_float(call, 4),
                     .most = most < 0                 ? 0
                             : (uint64_t)most > count ? count
                                                      : (size_t)most};
    int64_t dims[2] = {(int64_t)(batches * classes * s.most), 3};
    INGOT_TRY(ingot_kernel_set_output(call, 0, INGOT_INT64, 2, dims));
    INGOT_TRY(find_room(call, &s, count));
    int64_t *selected = call->outputs[0]->data, *row = selected;
    for (size_t i = 0; s.most > 0 && i < batches * classes; i++) {
        const float *batch_boxes = (const float *)boxes->data + i / classes * count * 4;
        size_t chosen = select_boxes(&s, batch_boxes, (const float *)scores->data + i * count, count, row);
        for (size_t k = 0; k < chosen; k++, row += 3) {
            row[0] = (int64_t)(i / classes);
            row[1] = (int64_t)(i % classes);
        }
    }
    dims[0] = s.most > 0 ? (row - selected) / 3 : 0;
    return ingot_kernel_set_output(call, 0, INGOT_INT64, 2, dims);
}

/* ---- NonZero and Compress ---- */

static bool is_nonzero(const ingot_value *x, size_t i)
{
    switch (x->element) {
    case INGOT_FLOAT:
        return ((const float *)x->data)[i] != 0;
    case INGOT_BOOL:
        return ((const uint8_t *)x->data)[i] != 0;
    case INGOT_STRING:
        return ((const ingot_string *)x->data)[i].length != 0;
    case INGOT_COMPLEX64:
        return ((const float *)x->data)[2 * i] != 0 || ((const float *)x->data)[2 * i + 1] != 0;
    case INGOT_COMPLEX128:
        return ((const double *)x->data)[2 * i] != 0 || ((const double *)x->data)[2 * i + 1] != 0;
    default:
        return ingot_element_is_float(x->element) ? ingot_load_double(x->element, x->data, i) != 0
                                                  : ingot_ref_integer(x, i) != 0;
    }
}

ingot_status ingot_ref_nonzero(const ingot_kernel_call *call)
{
    const ingot_value *x = call->inputs[0];
    size_t count = ingot_ref_count(x), found = 0;
    for (size_t i = 0; i < count; i++)
        found += is_nonzero(x, i);
    int64_t dims[2] = {x->rank, (int64_t)found};
    INGOT_TRY(ingot_kernel_set_output(call, 0, INGOT_INT64, 2, dims));
    int64_t *y = call->outputs[0]->data;
    for (size_t i = 0, at = 0; x->rank > 0 && i < count; i++) {
        if (!is_nonzero(x, i))
            continue;
        size_t rest = i;
        for (int axis = x->rank - 1; axis >= 0; axis--) {
            y[(size_t)axis * found + at] = (int64_t)(rest % (size_t)x->dims[axis]);
            rest /= (size_t)x->dims[axis];
        }
        at++;
    }
    return INGOT_OK;
}

ingot_status ingot_ref_compress(const ingot_kernel_call *call)
{
    const ingot_axis_params *params = call->params;
    const ingot_value *x = call->inputs[0], *condition = call->inputs[1];
    int64_t dims[INGOT_MAX_RANK] = {(int64_t)ingot_ref_count(x)};
    int axis = params->given ? ingot_axis(params->axis, x->rank) : 0, rank = params->given ? x->rank : 1;
    for (int i = 0; params->given && i < rank; i++)
        dims[i] = x->dims[i];
    ingot_split split = ingot_split_at(rank, dims, axis);
    size_t conditions = ingot_ref_count(condition), found = 0;
    if (conditions > split.size)
        return ingot_kernel_fail(call, "condition has %zu elements, but only %zu can be selected from", conditions,
                                 split.size);
    for (size_t i = 0; i < conditions; i++)
        found += is_nonzero(condition, i);
    dims[axis] = (int64_t)found;
    INGOT_TRY(ingot_kernel_set_output(call, 0, x->element, rank, dims));
    for (size_t outer = 0, to = 0; outer < split.outer; outer++) {
        for (size_t i = 0; i < conditions; i++) {
            if (!is_nonzero(condition, i))
                continue;
            INGOT_TRY(
                ingot_ref_copy_run(call, call->outputs[0], to, x, (outer * split.size + i) * split.inner, split.inner));
            to += split.inner;
        }
    }
    return INGOT_OK;
}

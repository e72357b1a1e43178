/* QLinearConv and ConvInteger in one and two dimensions, with constant weights. */
#include <string.h>

#include "base/number.h"
#include "cpu/int8/int8_conv.h"
#include "cpu/region_int8.h"
#include "ops/conv.h"

enum { X_SCALE = 1, W_SCALE = 4, Y_SCALE = 6, Y_ZERO = 7, BIAS = 8 }; /* of QLinearConv */

typedef struct detail {
    bool requantizes, depthwise;
    bool settled; /* nothing but the image's size is left to the run */
    size_t x, x_zero, w, w_zero;
} detail;

static const detail *detail_of(const ingot_region *region)
{
    return ((const ingot_cpu_region *)region->detail)->detail;
}

/* ---- Geometry ---- */

static void lay_axis(const ingot_window *window, int axis, size_t *out, size_t *stride, size_t *dilation, size_t *pad)
{
    *out = (size_t)window->out[axis];
    *stride = (size_t)window->stride[axis];
    *dilation = (size_t)window->dilation[axis];
    *pad = (size_t)window->begin[axis];
}

/* x NULL: the weights alone, with any image. */
static ingot_status fill(const ingot_node *node, int rank, const int64_t *x, const int64_t *w, ingot_conv *c,
                         ingot_error *error)
{
    ingot_window window;
    size_t group = (size_t)((const ingot_conv_params *)node->params)->group;
    *c = (ingot_conv){.batch = 1, .groups = group, .channels = (size_t)w[1] * group, .outputs = (size_t)w[0]};
    c->kernel_height = rank == 4 ? (size_t)w[2] : 1;
    c->kernel_width = (size_t)w[rank - 1];
    c->in_height = c->in_width = c->out_height = c->out_width = 1;
    c->stride_height = c->stride_width = c->dilation_height = c->dilation_width = 1;
    const ingot_window_params *p = node->params;
    if (p->dilations.count > 0)
        c->dilation_width = (size_t)p->dilations.data[p->dilations.count - 1];
    if (!x)
        return INGOT_OK;
    INGOT_TRY(ingot_conv_geometry(node, node->params, NULL, rank, x, w, &window, error));
    c->batch = (size_t)x[0];
    c->in_width = (size_t)x[rank - 1];
    lay_axis(&window, rank - 3, &c->out_width, &c->stride_width, &c->dilation_width, &c->pad_left);
    if (rank == 3)
        return INGOT_OK;
    c->in_height = (size_t)x[2];
    lay_axis(&window, 0, &c->out_height, &c->stride_height, &c->dilation_height, &c->pad_top);
    return INGOT_OK;
}

/* ---- Claiming ---- */

static bool suits(const ingot_node *node, const detail *d)
{
    const ingot_graph_value *x = node->inputs[d->x], *w = node->inputs[d->w], *y = node->outputs[0];
    const ingot_window_params *p = node->params;
    for (size_t i = 0; i < p->pads.count; i++)
        if (p->pads.data[i] < 0)
            return false;
    return y && ingot_int8_is_bytes(x) && ingot_int8_is_bytes(w) && ingot_graph_value_is_constant(w) &&
           (!d->requantizes || ingot_int8_is_bytes(y)) && (x->type.rank == 3 || x->type.rank == 4) &&
           w->constant->rank == x->type.rank && ingot_value_count(w->constant) > 0;
}

static const ingot_graph_value *operand(const ingot_node *node, size_t index)
{
    return index < node->operand_count ? node->inputs[index] : NULL;
}

/* A constant of one element, or of as many; what is left out counts as one. */
static bool is_settled_term(const ingot_node *node, size_t index, size_t count)
{
    const ingot_graph_value *v = operand(node, index);
    if (!v)
        return true;
    if (!ingot_graph_value_is_constant(v))
        return false;
    return ingot_value_count(v->constant) == 1 || ingot_value_count(v->constant) == count;
}

static bool is_settled(const ingot_node *node, const detail *d, size_t outputs)
{
    bool settled = is_settled_term(node, d->x_zero, 1) && is_settled_term(node, d->w_zero, outputs);
    return settled &&
           (!d->requantizes || (is_settled_term(node, X_SCALE, 1) && is_settled_term(node, W_SCALE, outputs) &&
                                is_settled_term(node, Y_SCALE, 1) && is_settled_term(node, Y_ZERO, 1)));
}

static ingot_int8_terms weight_terms(const ingot_value *w, const ingot_value *w_zero)
{
    return (ingot_int8_terms){.b_signed = w->element == INGOT_INT8,
                              .b_zero = w_zero ? w_zero->data : NULL,
                              .b_zero_count = w_zero ? ingot_value_count(w_zero) : 0};
}

static ingot_status claim(ingot_cpu_claim *claim, ingot_node *node, bool *claimed)
{
    detail d = {.requantizes = ingot_cpu_is(node, "QLinearConv")};
    d.w = d.requantizes ? 3 : 1;
    d.x_zero = 2;
    d.w_zero = d.requantizes ? 5 : 3;
    ingot_cpu_draft draft;
    ingot_conv c;
    if ((!d.requantizes && !ingot_cpu_is(node, "ConvInteger")) || !suits(node, &d) ||
        !ingot_cpu_draft_node(node, &draft))
        return INGOT_OK;
    const ingot_value *w = node->inputs[d.w]->constant;
    INGOT_TRY(fill(node, w->rank, NULL, w->dims, &c, claim->error));
    d.settled = is_settled(node, &d, c.outputs);
    const ingot_graph_value *w_zero = operand(node, d.w_zero);
    ingot_int8_terms terms = weight_terms(w, w_zero ? w_zero->constant : NULL);
    d.depthwise = d.settled && ingot_int8_conv_is_depthwise(&c) && !ingot_int8_needs_row_sums(&terms);
    if (d.settled)
        draft.packed_inputs = 1u << d.w;
    draft.detail = &d;
    draft.detail_size = sizeof d;
    return ingot_cpu_claim_region(claim, &ingot_cpu_int8_convolution, &draft, claimed);
}

/* ---- Tactics ---- */

/* Ids: which operands have their channels last. */
enum { X_LAST = 1, Y_LAST = 2 };

static void tactic(const ingot_region *region, ingot_tactic *tactic)
{
    const detail *d = detail_of(region);
    const ingot_value *w = region->inputs[d->w]->constant;
    ingot_conv c;
    ingot_error error;
    tactic->name = d->depthwise ? "int8 depthwise" : "int8 conv";
    if (fill(region->nodes[0], w->rank, NULL, w->dims, &c, &error) == INGOT_OK)
        tactic->packed_bytes = ingot_int8_conv_packed_size(&c, d->depthwise);
}

static double elements_of(const ingot_graph_value *v)
{
    int64_t dims[INGOT_MAX_RANK];
    double count = 1;
    ingot_guess_dims(&v->type, dims);
    for (int i = 0; i < v->type.rank; i++)
        count *= (double)dims[i];
    return count;
}

static void channels_last(const ingot_region *region, ingot_cpu_tactics *list)
{
    const detail *d = detail_of(region);
    const ingot_graph_value *x = region->inputs[d->x], *y = region->outputs[0];
    const ingot_value *w = region->inputs[d->w]->constant;
    double weights = (double)ingot_value_count(w) / (double)w->dims[0];
    double work = ingot_cpu_guess_cost(elements_of(x) + elements_of(y), elements_of(y) * weights / 2);
    double x_turn = 300 + elements_of(x) / 5, y_turn = 300 + elements_of(y) / 5;
    list->list[0].cost = work + x_turn + y_turn;
    if (!d->settled || !ingot_cpu_can_be_channels_last(x))
        return;
    for (uint32_t id = X_LAST; id <= (X_LAST | Y_LAST); id++) {
        if (id & Y_LAST && !ingot_cpu_can_be_channels_last(y))
            continue;
        ingot_tactic *t = ingot_cpu_add_tactic(list);
        if (!t)
            return;
        *t = list->list[0];
        t->id = id;
        t->input_layouts[d->x] = id & X_LAST ? INGOT_LAYOUT_NHWC : INGOT_LAYOUT_PLAIN;
        t->output_layouts[0] = id & Y_LAST ? INGOT_LAYOUT_NHWC : INGOT_LAYOUT_PLAIN;
        t->cost = work + (id & X_LAST ? 0 : x_turn) + (id & Y_LAST ? 0 : y_turn);
    }
}

static ingot_status pack(const ingot_region *region, const ingot_tactic *tactic, void *packed, ingot_error *error)
{
    const detail *d = detail_of(region);
    const ingot_value *w = region->inputs[d->w]->constant;
    ingot_conv c;
    INGOT_TRY(fill(region->nodes[0], w->rank, NULL, w->dims, &c, error));
    ingot_int8_conv_pack(&c, d->depthwise, w->data, w->element == INGOT_INT8, packed);
    return INGOT_OK;
}

/* ---- Running ---- */

/* Shape and layout; what follows from operands' content is left out. */
static ingot_int8_conv conv_of(const ingot_region *region, const ingot_tactic *tactic, const ingot_conv *shape)
{
    const detail *d = detail_of(region);
    return (ingot_int8_conv){.shape = shape,
                             .depthwise = d->depthwise,
                             .x_last = (tactic->id & X_LAST) != 0,
                             .y_last = (tactic->id & Y_LAST) != 0,
                             .output = d->requantizes ? INGOT_INT8_BYTES : INGOT_INT8_SUMS,
                             .terms = {.a_signed = region->inputs[d->x]->type.element == INGOT_INT8}};
}

static ingot_status measure(const ingot_region *region, const ingot_tactic *tactic, const ingot_value *const *inputs,
                            const ingot_value *const *outputs, int threads, size_t *bytes, ingot_error *error)
{
    const detail *d = detail_of(region);
    ingot_conv shape;
    if (ingot_value_count(outputs[0]) == 0)
        return INGOT_OK;
    INGOT_TRY(fill(region->nodes[0], inputs[d->x]->rank, inputs[d->x]->dims, inputs[d->w]->dims, &shape, error));
    ingot_int8_conv conv = conv_of(region, tactic, &shape);
    *bytes = ingot_int8_conv_fits(&conv) ? ingot_int8_conv_workspace(&conv, threads) : 0;
    return INGOT_OK;
}

static void fill_requantization(const ingot_step *step, ingot_int8_conv *conv)
{
    const ingot_value *bias = ingot_int8_input(step, BIAS);
    conv->x_scale = *(const float *)step->inputs[X_SCALE]->data;
    conv->w_scale = step->inputs[W_SCALE]->data;
    conv->w_scale_count = ingot_value_count(step->inputs[W_SCALE]);
    conv->y_scale = *(const float *)step->inputs[Y_SCALE]->data;
    conv->element = step->outputs[0]->element;
    conv->zero = ingot_int8_zero(step->inputs[Y_ZERO]);
    conv->terms.summand = bias ? bias->data : NULL;
    conv->terms.summand_count = conv->shape->outputs;
}

static ingot_status run(const ingot_step *step, bool *declined)
{
    const ingot_region *region = step->region;
    const detail *d = detail_of(region);
    const ingot_value *x = step->inputs[d->x], *w = step->inputs[d->w];
    ingot_conv shape;
    INGOT_TRY(fill(region->nodes[0], x->rank, x->dims, w->dims, &shape, step->error));
    ingot_int8_conv conv = conv_of(region, step->tactic, &shape);
    *declined = !ingot_int8_conv_fits(&conv);
    if (*declined)
        return INGOT_OK;
    conv.terms = weight_terms(w, ingot_int8_input(step, d->w_zero));
    conv.terms.a_signed = x->element == INGOT_INT8;
    conv.terms.a_zero = ingot_int8_zero(ingot_int8_input(step, d->x_zero));
    conv.x = x->data;
    conv.packed = step->packed;
    conv.y = step->outputs[0]->data;
    if (d->requantizes)
        fill_requantization(step, &conv);
    ingot_int8_convolve(&conv, step->workspace, step->threads);
    return INGOT_OK;
}

const ingot_cpu_family ingot_cpu_int8_convolution = {.name = "int8_conv",
                                                     .claim = claim,
                                                     .tactic = tactic,
                                                     .blocked = channels_last,
                                                     .pack = pack,
                                                     .measure = measure,
                                                     .run = run};

/* A convolution of an image that was taken apart, every s-th pixel from each start, and put side by side as channels, is one of the
 * image itself, with a window and strides that are s times as large: nothing need be taken apart. Slices that a Concat joins, or
 * SpaceToDepth. */
#include <string.h>

#include "ops/conv.h"
#include "ops/slice.h"
#include "passes/rewrite.h"

/* Most channels of the image: more of them are worth a product of their own. */
#define MOST_CHANNELS 4
/* Most phases, and greatest step. */
#define MOST_PHASES 16
#define MOST_STEP   8
/* Strides and pads are less. */
#define LARGE (1 << 20)

/* Every step-th pixel of an image from start on, down and across. */
typedef struct phase {
    ingot_graph_value *image;
    int64_t start[2], step[2];
} phase;

/* What the convolution reads: its channels are those of one phase after the other. */
typedef struct phases {
    phase list[MOST_PHASES];
    size_t count;
} phases;

/* A list of a Slice; false: it is not known, or not of count numbers where it is given. */
static bool read_list(const ingot_node *node, const char *name, size_t operand, int64_t values[4], size_t count)
{
    size_t found;
    if (!ingot_operand(node, operand) && !ingot_node_attribute(node, name))
        return true;
    return ingot_int_list(node, name, operand, values, 4, &found) && found == count;
}

/* Takes one Slice into a phase of what it gives; false: it does something else than to take pixels. */
static bool take_slice(const ingot_node *node, phase *p)
{
    int64_t starts[4], ends[4], axes[4] = {0, 1, 2, 3}, steps[4] = {1, 1, 1, 1};
    size_t count;
    const int64_t *dims = node->inputs[0]->type.dims;
    if (!ingot_int_list(node, "starts", 1, starts, 4, &count) || !read_list(node, "ends", 2, ends, count) ||
        !read_list(node, "axes", 3, axes, count) || !read_list(node, "steps", 4, steps, count))
        return false;
    for (size_t i = 0; i < count; i++) {
        const int axis = (int)(axes[i] < 0 ? axes[i] + 4 : axes[i]);
        int64_t first, length;
        if (axis < 0 || axis > 3 || steps[i] < 1 || steps[i] > MOST_STEP)
            return false;
        ingot_slice_range(dims[axis], starts[i], ends[i], steps[i], &first, &length);
        if (axis < 2 && (first != 0 || length != dims[axis]))
            return false;
        if (axis < 2)
            continue;
        p->start[axis - 2] = first + steps[i] * p->start[axis - 2];
        p->step[axis - 2] *= steps[i];
    }
    p->image = node->inputs[0];
    return p->step[0] <= MOST_STEP && p->step[1] <= MOST_STEP;
}

static bool is_image(const ingot_graph_value *value)
{
    return ingot_has_static_shape(&value->type) && value->type.rank == 4;
}

/* What Slices make of the image that they begin with. */
static bool find_phase(ingot_graph_value *value, phase *p)
{
    *p = (phase){.image = value, .step = {1, 1}};
    for (ingot_node *node; is_image(p->image) && (node = ingot_made_by(p->image, "Slice")) != NULL;)
        if (!is_image(node->inputs[0]) || !take_slice(node, p))
            return false;
    return is_image(p->image);
}

static bool find_joined(const ingot_node *concat, phases *all)
{
    const int64_t axis = ingot_int_attribute(concat, "axis", 1);
    if ((axis != 1 && axis != -3) || concat->operand_count > MOST_PHASES)
        return false;
    for (all->count = 0; all->count < concat->operand_count; all->count++)
        if (!find_phase(concat->inputs[all->count], &all->list[all->count]))
            return false;
    return true;
}

static bool find_depth(const ingot_node *node, phases *all)
{
    const int64_t block = ingot_int_attribute(node, "blocksize", 0);
    if (block < 1 || block * block > MOST_PHASES || !is_image(node->inputs[0]))
        return false;
    for (all->count = 0; all->count < (size_t)(block * block); all->count++) {
        const int64_t i = (int64_t)all->count;
        all->list[i] = (phase){.image = node->inputs[0], .start = {i / block, i % block}, .step = {block, block}};
    }
    return true;
}

/* Whether each pixel of the image, of few channels, is in one phase, and parts is as large as a phase of it. */
static bool is_whole(const phases *all, const ingot_graph_value *parts)
{
    const phase *first = &all->list[0];
    bool seen[MOST_PHASES] = {false};
    if (all->count < 2 || (int64_t)all->count != first->step[0] * first->step[1] ||
        first->image->type.dims[1] > MOST_CHANNELS)
        return false;
    for (int i = 0; i < 2; i++)
        if (parts->type.dims[i + 2] * first->step[i] != first->image->type.dims[i + 2])
            return false;
    for (size_t i = 0; i < all->count; i++) {
        const phase *p = &all->list[i];
        if (p->image != first->image || memcmp(p->step, first->step, sizeof p->step) != 0 ||
            p->start[0] >= p->step[0] || p->start[1] >= p->step[1])
            return false;
        seen[p->start[0] * p->step[1] + p->start[1]] = true;
    }
    for (size_t i = 0; i < all->count; i++)
        if (!seen[i])
            return false;
    return true;
}

static bool find_phases(const ingot_graph_value *value, phases *all)
{
    const ingot_node *concat = ingot_made_by(value, "Concat"), *depth = ingot_made_by(value, "SpaceToDepth");
    return is_image(value) && value->use_count == 1 && (concat || depth) &&
           (concat ? find_joined(concat, all) : find_depth(depth, all)) && is_whole(all, value);
}

static bool is_all_below(const ingot_ints *list, int64_t end)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->data[i] >= end)
            return false;
    return true;
}

static bool suits(const ingot_node *conv, const phases *all)
{
    const ingot_conv_params *p = conv->params;
    const ingot_graph_value *weights = conv->inputs[1];
    return p->group == 1 && p->window.auto_pad == INGOT_AUTO_PAD_NOTSET && is_all_below(&p->window.dilations, 2) &&
           is_all_below(&p->window.strides, LARGE) && is_all_below(&p->window.pads, LARGE) &&
           ingot_graph_value_is_constant(weights) && weights->constant->kind == INGOT_KIND_TENSOR &&
           weights->constant->rank == 4 &&
           weights->constant->dims[1] == (int64_t)all->count * all->list[0].image->type.dims[1];
}

/* Weights [outputs, phases * channels, height, width] become [outputs, channels, height * step, width * step]. */
static ingot_status spread_weights(ingot_node *conv, const phases *all, ingot_graph_value **weights, int64_t *dims,
                                   ingot_error *error)
{
    const ingot_value *w = conv->inputs[1]->constant;
    const int64_t *step = all->list[0].step, channels = all->list[0].image->type.dims[1];
    const size_t size = ingot_element_size(w->element), count = ingot_value_count(w);
    void *data;
    dims[0] = w->dims[0];
    dims[1] = channels;
    dims[2] = w->dims[2] * step[0];
    dims[3] = w->dims[3] * step[1];
    INGOT_TRY(ingot_new_tensor(conv->graph, conv->inputs[1]->name, w->element, 4, dims, weights, &data, error));
    for (size_t i = 0; i < count; i++) {
        const int64_t x = (int64_t)i % w->dims[3], rest = (int64_t)i / w->dims[3], y = rest % w->dims[2];
        const int64_t channel = rest / w->dims[2] % w->dims[1], output = rest / w->dims[2] / w->dims[1];
        const phase *p = &all->list[channel / channels];
        const int64_t row = (output * channels + channel % channels) * dims[2] + y * step[0] + p->start[0];
        memcpy((char *)data + (size_t)(row * dims[3] + x * step[1] + p->start[1]) * size,
               (const char *)w->data + i * size, size);
    }
    return INGOT_OK;
}

static ingot_status rewrite(ingot_node *conv, const phases *all, ingot_error *error)
{
    const ingot_window_params *window = &((const ingot_conv_params *)conv->params)->window;
    const int64_t *step = all->list[0].step;
    int64_t dims[4], strides[2], pads[4];
    ingot_attribute attributes[3];
    ingot_graph_value *inputs[3] = {all->list[0].image, NULL, ingot_operand(conv, 2)};
    INGOT_TRY(spread_weights(conv, all, &inputs[1], dims, error));
    for (size_t i = 0; i < 2; i++)
        strides[i] = (window->strides.count > 0 ? window->strides.data[i] : 1) * step[i];
    for (size_t i = 0; i < 4; i++)
        pads[i] = (window->pads.count > 0 ? window->pads.data[i] : 0) * step[i % 2];
    INGOT_TRY(ingot_ints_attribute(conv->graph, "kernel_shape", dims + 2, 2, &attributes[0], error));
    INGOT_TRY(ingot_ints_attribute(conv->graph, "strides", strides, 2, &attributes[1], error));
    INGOT_TRY(ingot_ints_attribute(conv->graph, "pads", pads, 4, &attributes[2], error));
    const ingot_replacement by = {.op_type = "Conv",
                                  .opset = conv->opset,
                                  .inputs = inputs,
                                  .input_count = inputs[2] ? 3 : 2,
                                  .attributes = attributes,
                                  .attribute_count = 3};
    return ingot_replace_node(conv, &by, NULL, error);
}

ingot_status ingot_pass_conv_of_phases(ingot_graph *graph, const ingot_pass_context *context, bool *changed)
{
    for (ingot_node *n = graph->first; n; n = n->next) {
        phases all;
        if (!ingot_node_is(n, "Conv") || !ingot_value_is_read(n->outputs[0]) || !n->inputs[1] ||
            !find_phases(n->inputs[0], &all) || !suits(n, &all))
            continue;
        INGOT_TRY(rewrite(n, &all, context->error));
        *changed = true;
    }
    return INGOT_OK;
}

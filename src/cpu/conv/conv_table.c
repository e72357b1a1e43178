#include "cpu/conv/conv_table.h"

/* Widest vector of any level: a row may be read so far past its last output. */
#define MAX_LANES 16

static const ingot_conv_table *const tables[] = {
#define INGOT_LEVEL(suffix, features) &ingot_conv_table_##suffix,
#include "cpu/simd/levels.def"
#undef INGOT_LEVEL
};

const ingot_conv_table *ingot_conv_table_at(int level)
{
    return tables[level];
}

ingot_depthwise_layout ingot_depthwise_plane(const ingot_conv *c)
{
    ingot_depthwise_layout layout;
    size_t last = (c->kernel_width - 1) * c->dilation_width / c->stride_width;
    layout.rows = (c->out_height - 1) * c->stride_height + (c->kernel_height - 1) * c->dilation_height + 1;
    layout.row_size = (c->out_width + MAX_LANES - 1) / MAX_LANES * MAX_LANES + last;
    layout.size = layout.rows * layout.row_size * c->stride_width;
    return layout;
}

bool ingot_depthwise_is_direct(const ingot_conv *c)
{
    size_t size = c->kernel_width, stride = c->stride_width;
    bool square = c->kernel_height == size && c->stride_height == stride;
    bool plain = c->dilation_height == 1 && c->dilation_width == 1;
    return square && plain &&
           (((size == 3 || size == 5) && (stride == 1 || stride == 2)) || (size == 7 && stride == 1));
}

size_t ingot_depthwise_scratch(const ingot_conv *c)
{
    return ingot_depthwise_is_direct(c) ? c->in_width : ingot_depthwise_plane(c).size;
}

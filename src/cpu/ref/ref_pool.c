/* MaxPool, AveragePool, LpPool, their global forms, MaxUnpool: each plane goes through doubles, which hold every element type
 * of the family exactly. */
#include <math.h>
#include <string.h>

#include "cpu/ref/ref.h"
#include "cpu/ref/ref_conv_core.h"
#include "cpu/ref/ref_iterate.h"
#include "cpu/ref/ref_scratch.h"
#include "ops/pool.h"

/* ---- Windows ---- */

/* One place of the window: the taps first ... end - 1 of each axis lie in the input. */
typedef struct view {
    const ingot_window *window;
    const int64_t *in;                /* spatial sizes */
    int64_t start[INGOT_MAX_SPATIAL]; /* input index of tap 0; may be negative */
    int64_t first[INGOT_MAX_SPATIAL], end[INGOT_MAX_SPATIAL];
    bool empty;
} view;

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

static void view_at(view *v, const int64_t *place)
{
    const ingot_window *w = v->window;
    v->empty = false;
    for (int i = 0; i < w->spatial; i++) {
        int64_t start = place[i] * w->stride[i] - w->begin[i];
        int64_t first = start < 0 ? (-start + w->dilation[i] - 1) / w->dilation[i] : 0;
        int64_t end = start < v->in[i] ? (v->in[i] - 1 - start) / w->dilation[i] + 1 : 0;
        v->start[i] = start;
        v->end[i] = clamp(end, 0, w->kernel[i]);
        v->first[i] = clamp(first, 0, v->end[i]);
        v->empty = v->empty || v->first[i] == v->end[i];
    }
}

/* Calls visit for each run of taps along the last axis, in order. first: input cell of the run's first tap. */
typedef void (*visit_run)(void *state, const double *plane, int64_t first, int64_t step, int64_t count);

static void for_each_run(const view *v, const double *plane, visit_run visit, void *state)
{
    const ingot_window *w = v->window;
    int last = w->spatial - 1;
    int64_t tap[INGOT_MAX_SPATIAL];
    if (v->empty)
        return;
    memcpy(tap, v->first, sizeof tap);
    for (;;) {
        int64_t cell = 0;
        for (int i = 0; i <= last; i++)
            cell = cell * v->in[i] + v->start[i] + tap[i] * w->dilation[i];
        visit(state, plane, cell, w->dilation[last], v->end[last] - v->first[last]);
        int axis = last - 1;
        while (axis >= 0 && ++tap[axis] == v->end[axis]) {
            tap[axis] = v->first[axis];
            axis--;
        }
        if (axis < 0)
            return;
    }
}

/* ---- Sums over windows ---- */

typedef struct maximum {
    double value;
    int64_t cell; /* -1: none yet */
} maximum;

static void visit_maximum(void *state, const double *plane, int64_t first, int64_t step, int64_t count)
{
    maximum *m = state;
    for (int64_t i = 0; i < count; i++) {
        double x = plane[first + i * step];
        if (m->cell < 0 || x > m->value || (isnan(x) && !isnan(m->value)))
            *m = (maximum){x, first + i * step};
    }
}

static void visit_sum(void *state, const double *plane, int64_t first, int64_t step, int64_t count)
{
    double *sum = state;
    for (int64_t i = 0; i < count; i++)
        *sum += plane[first + i * step];
}

typedef struct power_sum {
    double p, sum;
} power_sum;

static void visit_power(void *state, const double *plane, int64_t first, int64_t step, int64_t count)
{
    power_sum *s = state;
    for (int64_t i = 0; i < count; i++)
        s->sum += pow(fabs(plane[first + i * step]), s->p);
}

/* Cells that a mean divides by. */
static double divisor(const view *v, bool count_include_pad)
{
    const ingot_window *w = v->window;
    double cells = 1;
    for (int i = 0; i < w->spatial; i++) {
        int64_t taps = v->end[i] - v->first[i];
        if (count_include_pad) {
            int64_t room = v->in[i] + w->end[i] - 1 - v->start[i];
            taps = room < 0 ? 0 : clamp(room / w->dilation[i] + 1, 0, w->kernel[i]);
        }
        cells *= (double)taps;
    }
    return cells;
}

/* ---- Kernels over windows ---- */

/* Index of a cell of a plane as MaxPool-8 gives it. */
static int64_t plane_index(const view *v, int64_t cell, bool column_major)
{
    if (!column_major || cell < 0)
        return cell;
    int64_t place[INGOT_MAX_SPATIAL];
    ingot_ref_unravel((size_t)cell, v->window->spatial, v->in, place);
    int64_t index = 0;
    for (int i = v->window->spatial - 1; i >= 0; i--)
        index = index * v->in[i] + place[i];
    return index;
}

typedef struct pool_job {
    const ingot_kernel_call *call;
    const ingot_pool_params *params;
    view view;
    size_t in_cells, out_cells; /* of a plane */
    double *in, *out;
    double lowest; /* MaxPool of a window that lies in the padding */
} pool_job;

typedef double (*pool_window)(pool_job *job, size_t plane, size_t cell);

static double max_window(pool_job *job, size_t plane, size_t cell)
{
    maximum m = {job->lowest, -1};
    for_each_run(&job->view, job->in, visit_maximum, &m);
    if (ingot_kernel_wants(job->call, 1)) {
        int64_t *indices = job->call->outputs[1]->data;
        int64_t index = plane_index(&job->view, m.cell, job->params->column_major);
        indices[plane * job->out_cells + cell] = index < 0 ? -1 : (int64_t)(plane * job->in_cells) + index;
    }
    return m.value;
}

static double average_window(pool_job *job, size_t plane, size_t cell)
{
    (void)plane;
    (void)cell;
    double sum = 0;
    for_each_run(&job->view, job->in, visit_sum, &sum);
    double cells = divisor(&job->view, job->params->count_include_pad);
    return cells > 0 ? sum / cells : 0;
}

static double lp_window(pool_job *job, size_t plane, size_t cell)
{
    (void)plane;
    (void)cell;
    power_sum s = {job->params->p, 0};
    for_each_run(&job->view, job->in, visit_power, &s);
    return pow(s.sum, 1 / s.p);
}

static void write_plane(ingot_value *y, size_t first, size_t count, const double *from)
{
    if (ingot_element_is_float(y->element)) {
        ingot_write_doubles(y->element, y->data, (int64_t)first, 1, count, from);
        return;
    }
    for (size_t i = 0; i < count; i++)
        ingot_store_i64(y->element, y->data, first + i, (int64_t)from[i]);
}

static double lowest_of(ingot_element element)
{
    switch (element) {
    case INGOT_INT8:
        return INT8_MIN;
    case INGOT_UINT8:
        return 0;
    default:
        return -INFINITY;
    }
}

static ingot_status pool(const ingot_kernel_call *call, pool_window reduce)
{
    const ingot_value *x = call->inputs[0];
    ingot_window window;
    pool_job job = {.call = call, .params = call->params, .lowest = lowest_of(x->element)};
    INGOT_TRY(ingot_pool_geometry(call->node, job.params, NULL, x->rank, x->dims, &window, call->error));
    job.view.window = &window;
    job.view.in = x->dims + 2;
    job.in_cells = ingot_dims_product(x->dims, 2, x->rank);
    job.out_cells = ingot_dims_product(window.out, 0, window.spatial);
    size_t elements[] = {job.in_cells, job.out_cells}, sizes[] = {sizeof(double), sizeof(double)};
    void *parts[2];
    INGOT_TRY(ingot_ref_scratch(call, 2, elements, sizes, parts));
    job.in = parts[0];
    job.out = parts[1];
    size_t planes = ingot_dims_product(x->dims, 0, 2);
    for (size_t plane = 0; plane < planes && job.out_cells; plane++) {
        ingot_ref_to_doubles(x, plane * job.in_cells, job.in_cells, job.in);
        for (size_t cell = 0; cell < job.out_cells; cell++) {
            int64_t place[INGOT_MAX_SPATIAL];
            ingot_ref_unravel(cell, window.spatial, window.out, place);
            view_at(&job.view, place);
            job.out[cell] = reduce(&job, plane, cell);
        }
        write_plane(call->outputs[0], plane * job.out_cells, job.out_cells, job.out);
    }
    return INGOT_OK;
}

ingot_status ingot_ref_max_pool(const ingot_kernel_call *call)
{
    return pool(call, max_window);
}

ingot_status ingot_ref_average_pool(const ingot_kernel_call *call)
{
    return pool(call, average_window);
}

ingot_status ingot_ref_lp_pool(const ingot_kernel_call *call)
{
    return pool(call, lp_window);
}

/* ---- Whole planes ---- */

typedef double (*pool_plane)(const double *plane, size_t count, double p);

static double max_plane(const double *plane, size_t count, double p)
{
    (void)p;
    maximum m = {-INFINITY, -1};
    visit_maximum(&m, plane, 0, 1, (int64_t)count);
    return m.value;
}

static double average_plane(const double *plane, size_t count, double p)
{
    (void)p;
    double sum = 0;
    visit_sum(&sum, plane, 0, 1, (int64_t)count);
    return sum / (double)count;
}

static double lp_plane(const double *plane, size_t count, double p)
{
    power_sum s = {p, 0};
    visit_power(&s, plane, 0, 1, (int64_t)count);
    return pow(s.sum, 1 / p);
}

static ingot_status pool_planes(const ingot_kernel_call *call, pool_plane reduce, double p)
{
    const ingot_value *x = call->inputs[0];
    size_t planes = ingot_dims_product(x->dims, 0, 2);
    size_t elements[] = {ingot_dims_product(x->dims, 2, x->rank)}, sizes[] = {sizeof(double)};
    void *parts[1];
    INGOT_TRY(ingot_ref_scratch(call, 1, elements, sizes, parts));
    for (size_t plane = 0; plane < planes; plane++) {
        ingot_ref_to_doubles(x, plane * elements[0], elements[0], parts[0]);
        double result = reduce(parts[0], elements[0], p);
        write_plane(call->outputs[0], plane, 1, &result);
    }
    return INGOT_OK;
}

ingot_status ingot_ref_global_max_pool(const ingot_kernel_call *call)
{
    return pool_planes(call, max_plane, 0);
}

ingot_status ingot_ref_global_average_pool(const ingot_kernel_call *call)
{
    return pool_planes(call, average_plane, 0);
}

ingot_status ingot_ref_global_lp_pool(const ingot_kernel_call *call)
{
    const ingot_global_pool_params *p = call->params;
    return pool_planes(call, lp_plane, p->p);
}

/* ---- MaxUnpool ---- */

ingot_status ingot_ref_max_unpool(const ingot_kernel_call *call)
{
    const ingot_value *x = call->inputs[0];
    ingot_value *y = call->outputs[0];
    const int64_t *indices = call->inputs[1]->data;
    size_t count = ingot_ref_count(x), size = ingot_element_size(x->element);
    int64_t natural[INGOT_MAX_RANK], place[INGOT_MAX_RANK];
    INGOT_TRY(ingot_max_unpool_shape(call->node, call->params, NULL, x->rank, x->dims, natural, call->error));
    size_t cells;
    if (!ingot_count_elements(x->rank, natural, &cells))
        return ingot_kernel_fail(call, "the unpooled shape has too many elements");
    for (int i = 0; i < x->rank; i++) {
        if (y->dims[i] < natural[i])
            return ingot_kernel_fail(call, "output_shape[%d] is %lld, but the unpooled input takes %lld", i,
                                     (long long)y->dims[i], (long long)natural[i]);
    }
    ingot_ref_zero(y);
    for (size_t i = 0; i < count; i++) {
        if (indices[i] < 0 || (uint64_t)indices[i] >= cells)
            return ingot_kernel_fail(call,
                                     "index %lld at element %zu of input 'I' is not in 0 ... %zu, the cells of the "
                                     "unpooled shape",
                                     (long long)indices[i], i, cells - 1);
        ingot_ref_unravel((size_t)indices[i], x->rank, natural, place);
        size_t at = 0;
        for (int axis = 0; axis < x->rank; axis++)
            at = at * (size_t)y->dims[axis] + (size_t)place[axis];
        memcpy((char *)y->data + at * size, (const char *)x->data + i * size, size);
    }
    return INGOT_OK;
}

/* Where, Clip. */
#include "cpu/ref/ref.h"
#include "cpu/ref/ref_iterate.h"
#include "ops/clip.h"

#define CHUNK 256 /* elements converted at a time */

/* ---- Where: elements are bits of some size ---- */

#define DEFINE_CHOOSE(type)                                                                              \
    static void choose_##type(const ingot_walk *walk, const uint8_t *choice, void *out, const void *yes, \
                              const void *no)                                                            \
    {                                                                                                    \
        type *z = (type *)out + walk->offset[0];                                                         \
        const type *x = (const type *)yes + walk->offset[2], *y = (const type *)no + walk->offset[3];    \
        choice += walk->offset[1];                                                                       \
        for (int64_t i = 0; i < (int64_t)walk->run; i++)                                                 \
            z[i] = choice[i * walk->step[1]] ? x[i * walk->step[2]] : y[i * walk->step[3]];              \
    }
DEFINE_CHOOSE(uint8_t)
DEFINE_CHOOSE(uint16_t)
DEFINE_CHOOSE(uint32_t)
DEFINE_CHOOSE(uint64_t)

typedef void (*choose_run)(const ingot_walk *walk, const uint8_t *choice, void *out, const void *yes, const void *no);

/* What has no type of its size (complex128) or lies packed. */
static void choose_copies(const ingot_walk *walk, const uint8_t *choice, size_t bits, void *out, const void *yes,
                          const void *no)
{
    for (int64_t i = 0; i < (int64_t)walk->run; i++) {
        bool first = choice[walk->offset[1] + i * walk->step[1]];
        int64_t from = first ? walk->offset[2] + i * walk->step[2] : walk->offset[3] + i * walk->step[3];
        ingot_copy_elements(bits, out, (size_t)(walk->offset[0] + i), first ? yes : no, (size_t)from, 1);
    }
}

static ingot_status choose_strings(const ingot_kernel_call *call, const ingot_walk *walk)
{
    const uint8_t *choice = call->inputs[0]->data;
    for (int64_t i = 0; i < (int64_t)walk->run; i++) {
        int input = choice[walk->offset[1] + i * walk->step[1]] ? 1 : 2;
        const ingot_value *from = call->inputs[input];
        const ingot_string *string =
            (const ingot_string *)from->data + walk->offset[input + 1] + i * walk->step[input + 1];
        INGOT_TRY(ingot_value_set_string(call->outputs[0], (size_t)(walk->offset[0] + i),
                                         string->length > 0 ? from->strings + string->offset : "", string->length,
                                         call->error));
    }
    return INGOT_OK;
}

ingot_status ingot_ref_where(const ingot_kernel_call *call)
{
    static const choose_run runs[] = {
        [1] = choose_uint8_t, [2] = choose_uint16_t, [4] = choose_uint32_t, [8] = choose_uint64_t};
    ingot_value *z = call->outputs[0];
    const ingot_value *choice = call->inputs[0], *yes = call->inputs[1], *no = call->inputs[2];
    size_t size = ingot_element_size(z->element);
    choose_run run = size < sizeof runs / sizeof *runs ? runs[size] : NULL;
    ingot_walk walk;
    ingot_walk_init(&walk, z->rank, z->dims);
    for (int i = 0; i < 3; i++)
        ingot_walk_add_broadcast(&walk, call->inputs[i]->rank, call->inputs[i]->dims);
    for (bool more = ingot_walk_begin(&walk); more; more = ingot_walk_next(&walk)) {
        if (z->element == INGOT_STRING)
            INGOT_TRY(choose_strings(call, &walk));
        else if (run)
            run(&walk, choice->data, z->data, yes->data, no->data);
        else
            choose_copies(&walk, choice->data, ingot_element_bits(z->element), z->data, yes->data, no->data);
    }
    return INGOT_OK;
}

/* ---- Clip: NaN stays NaN, and max wins where min is above it ---- */

/* A bound that is absent holds nothing. */
#define DEFINE_CLIP(element, type, wide)                                                               \
    static void clip_##type(void *out, const void *in, size_t count, const void *min, const void *max) \
    {                                                                                                  \
        type *z = out;                                                                                 \
        const type *x = in;                                                                            \
        const bool has_min = min != NULL, has_max = max != NULL;                                       \
        const type low = has_min ? *(const type *)min : 0, high = has_max ? *(const type *)max : 0;    \
        for (size_t i = 0; i < count; i++) {                                                           \
            type value = has_min && x[i] < low ? low : x[i];                                           \
            z[i] = has_max && value > high ? high : value;                                             \
        }                                                                                              \
    }
INGOT_NATIVE_NUMBERS(DEFINE_CLIP)

typedef void (*clip_run)(void *out, const void *in, size_t count, const void *min, const void *max);

#define CLIP_SLOT(element, type, wide) [element] = clip_##type,
static const clip_run clip_runs[INGOT_ELEMENT_COUNT] = {INGOT_NATIVE_NUMBERS(CLIP_SLOT)};

/* A bound of a float type as a number; NULL where there is none. */
static const double *real_bound(const ingot_kernel_call *call, size_t input, float attribute, double *number)
{
    const ingot_clip_params *params = call->params;
    if (params->from_attributes)
        *number = attribute;
    else if (ingot_kernel_has(call, input))
        *number = ingot_load_double(call->inputs[input]->element, call->inputs[input]->data, 0);
    else
        return NULL;
    return number;
}

/* Attributes as bounds, and narrow floats: through double, where all of them are exact. */
static void clip_reals(const ingot_kernel_call *call, size_t elements)
{
    const ingot_clip_params *params = call->params;
    const ingot_value *a = call->inputs[0];
    ingot_value *z = call->outputs[0];
    double x[CHUNK], low, high;
    const double *min = real_bound(call, 1, params->min, &low), *max = real_bound(call, 2, params->max, &high);
    for (size_t done = 0; done < elements; done += CHUNK) {
        size_t count = elements - done < CHUNK ? elements - done : CHUNK;
        ingot_read_doubles(a->element, a->data, (int64_t)done, 1, count, x);
        clip_double(x, x, count, min, max);
        ingot_write_doubles(z->element, z->data, (int64_t)done, 1, count, x);
    }
}

ingot_status ingot_ref_clip(const ingot_kernel_call *call)
{
    const ingot_clip_params *params = call->params;
    const ingot_value *a = call->inputs[0];
    ingot_value *z = call->outputs[0];
    size_t count = ingot_dims_product(z->dims, 0, z->rank);
    const void *bounds[2] = {NULL, NULL};
    for (size_t i = 1; i <= 2; i++) {
        if (!ingot_kernel_has(call, i))
            continue;
        const ingot_value *bound = call->inputs[i];
        if (ingot_dims_product(bound->dims, 0, bound->rank) != 1)
            return ingot_kernel_fail(call, "input '%s' must be a single number", i == 1 ? "min" : "max");
        bounds[i - 1] = bound->data;
    }
    clip_run run = clip_runs[a->element];
    if (run && !params->from_attributes)
        run(z->data, a->data, count, bounds[0], bounds[1]);
    else
        clip_reals(call, count);
    return INGOT_OK;
}

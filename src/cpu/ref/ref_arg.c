/* ArgMax, ArgMin. */
#include "cpu/ref/ref.h"
#include "cpu/ref/ref_iterate.h"
#include "ops/reduce.h"

#define CHUNK 256 /* elements converted at a time */

/* The best element so far and its index. */
typedef struct contest {
    double real;
    int64_t whole, index;
} contest;

/* Whether x beats the best: NaN beats all numbers, as in numpy; last: an equal one does too. */
static bool beats_real(double x, double best, bool max, bool last)
{
    if (best != best)
        return last && x != x;
    return x != x || (max ? x > best : x < best) || (last && x == best);
}

static bool beats_whole(int64_t x, int64_t best, bool is_unsigned, bool max, bool last)
{
    if (x == best)
        return last;
    bool less = is_unsigned ? (uint64_t)x < (uint64_t)best : x < best;
    return less != max;
}

static int64_t find(const ingot_value *a, size_t start, ingot_split split, bool max, bool last)
{
    bool whole = ingot_element_is_integer(a->element), is_unsigned = a->element == INGOT_UINT64;
    contest best = {0};
    double reals[CHUNK];
    for (size_t done = 0; done < split.size; done += CHUNK) {
        size_t count = split.size - done < CHUNK ? split.size - done : CHUNK;
        size_t from = start + done * split.inner;
        if (!whole)
            ingot_read_doubles(a->element, a->data, (int64_t)from, (int64_t)split.inner, count, reals);
        for (size_t i = 0; i < count; i++) {
            int64_t x = whole ? ingot_load_i64(a->element, a->data, from + i * split.inner) : 0;
            bool better = done + i == 0 || (whole ? beats_whole(x, best.whole, is_unsigned, max, last)
                                                  : beats_real(reals[i], best.real, max, last));
            if (better)
                best = (contest){whole ? 0 : reals[i], x, (int64_t)(done + i)};
        }
    }
    return best.index;
}

static ingot_status find_all(const ingot_kernel_call *call, bool max)
{
    const ingot_arg_params *p = call->params;
    const ingot_value *a = call->inputs[0];
    int axis = ingot_axis(p->axis, a->rank);
    ingot_split split = ingot_split_at(a->rank, a->dims, axis);
    int64_t *z = call->outputs[0]->data;
    if (split.size == 0)
        return ingot_kernel_fail(call, "axis %d of the input has size 0: of no elements none is the %s", axis,
                                 max ? "greatest" : "least");
    for (size_t o = 0; o < split.outer; o++)
        for (size_t i = 0; i < split.inner; i++)
            *z++ = find(a, o * split.size * split.inner + i, split, max, p->select_last_index);
    return INGOT_OK;
}

ingot_status ingot_ref_arg_max(const ingot_kernel_call *call)
{
    return find_all(call, true);
}

ingot_status ingot_ref_arg_min(const ingot_kernel_call *call)
{
    return find_all(call, false);
}

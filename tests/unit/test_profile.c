/* Profiles: what runs note of their steps, against what the models are known to do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api_fixture.h"
#include "ingot/tools.h"

enum { EVENTS = 500 };

typedef struct profiled {
    fixture f;
    ingot_context *context;
    ingot_profile *profile;
    ingot_value *inputs[MOST_VALUES];
} profiled;

/* A context of the model with inputs whose free sizes are size, and its profile. */
static void open_profiled(profiled *p, const char *name, int64_t size)
{
    memset(p, 0, sizeof *p);
    open_fixture(&p->f, name, NULL);
    assert_int_equal(ingot_context_create(p->f.session, &p->context, NULL), INGOT_OK);
    assert_true(make_inputs(p->f.session, size, true, p->inputs, NULL));
    for (size_t i = 0; i < ingot_session_input_count(p->f.session); i++)
        assert_int_equal(
            ingot_context_bind_input(p->context, ingot_session_input(p->f.session, i)->name, p->inputs[i], NULL),
            INGOT_OK);
    assert_int_equal(ingot_profile_create(p->context, EVENTS, &p->profile, NULL), INGOT_OK);
}

static void close_profiled(profiled *p)
{
    ingot_profile_release(p->profile);
    ingot_context_release(p->context);
    release_values(p->inputs);
    close_fixture(&p->f);
}

static void run_profiled(profiled *p)
{
    if (ingot_context_run(p->context, NULL, &p->f.error) != INGOT_OK)
        fail_msg("%s", p->f.error.message);
}

/* Sums over the regions whose operators begin with these words; returns how many there are. */
static size_t sum_regions(const profiled *p, const char *operators, ingot_profile_region *sum)
{
    ingot_profile_region region;
    size_t count = 0;
    *sum = (ingot_profile_region){0};
    for (size_t i = 0; ingot_profile_get(p->profile, i, &region); i++) {
        if (strncmp(region.region.operators, operators, strlen(operators)) != 0)
            continue;
        count++;
        sum->calls += region.calls;
        sum->ns += region.ns;
        sum->bytes += region.bytes;
        sum->region.flops += region.region.flops;
    }
    return count;
}

static void arithmetic_and_traffic_are_those_of_the_shapes(void **state)
{
    profiled p;
    ingot_profile_region sum;
    open_profiled(&p, "large", 6);
    run_profiled(&p);
    assert_int_equal(sum_regions(&p, "MatMul", &sum), 2);
    assert_int_equal(sum.calls, 2);
    assert_true(sum.region.flops == 2 * 2 * 6 * 6 * 6);
    assert_true(sum.bytes == 2 * 3 * 6 * 6 * 4);
    close_profiled(&p);
}

static void fused_regions_count_all_their_products(void **state)
{
    profiled p;
    ingot_profile_region sum;
    open_profiled(&p, "conv", 8);
    run_profiled(&p);
    sum_regions(&p, "", &sum);
    double first = 2.0 * 8 * 8 * 8 * 8 * 3 * 9, depthwise = 2.0 * 8 * 8 * 4 * 4 * 9;
    double transposed = 2.0 * 8 * 8 * 4 * 4 * 6 * 4, last = 2.0 * 8 * 5 * 6;
    assert_true(sum.region.flops == first + depthwise + transposed + last);
    close_profiled(&p);
}

/* The Loop makes three trips, each runs one branch of an If; the Scan goes over the four rows. */
static void bodies_are_seen(void **state)
{
    profiled p;
    ingot_profile_region region, parent;
    size_t deepest = 0, in_loop = 0, in_scan = 0;
    open_profiled(&p, "control", 4);
    run_profiled(&p);
    for (size_t i = 0; ingot_profile_get(p.profile, i, &region); i++) {
        assert_int_equal(region.parent == SIZE_MAX, region.depth == 0);
        assert_int_equal(region.body == NULL, region.depth == 0);
        deepest = (size_t)region.depth > deepest ? (size_t)region.depth : deepest;
        if (region.depth == 0)
            continue;
        assert_true(ingot_profile_get(p.profile, region.parent, &parent));
        assert_string_equal(parent.region.tactic, "control");
        assert_int_equal(parent.depth, region.depth - 1);
        assert_true(parent.ns >= region.ns);
        if (region.depth == 1 && strcmp(parent.region.operators, "Loop") == 0 && region.calls > 0) {
            assert_int_equal(region.calls, 3);
            assert_string_equal(region.body, "body");
            in_loop++;
        }
        if (strcmp(parent.region.operators, "Scan") == 0 && region.calls > 0) {
            assert_int_equal(region.calls, 4);
            in_scan++;
        }
    }
    assert_int_equal(deepest, 2);
    assert_true(in_loop > 0 && in_scan > 0);
    close_profiled(&p);
}

static void events_nest_and_add_up(void **state)
{
    profiled p;
    ingot_profile_event event, outer;
    ingot_profile_region region;
    uint64_t calls = 0, events = 0;
    open_profiled(&p, "control", 4);
    run_profiled(&p);
    for (size_t i = 0; ingot_profile_get(p.profile, i, &region); i++)
        calls += region.calls;
    for (; ingot_profile_event_at(p.profile, events, &event); events++) {
        assert_true(event.begin_ns <= event.end_ns);
        assert_true(ingot_profile_get(p.profile, event.region, &region));
        bool nested = region.depth == 0;
        for (size_t i = events + 1; !nested && ingot_profile_event_at(p.profile, i, &outer); i++)
            nested = outer.region == region.parent && outer.begin_ns <= event.begin_ns && event.end_ns <= outer.end_ns;
        assert_true(nested);
    }
    assert_int_equal(events, calls);
    assert_int_equal(ingot_profile_event_total(p.profile), calls);
    close_profiled(&p);
}

static void events_beyond_the_limit_are_counted_alone(void **state)
{
    profiled p;
    ingot_profile *small = NULL;
    ingot_profile_event event;
    open_profiled(&p, "control", 4);
    assert_int_equal(ingot_profile_create(p.context, 2, &small, NULL), INGOT_OK);
    run_profiled(&p);
    assert_true(ingot_profile_event_at(small, 1, &event));
    assert_false(ingot_profile_event_at(small, 2, &event));
    assert_true(ingot_profile_event_total(small) > 2);
    assert_int_equal(ingot_profile_event_total(p.profile), 0); /* one is active at a time */
    ingot_profile_release(small);
    close_profiled(&p);
}

static void what_is_not_active_keeps_what_it_has(void **state)
{
    profiled p;
    ingot_profile_region sum;
    open_profiled(&p, "large", 3);
    sum_regions(&p, "", &sum);
    assert_int_equal(sum.calls, 0);
    run_profiled(&p);
    sum_regions(&p, "", &sum);
    uint64_t ns = sum.ns;
    assert_true(ns > 0);
    ingot_profile_set_active(p.profile, false);
    run_profiled(&p);
    sum_regions(&p, "", &sum);
    assert_true(sum.calls == 2 && sum.ns == ns);
    ingot_profile_set_active(p.profile, true);
    run_profiled(&p);
    sum_regions(&p, "", &sum);
    assert_int_equal(sum.calls, 2); /* of one run */
    close_profiled(&p);
}

static void a_stride_notes_each_region_once_in_so_many_runs(void **state)
{
    profiled p;
    ingot_profile_region region, all[EVENTS];
    open_profiled(&p, "control", 4);
    run_profiled(&p);
    size_t count = ingot_profile_region_count(p.profile);
    uint64_t noted[EVENTS] = {0};
    assert_in_range(count, 5, EVENTS);
    for (size_t i = 0; i < count; i++)
        ingot_profile_get(p.profile, i, &all[i]);
    ingot_profile_set_stride(p.profile, 4);
    for (int i = 0; i < 4; i++) {
        run_profiled(&p);
        for (size_t r = 0; r < count; r++) {
            ingot_profile_get(p.profile, r, &region);
            noted[r] += region.calls;
        }
    }
    for (size_t r = 0; r < count; r++)
        assert_int_equal(noted[r], all[r].calls);
    close_profiled(&p);
}

static void wrong_calls_fail_with_a_reason(void **state)
{
    ingot_profile *profile = NULL;
    ingot_profile_region region;
    ingot_profile_event event;
    ingot_peak peak;
    EXPECT(INGOT_INVALID_ARGUMENT, ingot_profile_create(NULL, 0, &profile, &error),
           ingot_profile_create(NULL, 0, &profile, NULL), "needs a context");
    EXPECT(INGOT_INVALID_ARGUMENT, ingot_peak_measure(0, -1, 0, &peak, &error),
           ingot_peak_measure(0, -1, 0, &peak, NULL), "threads");
    EXPECT(INGOT_NOT_FOUND, ingot_peak_measure(ingot_peak_count(), 1, 0, &peak, &error),
           ingot_peak_measure(ingot_peak_count(), 1, 0, &peak, NULL), "ingot_peak_count");
    assert_false(ingot_profile_get(NULL, 0, &region));
    assert_false(ingot_profile_event_at(NULL, 0, &event));
    assert_int_equal(ingot_profile_region_count(NULL), 0);
    ingot_profile_set_active(NULL, true);
    ingot_profile_set_stride(NULL, 2);
    ingot_profile_release(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic_and_traffic_are_those_of_the_shapes),
        cmocka_unit_test(fused_regions_count_all_their_products),
        cmocka_unit_test(bodies_are_seen),
        cmocka_unit_test(events_nest_and_add_up),
        cmocka_unit_test(events_beyond_the_limit_are_counted_alone),
        cmocka_unit_test(what_is_not_active_keeps_what_it_has),
        cmocka_unit_test(a_stride_notes_each_region_once_in_so_many_runs),
        cmocka_unit_test(wrong_calls_fail_with_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

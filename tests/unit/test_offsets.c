/* Offsets in an arena: blocks that live at the same time never overlap, and the arena has hardly a gap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plan/offsets.h"

static size_t begin(ingot_offsets *offsets, size_t size, size_t first)
{
    size_t span = SIZE_MAX;
    assert_int_equal(ingot_offsets_begin(offsets, size, first, &span, NULL), INGOT_OK);
    return span;
}

static void expect_apart(const ingot_offsets *offsets)
{
    for (size_t i = 0; i < offsets->count; i++) {
        const ingot_span *a = &offsets->spans[i];
        assert_int_equal(a->offset % INGOT_ALIGNMENT, 0);
        assert_true(a->offset + a->size <= offsets->end);
        for (size_t k = 0; k < i; k++) {
            const ingot_span *b = &offsets->spans[k];
            assert_true(a->last < b->first || b->last < a->first || a->offset + a->size <= b->offset ||
                        b->offset + b->size <= a->offset);
        }
    }
}

/* Each block is read by the next step: two are alive at any time. */
static void a_chain_needs_its_two_largest_neighbours(void **state)
{
    static const size_t sizes[] = {64, 640, 128, 1280, 1920, 64, 100};
    enum { COUNT = sizeof sizes / sizeof *sizes };
    ingot_offsets offsets = {0};
    size_t before = SIZE_MAX;
    for (size_t i = 0; i < COUNT; i++) {
        const size_t span = begin(&offsets, sizes[i], i);
        if (i > 0)
            ingot_offsets_end(&offsets, before, i);
        before = span;
    }
    assert_int_equal(ingot_offsets_place(&offsets, NULL), INGOT_OK);
    expect_apart(&offsets);
    assert_int_equal(offsets.most, 1280 + 1920);
    assert_int_equal(offsets.end, offsets.most);
    ingot_offsets_clear(&offsets);
}

static void random_lives_do_not_overlap_and_waste_little(void **state)
{
    enum { ROUNDS = 50, STEPS = 120, LIVE = 12 };
    size_t bound = 0, end = 0;
    srandom(1);
    for (int round = 0; round < ROUNDS; round++) {
        ingot_offsets offsets = {0};
        size_t live[LIVE], count = 0;
        for (size_t step = 0; step < STEPS; step++) {
            live[count++] = begin(&offsets, (size_t)(random() % 10000), step);
            while (count == LIVE || (count > 1 && random() % 2)) {
                const size_t ended = (size_t)random() % count;
                ingot_offsets_end(&offsets, live[ended], step);
                live[ended] = live[--count];
            }
        }
        assert_int_equal(ingot_offsets_place(&offsets, NULL), INGOT_OK);
        expect_apart(&offsets);
        bound += offsets.most;
        end += offsets.end;
        ingot_offsets_clear(&offsets);
    }
    assert_in_range(end, bound, bound * 110 / 100);
}

static void nothing_and_empty_blocks_need_no_memory(void **state)
{
    ingot_offsets offsets = {0};
    assert_int_equal(ingot_offsets_place(&offsets, NULL), INGOT_OK);
    assert_int_equal(offsets.end, 0);
    begin(&offsets, 0, 0);
    assert_int_equal(ingot_offsets_place(&offsets, NULL), INGOT_OK);
    assert_int_equal(offsets.end, 0);
    ingot_offsets_clear(&offsets);
}

static void more_than_any_memory_is_refused(void **state)
{
    ingot_offsets offsets = {0};
    size_t span;
    begin(&offsets, SIZE_MAX / 2, 0);
    assert_int_equal(ingot_offsets_begin(&offsets, SIZE_MAX / 2 + 1000, 0, &span, NULL), INGOT_OUT_OF_MEMORY);
    assert_int_equal(ingot_offsets_begin(&offsets, SIZE_MAX, 0, &span, NULL), INGOT_OUT_OF_MEMORY);
    ingot_offsets_clear(&offsets);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_needs_its_two_largest_neighbours),
        cmocka_unit_test(random_lives_do_not_overlap_and_waste_little),
        cmocka_unit_test(nothing_and_empty_blocks_need_no_memory),
        cmocka_unit_test(more_than_any_memory_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

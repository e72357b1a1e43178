/* What the pool costs others, and pools of the program's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>

#include "api_fixture.h"
#include "base/clock.h"
#include "base/float_mode.h"
#include "base/threads.h"

enum { MILLISECOND = 1000000 };

static void spin(uint64_t nanoseconds)
{
    const uint64_t start = ingot_clock_ns();
    while (ingot_clock_ns() - start < nanoseconds) {
    }
}

/* ---- Being no burden ---- */

static uint64_t processor_ns(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000 +
           (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

static void work_for_a_while(void *argument, size_t chunk, int participant)
{
    spin(20000);
}

static void workers_that_have_nothing_to_do_sleep_within_milliseconds(void **state)
{
    for (int again = 0; again < 20; again++)
        ingot_parallel(4, 16, work_for_a_while, NULL);
    usleep(5000);
    const uint64_t before = processor_ns();
    usleep(200000);
    assert_in_range(processor_ns() - before, 0, 4 * MILLISECOND); /* 2 % of one processor */
}

/* A job in which workers lose their processor for some time, as far as the caller can see. */
typedef struct lateness {
    uint64_t delay_ns;
    atomic_uint helped;       /* chunks that workers took */
    _Atomic uint64_t back_at; /* when the last of them was done */
} lateness;

static void keep_the_caller_waiting(void *argument, size_t chunk, int participant)
{
    lateness *l = argument;
    if (participant == 0) {
        spin(100000);
        return;
    }
    atomic_fetch_add(&l->helped, 1);
    usleep((useconds_t)(l->delay_ns / 1000));
    atomic_store(&l->back_at, ingot_clock_ns());
}

static bool somebody_helps(lateness *l)
{
    for (int again = 0; again < 3000 && atomic_load(&l->helped) == 0; again++)
        ingot_parallel(2, 8, keep_the_caller_waiting, l);
    return atomic_load(&l->helped) > 0;
}

/* On a busy machine the caller may be late itself, and not see that the worker was: most tries count. */
static void a_late_worker_gets_no_work_for_a_millisecond_at_least(void **state)
{
    enum { TRIES = 20 };
    int tries = 0, alone = 0;
    for (int again = 0; again < 10 * TRIES && tries < TRIES; again++) {
        lateness late = {.delay_ns = 10 * MILLISECOND}, next = {.delay_ns = 0}, later = {.delay_ns = 0};
        assert_true(somebody_helps(&late));
        while (ingot_clock_ns() - atomic_load(&late.back_at) < MILLISECOND / 2)
            ingot_parallel(2, 2, keep_the_caller_waiting, &next);
        if (ingot_clock_ns() - atomic_load(&late.back_at) < MILLISECOND) {
            tries++;
            alone += atomic_load(&next.helped) == 0;
        }
        assert_true(somebody_helps(&later));
    }
    assert_in_range(alone, tries / 2 + 1, TRIES);
}

static void the_affinity_of_the_process_bounds_its_threads(void **state)
{
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &before))
            CPU_SET(i, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    const int available = ingot_threads_available();
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    assert_int_equal(available, 1);
}

/* ---- A pool of the program's own ---- */

typedef struct own_pool {
    ingot_thread_pool pool;
    atomic_uint calls, most;
} own_pool;

static void note_call(own_pool *pool, int count)
{
    atomic_fetch_add(&pool->calls, 1);
    if ((unsigned)count > atomic_load(&pool->most))
        atomic_store(&pool->most, (unsigned)count);
}

static void run_backwards(void *user, int count, void (*work)(void *argument, int index), void *argument)
{
    note_call(user, count);
    for (int i = count; i-- > 0;)
        work(argument, i);
}

typedef struct helper {
    void (*work)(void *argument, int index);
    void *argument;
    int index;
    bool kept_mode;
} helper;

/* Threads that round in a way of their own. */
static void *help(void *argument)
{
    helper *h = argument;
    fesetround(FE_UPWARD);
    const unsigned mode = ingot_float_mode();
    h->work(h->argument, h->index);
    h->kept_mode = ingot_float_mode() == mode;
    return NULL;
}

static void run_in_new_threads(void *user, int count, void (*work)(void *argument, int index), void *argument)
{
    enum { MOST = 16 };
    pthread_t threads[MOST];
    helper helpers[MOST];
    note_call(user, count);
    assert_in_range(count, 1, MOST);
    for (int i = 1; i < count; i++) {
        helpers[i] = (helper){work, argument, i, false};
        assert_int_equal(pthread_create(&threads[i], NULL, help, &helpers[i]), 0);
    }
    work(argument, 0);
    for (int i = 1; i < count; i++) {
        pthread_join(threads[i], NULL);
        assert_true(helpers[i].kept_mode);
    }
}

static void (*const ways[])(void *, int, void (*)(void *, int), void *) = {run_backwards, run_in_new_threads};
enum { WAY_COUNT = sizeof ways / sizeof *ways };

enum { CHUNKS = 100 };

typedef struct tally {
    atomic_uint taken[CHUNKS];
    float thirds[CHUNKS];
    atomic_uint strangers; /* participants beyond those asked for */
    bool nested;
} tally;

static void take(void *argument, size_t chunk, int participant)
{
    tally *t = argument;
    volatile float three = 3;
    atomic_fetch_add(&t->taken[chunk], 1);
    t->thirds[chunk] = 1 / three;
    if (participant < 0 || participant >= 5)
        atomic_fetch_add(&t->strangers, 1);
}

static void take_all(void *argument, size_t chunk, int participant)
{
    tally *rows = argument;
    ingot_parallel(5, CHUNKS, take, &rows[chunk]);
}

static void expect_taken_once(const tally *t)
{
    const float third = 1.0f / 3;
    for (size_t i = 0; i < CHUNKS; i++) {
        assert_int_equal(atomic_load(&t->taken[i]), 1);
        assert_memory_equal(&t->thirds[i], &third, sizeof third);
    }
    assert_int_equal(atomic_load(&t->strangers), 0);
}

static void the_programs_pool_runs_every_chunk_once_with_the_callers_rounding(void **state)
{
    for (size_t way = 0; way < WAY_COUNT; way++) {
        own_pool own = {.pool = {ways[way], &own}};
        tally t = {0};
        assert_null(ingot_threads_use(&own.pool));
        ingot_parallel(5, CHUNKS, take, &t);
        ingot_parallel(1, 1, take, &(tally){0}); /* one participant needs no pool */
        assert_ptr_equal(ingot_threads_use(NULL), &own.pool);
        expect_taken_once(&t);
        assert_int_equal(atomic_load(&own.calls), 1);
        assert_int_equal(atomic_load(&own.most), 5);
    }
}

static void a_task_in_the_programs_pool_does_not_call_it_again(void **state)
{
    enum { ROWS = 6 };
    for (size_t way = 0; way < WAY_COUNT; way++) {
        own_pool own = {.pool = {ways[way], &own}};
        tally rows[ROWS] = {0};
        ingot_threads_use(&own.pool);
        ingot_parallel(3, ROWS, take_all, rows);
        ingot_threads_use(NULL);
        for (size_t i = 0; i < ROWS; i++)
            expect_taken_once(&rows[i]);
        assert_int_equal(atomic_load(&own.calls), 1);
    }
}

/* ---- Sessions ---- */

enum { SIZE = 48 }; /* of the free sizes: large enough to be shared out */

/* The output of the model "attention" for made-up inputs. */
static ingot_value *run_attention(const ingot_session_options *options)
{
    fixture f;
    ingot_value *output = NULL;
    open_fixture(&f, "attention", options);
    const ingot_value_info *info = ingot_session_input(f.session, 0);
    ingot_value *input = make_value(info->type, SIZE, &f.error);
    assert_non_null(input);
    if (run(&f, info->name, input, ingot_session_output(f.session, 0)->name, &output, &f.error) != INGOT_OK)
        fail_msg("%s", f.error.message);
    ingot_value_release(input);
    close_fixture(&f);
    return output;
}

static void expect_same(const ingot_value *a, const ingot_value *b)
{
    assert_int_equal(ingot_value_bytes(a), ingot_value_bytes(b));
    assert_memory_equal(ingot_value_data(a), ingot_value_data(b), ingot_value_bytes(a));
}

static void a_session_runs_in_the_programs_pool_with_the_same_bits(void **state)
{
    ingot_session_options options;
    ingot_session_options_init(&options);
    options.threads = 1;
    ingot_value *expected = run_attention(&options);
    for (size_t way = 0; way < WAY_COUNT; way++) {
        own_pool own = {.pool = {ways[way], &own}};
        options.threads = 3;
        options.thread_pool = &own.pool;
        ingot_value *output = run_attention(&options);
        expect_same(output, expected);
        assert_in_range(atomic_load(&own.calls), 1, 1000);
        assert_in_range(atomic_load(&own.most), 2, 3);
        ingot_value_release(output);
    }
    ingot_value_release(expected);
}

static void a_pool_without_its_function_is_refused(void **state)
{
    const struct library_model *m = library_model("attention");
    const ingot_thread_pool none = {NULL, NULL};
    ingot_session_options options;
    ingot_model *model = NULL;
    ingot_session *session = NULL;
    ingot_session_options_init(&options);
    options.thread_pool = &none;
    assert_int_equal(ingot_model_open_memory(m->data, m->size, NULL, &model, NULL), INGOT_OK);
    EXPECT(INGOT_INVALID_ARGUMENT, ingot_session_create(model, &options, &session, &error),
           ingot_session_create(model, &options, &session, NULL), "thread_pool", "run");
    ingot_model_release(model);
}

static void no_bit_depends_on_how_the_program_rounds(void **state)
{
    static const int roundings[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    ingot_session_options options;
    ingot_session_options_init(&options);
    options.threads = 2;
    ingot_value *expected = run_attention(&options);
    for (size_t i = 0; i < sizeof roundings / sizeof *roundings; i++) {
        const unsigned flush = INGOT_FLOAT_FLUSH & ~INGOT_FLOAT_IEEE, before = ingot_float_mode();
        assert_int_equal(fesetround(roundings[i]), 0);
        ingot_float_mode_set(ingot_float_mode() | flush);
        const unsigned mode = ingot_float_mode();
        ingot_value *output = run_attention(&options);
        const unsigned after = ingot_float_mode();
        fesetround(FE_TONEAREST);
        ingot_float_mode_set(before);
        assert_int_equal(after, mode);
        expect_same(output, expected);
        ingot_value_release(output);
    }
    ingot_value_release(expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_late_worker_gets_no_work_for_a_millisecond_at_least), /* while there is one worker */
        cmocka_unit_test(workers_that_have_nothing_to_do_sleep_within_milliseconds),
        cmocka_unit_test(the_affinity_of_the_process_bounds_its_threads),
        cmocka_unit_test(the_programs_pool_runs_every_chunk_once_with_the_callers_rounding),
        cmocka_unit_test(a_task_in_the_programs_pool_does_not_call_it_again),
        cmocka_unit_test(a_session_runs_in_the_programs_pool_with_the_same_bits),
        cmocka_unit_test(a_pool_without_its_function_is_refused),
        cmocka_unit_test(no_bit_depends_on_how_the_program_rounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

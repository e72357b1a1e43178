/* The pool: every chunk once, whoever calls, from wherever, with however many threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <float.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/float_mode.h"
#include "base/threads.h"

enum { MOST_CHUNKS = 5000 };

typedef struct job {
    int threads;
    size_t chunks;
    atomic_uchar taken[MOST_CHUNKS];
    unsigned plain[MOST_CHUNKS];           /* not atomic: the caller must see what workers wrote */
    atomic_uint inside[INGOT_MAX_THREADS]; /* tasks that run as this participant at the moment */
    atomic_uint faults;
} job;

static void count(void *argument, size_t chunk, int participant)
{
    job *j = argument;
    if (participant < 0 || participant >= j->threads || chunk >= j->chunks) {
        atomic_fetch_add(&j->faults, 1);
        return;
    }
    if (atomic_fetch_add(&j->inside[participant], 1) != 0)
        atomic_fetch_add(&j->faults, 1); /* two at once would share scratch memory */
    atomic_fetch_add(&j->taken[chunk], 1);
    j->plain[chunk] += (unsigned)chunk + 1;
    for (volatile int i = 0; i < 200; i++) {
    }
    atomic_fetch_sub(&j->inside[participant], 1);
}

/* Whether each chunk was taken once, by participants that are allowed. */
static bool runs_right(job *j, int threads, size_t chunks)
{
    memset(j, 0, sizeof *j);
    j->threads = threads < 1 ? 1 : threads;
    j->chunks = chunks;
    ingot_parallel(threads, chunks, count, j);
    for (size_t i = 0; i < chunks; i++)
        if (atomic_load(&j->taken[i]) != 1 || j->plain[i] != i + 1)
            return false;
    return atomic_load(&j->faults) == 0;
}

static void every_chunk_is_run_once(void **state)
{
    static job j;
    static const size_t chunks[] = {0, 1, 2, 3, 7, 8, 100, MOST_CHUNKS};
    for (int threads = -1; threads <= 8; threads++)
        for (size_t i = 0; i < sizeof chunks / sizeof chunks[0]; i++)
            for (int again = 0; again < 20; again++)
                assert_true(runs_right(&j, threads, chunks[i]));
}

static void jobs_follow_one_another_closely(void **state)
{
    static job j;
    for (int again = 0; again < 3000; again++)
        assert_true(runs_right(&j, 4, 1 + (size_t)again % 9));
}

static void sleeping_workers_wake(void **state)
{
    static job j;
    for (int again = 0; again < 20; again++) {
        usleep(2000);
        assert_true(runs_right(&j, 3, 50));
    }
}

static void note_participant(void *argument, size_t chunk, int participant)
{
    atomic_fetch_or((atomic_uint *)argument, 1u << participant);
    usleep(1000);
}

static void workers_do_take_part(void **state)
{
    atomic_uint seen = 0;
    for (int again = 0; again < 100 && atomic_load(&seen) != 7; again++)
        ingot_parallel(3, 12, note_participant, &seen);
    assert_int_equal(atomic_load(&seen), 7);
}

static void *call_often(void *argument)
{
    static _Thread_local job j;
    for (int again = 0; again < 200; again++)
        if (!runs_right(&j, 2 + again % 4, 1 + (size_t)again % 40))
            atomic_fetch_add((atomic_uint *)argument, 1);
    return NULL;
}

/* More callers than job slots, so that some find none. */
static void many_callers_share_the_workers(void **state)
{
    enum { CALLERS = 20 };
    pthread_t callers[CALLERS];
    atomic_uint faults = 0;
    for (int i = 0; i < CALLERS; i++)
        assert_int_equal(pthread_create(&callers[i], NULL, call_often, &faults), 0);
    for (int i = 0; i < CALLERS; i++)
        pthread_join(callers[i], NULL);
    assert_int_equal(atomic_load(&faults), 0);
}

static void add_one(void *argument, size_t chunk, int participant)
{
    atomic_fetch_add((atomic_uint *)argument, 1);
}

static void call_inside(void *argument, size_t chunk, int participant)
{
    ingot_parallel(3, 10, add_one, argument);
}

static void a_task_may_call_the_pool(void **state)
{
    for (int again = 0; again < 50; again++) {
        atomic_uint sum = 0;
        ingot_parallel(4, 30, call_inside, &sum);
        assert_int_equal(atomic_load(&sum), 300);
    }
}

static void more_chunks_than_a_job_holds_are_run(void **state)
{
    atomic_uint sum = 0;
    ingot_parallel(2, 9000000, add_one, &sum);
    assert_int_equal(atomic_load(&sum), 9000000);
}

#if defined(__has_feature)
#define HAS_FEATURE(name) __has_feature(name)
#else
#define HAS_FEATURE(name) 0
#endif

static void a_forked_child_makes_workers_of_its_own(void **state)
{
    if (getenv("INGOT_EMULATED")) /* an emulator of programs cannot fork one that has threads */
        skip();
#if defined(__SANITIZE_THREAD__) || HAS_FEATURE(thread_sanitizer)
    skip(); /* the sanitizer ends a process that makes threads after a fork */
#endif
    static job j;
    assert_true(runs_right(&j, 4, 100));
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        bool good = true;
        atomic_uint seen = 0;
        for (int again = 0; again < 20; again++)
            good = good && runs_right(&j, 4, 100);
        for (int again = 0; again < 100 && atomic_load(&seen) != 3; again++)
            ingot_parallel(2, 8, note_participant, &seen);
        _exit(good && atomic_load(&seen) == 3 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_true(runs_right(&j, 4, 100));
}

typedef struct halving {
    float halves[MOST_CHUNKS];
    atomic_uint helped; /* chunks that workers took */
} halving;

static void halve_smallest(void *argument, size_t chunk, int participant)
{
    halving *h = argument;
    volatile float smallest = FLT_MIN;
    h->halves[chunk] = smallest * 0.5f;
    if (participant > 0)
        atomic_fetch_add(&h->helped, 1);
    for (volatile int i = 0; i < 200; i++) {
    }
}

static void workers_round_as_their_caller_does(void **state)
{
    static halving h;
    const unsigned before = ingot_float_mode(), modes[] = {INGOT_FLOAT_FLUSH, INGOT_FLOAT_IEEE, INGOT_FLOAT_FLUSH};
    volatile float smallest = FLT_MIN;
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
        atomic_store(&h.helped, 0);
        ingot_float_mode_set(modes[m]);
        const float expected = smallest * 0.5f;
        for (int tries = 0; tries < 1000 && atomic_load(&h.helped) == 0; tries++)
            ingot_parallel(2, MOST_CHUNKS, halve_smallest, &h);
        ingot_float_mode_set(before);
        assert_true(atomic_load(&h.helped) > 0);
        for (size_t i = 0; i < MOST_CHUNKS; i++)
            assert_memory_equal(&h.halves[i], &expected, sizeof expected);
    }
}

static void only_sensible_numbers_can_be_prepared(void **state)
{
    ingot_error error = {0};
    assert_int_equal(ingot_threads_prepare(1, &error), INGOT_OK);
    assert_int_equal(ingot_threads_prepare(4, &error), INGOT_OK);
    assert_int_equal(ingot_threads_prepare(0, NULL), INGOT_INVALID_ARGUMENT);
    assert_int_equal(ingot_threads_prepare(INGOT_MAX_THREADS + 1, &error), INGOT_INVALID_ARGUMENT);
    assert_non_null(strstr(error.message, "257"));
    assert_in_range(ingot_threads_available(), 1, INGOT_MAX_THREADS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_chunk_is_run_once),
        cmocka_unit_test(jobs_follow_one_another_closely),
        cmocka_unit_test(sleeping_workers_wake),
        cmocka_unit_test(workers_do_take_part),
        cmocka_unit_test(many_callers_share_the_workers),
        cmocka_unit_test(a_task_may_call_the_pool),
        cmocka_unit_test(more_chunks_than_a_job_holds_are_run),
        cmocka_unit_test(a_forked_child_makes_workers_of_its_own),
        cmocka_unit_test(workers_round_as_their_caller_does),
        cmocka_unit_test(only_sensible_numbers_can_be_prepared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Callers of the pool: pool.h tells how it fits together. */
#include "base/threads.h"

#include "base/clock.h"
#include "base/float_mode.h"
#include "base/pool.h"

enum {
    GRACE_NS = 200 * 1000, /* that a worker may keep its caller waiting beyond what chunks take */
};

static void run_alone(size_t first, size_t chunks, ingot_task task, void *argument)
{
    for (size_t i = 0; i < chunks; i++)
        task(argument, first + i, 0);
}

/* ---- Jobs for the workers ---- */

/* A slot that is now the caller's, NULL where all are taken. *callers: how many slots are. */
static ingot_job_slot *acquire_slot(unsigned *callers)
{
    unsigned busy = atomic_load_explicit(&ingot_workers.busy, memory_order_relaxed);
    for (;;) {
        const unsigned free_slots = ~busy & ((1u << INGOT_SLOT_COUNT) - 1);
        if (free_slots == 0)
            return NULL;
        const unsigned taken = free_slots & -free_slots; /* the lowest one */
        if (atomic_compare_exchange_weak_explicit(&ingot_workers.busy, &busy, busy | taken, memory_order_acq_rel,
                                                  memory_order_relaxed)) {
            *callers = (unsigned)__builtin_popcount(busy) + 1;
            return &ingot_workers.slots[__builtin_ctz(taken)];
        }
    }
}

static void release_slot(ingot_job_slot *slot)
{
    atomic_fetch_and_explicit(&ingot_workers.busy, ~(1u << (slot - ingot_workers.slots)), memory_order_release);
}

/* Wakes as many sleepers as the job can use. Workers awake come by themselves, unless other callers keep them. */
static void call_workers(unsigned wanted, unsigned callers)
{
    const unsigned sleepers = atomic_load(&ingot_workers.sleepers);
    if (callers == 1)
        ingot_place_workers(wanted, sleepers > 0);
    if (sleepers == 0)
        return;
    const unsigned all = atomic_load_explicit(&ingot_workers.workers, memory_order_relaxed);
    const unsigned away = sleepers + atomic_load_explicit(&ingot_workers.resting, memory_order_relaxed);
    const unsigned awake = callers == 1 && all > away ? all - away : 0;
    if (wanted > awake)
        ingot_futex_wake(&ingot_workers.epoch, wanted - awake);
}

/* Opens the job and calls for workers; returns the ticket, with chunk 0 taken for the caller. */
static uint64_t publish(ingot_job_slot *slot, unsigned workers, size_t first, unsigned chunks, ingot_task task,
                        void *argument, unsigned callers)
{
    ingot_fetch_to_write(&slot->ticket);
    ingot_fetch_to_write(&slot->done);
    ingot_fetch_to_write(&ingot_workers.epoch);
    const uint64_t last = atomic_load_explicit(&slot->ticket, memory_order_relaxed);
    const uint64_t generation = ingot_generation_of(last) + INGOT_ONE_GENERATION;
    atomic_store_explicit(&slot->ticket, generation | INGOT_CLOSED, memory_order_release);
    atomic_store_explicit(&slot->task, task, memory_order_release);
    atomic_store_explicit(&slot->argument, argument, memory_order_release);
    atomic_store_explicit(&slot->first, first, memory_order_release);
    atomic_store_explicit(&slot->chunks, chunks, memory_order_release);
    atomic_store_explicit(&slot->workers, workers, memory_order_release);
    atomic_store_explicit(&slot->float_mode, ingot_float_mode(), memory_order_release);
    atomic_store_explicit(&slot->callers, callers, memory_order_release);
    atomic_store_explicit(&slot->done, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->waiting, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->late, false, memory_order_relaxed);
    atomic_store_explicit(&slot->ticket, generation | INGOT_ONE_FRONT, memory_order_release);

    atomic_store_explicit(&ingot_workers.last, (unsigned)(slot - ingot_workers.slots), memory_order_relaxed);
    atomic_fetch_add(&ingot_workers.epoch, 1);
    call_workers(workers < chunks - 1 ? workers : chunks - 1, callers);
    return generation | INGOT_ONE_FRONT;
}

/* Waits for the chunks that workers took: awake for a while, then asleep, which leaves the processor to a worker that has
 * lost its own. Whoever still works after chunk_ns, which a chunk took here, and some grace, is told that it is late. */
static void wait_for_workers(ingot_job_slot *slot, unsigned expected, uint64_t start, uint64_t chunk_ns)
{
    unsigned done = atomic_load_explicit(&slot->done, memory_order_acquire);
    const uint64_t late_at = start + GRACE_NS + 2 * chunk_ns;
    while (done != expected && ingot_watch(&slot->done, done, start))
        done = atomic_load_explicit(&slot->done, memory_order_acquire);
    if (done == expected)
        return;
    atomic_store(&slot->waiting, 1);
    while ((done = atomic_load(&slot->done)) != expected) {
        const uint64_t now = ingot_clock_ns();
        if (now >= late_at)
            atomic_store_explicit(&slot->late, true, memory_order_relaxed);
        ingot_futex_wait(&slot->done, done, now < late_at ? late_at - now : 0);
    }
}

static void run_job(ingot_job_slot *slot, unsigned threads, size_t first, unsigned chunks, ingot_task task,
                    void *argument, unsigned callers)
{
    const uint64_t start = ingot_clock_ns();
    uint64_t ticket = publish(slot, threads - 1, first, chunks, task, argument, callers);
    size_t chunk = 0;
    unsigned mine = 0;
    do {
        task(argument, first + chunk, 0);
        mine++;
    } while (ingot_take_chunk(slot, &ticket, chunks, false, &chunk));
    if (atomic_load_explicit(&slot->done, memory_order_acquire) == chunks - mine)
        return;
    const uint64_t now = ingot_clock_ns();
    wait_for_workers(slot, chunks - mine, now, (now - start) / mine);
}

static void run_in_workers(unsigned threads, size_t chunks, ingot_task task, void *argument)
{
    unsigned callers;
    ingot_job_slot *slot = acquire_slot(&callers);
    if (!slot) {
        run_alone(0, chunks, task, argument);
        return;
    }
    ingot_ensure_workers(threads, callers);
    for (size_t first = 0; first < chunks;) {
        const size_t left = chunks - first;
        const unsigned count = left < INGOT_MOST_CHUNKS ? (unsigned)left : INGOT_MOST_CHUNKS;
        run_job(slot, threads, first, count, task, argument, callers);
        first += count;
    }
    release_slot(slot);
}

/* ---- A pool of the program's own ---- */

typedef struct shared_job {
    ingot_task task;
    void *argument;
    size_t chunks;
    atomic_size_t next;
    unsigned float_mode;
} shared_job;

static _Thread_local const ingot_thread_pool *own_pool;
static _Thread_local bool inside_own_pool;

const ingot_thread_pool *ingot_threads_use(const ingot_thread_pool *pool)
{
    const ingot_thread_pool *before = own_pool;
    own_pool = pool;
    return before;
}

/* One participant: takes chunks until there is none left, so that it does not matter when, or whether, the others come. */
static void work_share(void *argument, int index)
{
    shared_job *job = argument;
    const unsigned mode = ingot_float_mode();
    const bool inside = inside_own_pool;
    inside_own_pool = true;
    ingot_float_mode_set(job->float_mode);
    for (size_t chunk; (chunk = atomic_fetch_add_explicit(&job->next, 1, memory_order_relaxed)) < job->chunks;)
        job->task(job->argument, chunk, index);
    ingot_float_mode_set(mode);
    inside_own_pool = inside;
}

static void run_in_own_pool(unsigned threads, size_t chunks, ingot_task task, void *argument)
{
    shared_job job = {.task = task, .argument = argument, .chunks = chunks, .float_mode = ingot_float_mode()};
    own_pool->run(own_pool->user, chunks < threads ? (int)chunks : (int)threads, work_share, &job);
}

void ingot_parallel(int threads, size_t chunks, ingot_task task, void *argument)
{
    const unsigned participants = threads < INGOT_MAX_THREADS ? (unsigned)threads : INGOT_MAX_THREADS;
    if (threads <= 1 || chunks <= 1 || inside_own_pool)
        run_alone(0, chunks, task, argument);
    else if (own_pool)
        run_in_own_pool(participants, chunks, task, argument);
    else
        run_in_workers(participants, chunks, task, argument);
}

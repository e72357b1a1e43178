/* The pool of worker threads.
 *
 * A caller publishes its work in one of a few job slots, works on it itself, and waits at the end for the chunks that
 * workers have taken. One atomic word of the slot, the ticket, says everything about who may take what:
 *
 *     generation (32 bits) | workers that joined (8 bits) | next chunk (24 bits)
 *
 * A worker reads the ticket, then the job, then takes a chunk by exchanging the ticket for one that is a chunk further.
 * The exchange fails where the slot has another generation by then, so a worker that was late never works on a job that
 * it did not read, and nobody has to wait until it has looked: only for chunks that it took. Before a caller writes a job
 * it closes the ticket, under a new generation, so that what a late worker reads meanwhile cannot be exchanged either.
 * Slots are static: a late worker may look at one at any time.
 *
 * Idle workers watch the epoch, which each publication raises: for a while by reading it, then asleep in the kernel. */
#include "base/threads.h"

#include <errno.h>
#include <fenv.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/clock.h"
#include "base/float_mode.h"
#include "base/memory.h"

enum {
    SLOT_COUNT = 16,
    CHUNK_BITS = 24,
    JOINED_BITS = 8,
    MAX_JOB_CHUNKS = 1 << 23, /* longer work is cut into several jobs */
    SPIN_NS = 100 * 1000,     /* that an idle worker, or a caller who waits, watches before it sleeps */
    CROWDED_SPIN_NS = 5000,   /* the same where there are more threads than processors */
    PAUSES_PER_LOOK = 32,     /* at the clock */
};

#define ONE_CHUNK      UINT64_C(1)
#define ONE_JOINED     (UINT64_C(1) << CHUNK_BITS)
#define ONE_GENERATION (UINT64_C(1) << (CHUNK_BITS + JOINED_BITS))
#define CLOSED         (ONE_GENERATION - 1) /* no chunk left, and no room for a worker */

typedef struct job_slot {
    _Alignas(128) _Atomic uint64_t ticket; /* with the job on one cache line, and its neighbour left free */
    _Atomic(ingot_task) task;
    _Atomic(void *) argument;
    _Atomic size_t first; /* chunk of the whole work that is chunk 0 here */
    atomic_uint chunks, workers, float_mode;
    _Alignas(64) atomic_uint done; /* chunks that workers have finished */
    atomic_uint waiting;           /* the caller sleeps until done is enough */
} job_slot;

static struct {
    job_slot slots[SLOT_COUNT];
    _Alignas(128) atomic_uint epoch; /* publications; futex of idle workers */
    atomic_uint busy;                /* bit s: slot s belongs to a caller */
    atomic_uint sleepers;
    _Alignas(128) atomic_uint workers; /* that exist */
    atomic_uint spin_ns;
    atomic_uint available; /* processors, 0: not known yet */
    atomic_bool refused;   /* the system made no more threads: not asked again until somebody prepares */
    atomic_flag growing;
} pool = {.growing = ATOMIC_FLAG_INIT};

static void pause_processor(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void futex_wait(atomic_uint *word, unsigned seen)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static void futex_wake(atomic_uint *word, unsigned count)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

/* Watches word while it is seen, for at most the pool's spinning time past start; false: it is still seen. */
static bool watch(atomic_uint *word, unsigned seen, uint64_t start)
{
    const uint64_t end = start + atomic_load_explicit(&pool.spin_ns, memory_order_relaxed);
    for (;;) {
        for (int i = 0; i < PAUSES_PER_LOOK; i++) {
            if (atomic_load_explicit(word, memory_order_acquire) != seen)
                return true;
            pause_processor();
        }
        if (ingot_clock_ns() >= end)
            return false;
    }
}

/* ---- Working ---- */

static uint64_t generation_of(uint64_t ticket)
{
    return ticket & ~(ONE_GENERATION - 1);
}

static unsigned joined_of(uint64_t ticket)
{
    return (unsigned)((ticket & (ONE_GENERATION - 1)) >> CHUNK_BITS);
}

static unsigned next_chunk_of(uint64_t ticket)
{
    return (unsigned)(ticket & (ONE_JOINED - 1));
}

/* Takes a chunk of the job that ticket belongs to; false where there is none left. */
static bool take_chunk(job_slot *slot, uint64_t *ticket, unsigned chunks, size_t *chunk)
{
    const uint64_t generation = generation_of(*ticket);
    while (generation_of(*ticket) == generation && next_chunk_of(*ticket) < chunks) {
        if (atomic_compare_exchange_weak_explicit(&slot->ticket, ticket, *ticket + ONE_CHUNK, memory_order_acq_rel,
                                                  memory_order_acquire)) {
            *chunk = next_chunk_of(*ticket);
            *ticket += ONE_CHUNK;
            return true;
        }
    }
    return false;
}

/* Joins the slot's job as a worker, where it has a chunk and room for one more, and works until no chunk is left. */
static bool help(job_slot *slot)
{
    uint64_t ticket = atomic_load_explicit(&slot->ticket, memory_order_acquire);
    const ingot_task task = atomic_load_explicit(&slot->task, memory_order_acquire);
    void *const argument = atomic_load_explicit(&slot->argument, memory_order_acquire);
    const size_t first = atomic_load_explicit(&slot->first, memory_order_acquire);
    const unsigned chunks = atomic_load_explicit(&slot->chunks, memory_order_acquire);
    const unsigned workers = atomic_load_explicit(&slot->workers, memory_order_acquire);
    const unsigned mode = atomic_load_explicit(&slot->float_mode, memory_order_acquire);
    const uint64_t generation = generation_of(ticket);
    do { /* joining takes the first chunk, too: who has joined has work */
        if (generation_of(ticket) != generation || next_chunk_of(ticket) >= chunks || joined_of(ticket) >= workers)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&slot->ticket, &ticket, ticket + ONE_JOINED + ONE_CHUNK,
                                                    memory_order_acq_rel, memory_order_acquire));
    const int participant = (int)joined_of(ticket) + 1;
    size_t chunk = next_chunk_of(ticket);
    ticket += ONE_JOINED + ONE_CHUNK;
    unsigned finished = 0;
    ingot_float_mode_set(mode);
    do {
        task(argument, first + chunk, participant);
        finished++;
    } while (take_chunk(slot, &ticket, chunks, &chunk));

    /* The caller may return, and the slot serve another, as soon as done is enough: waiting may then be another
     * caller's, who wakes for nothing and looks again. */
    atomic_fetch_add(&slot->done, finished);
    if (atomic_load(&slot->waiting))
        futex_wake(&slot->done, 1);
    return true;
}

static bool help_anyone(void)
{
    bool helped = false;
    unsigned busy = atomic_load_explicit(&pool.busy, memory_order_acquire);
    for (unsigned s = 0; busy >> s; s++)
        if (busy >> s & 1)
            helped |= help(&pool.slots[s]);
    return helped;
}

static void sleep_until_work(unsigned epoch)
{
    atomic_fetch_add(&pool.sleepers, 1);
    futex_wait(&pool.epoch, epoch); /* returns at once where the epoch has moved on */
    atomic_fetch_sub(&pool.sleepers, 1);
}

static void *work(void *number)
{
    char name[16];
    snprintf(name, sizeof name, "ingot-%u", (unsigned)(uintptr_t)number);
    pthread_setname_np(pthread_self(), name);
    fesetenv(FE_DFL_ENV); /* whoever made the pool may have other rounding; a job brings its caller's */

    uint64_t idle_since = ingot_clock_ns();
    for (;;) {
        const unsigned epoch = atomic_load(&pool.epoch);
        if (help_anyone()) {
            idle_since = ingot_clock_ns();
        } else if (!watch(&pool.epoch, epoch, idle_since)) {
            sleep_until_work(epoch);
            idle_since = ingot_clock_ns();
        }
    }
    return NULL;
}

/* ---- Making workers ---- */

int ingot_threads_available(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : (int)sysconf(_SC_NPROCESSORS_ONLN);
    const double quota = ingot_cgroup_cpus("");
    if (quota > 0 && quota < count)
        count = (int)quota + (quota > (int)quota);
    if (count > INGOT_MAX_THREADS)
        count = INGOT_MAX_THREADS;
    return count < 1 ? 1 : count;
}

/* In the child of a fork no worker exists, and no caller but the thread that forked. */
static void forget_workers(void)
{
    atomic_store(&pool.workers, 0);
    atomic_store(&pool.sleepers, 0);
    atomic_store(&pool.busy, 0);
    atomic_store(&pool.refused, false);
    atomic_flag_clear(&pool.growing);
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, forget_workers);
}

/* Signals are for the program's own threads, but for those that a fault of the thread itself raises. */
static void block_signals(sigset_t *before)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF};
    sigset_t blocked;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        sigdelset(&blocked, own[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, before);
}

static bool start_worker(unsigned number)
{
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_t thread;
    const bool started = pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0 &&
                         pthread_create(&thread, &attributes, work, (void *)(uintptr_t)number) == 0;
    pthread_attr_destroy(&attributes);
    return started;
}

/* Makes the pool have wanted workers as far as the system allows. wait: where another thread is making some, waits for
 * it; else leaves it to that one. */
static void grow_pool(unsigned wanted, bool wait)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    while (atomic_flag_test_and_set(&pool.growing)) {
        if (!wait)
            return;
        sched_yield();
    }
    pthread_once(&once, watch_forks);
    sigset_t before;
    block_signals(&before);
    const unsigned available = (unsigned)ingot_threads_available();
    unsigned count = atomic_load(&pool.workers);
    atomic_store(&pool.available, available);
    atomic_store(&pool.spin_ns, (count > wanted ? count : wanted) < available ? SPIN_NS : CROWDED_SPIN_NS);
    while (count < wanted && start_worker(count + 1))
        count++;
    atomic_store(&pool.refused, count < wanted);
    atomic_store(&pool.workers, count);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    atomic_flag_clear(&pool.growing);
}

ingot_status ingot_threads_prepare(int threads, ingot_error *error)
{
    if (threads < 1 || threads > INGOT_MAX_THREADS)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT, "%d threads; the number must be 1 to %d", threads,
                          INGOT_MAX_THREADS);
    if ((unsigned)threads - 1 > atomic_load(&pool.workers))
        grow_pool((unsigned)threads - 1, true);
    return INGOT_OK; /* with fewer workers than asked for the work is done all the same */
}

/* Workers for a job of threads participants, with callers at work at the same time: as many as are asked for together, but
 * no more than there are processors, unless one of them asks for more. */
static void ensure_workers(unsigned threads, unsigned callers)
{
    const unsigned available = atomic_load_explicit(&pool.available, memory_order_relaxed);
    unsigned wanted = threads - 1;
    if (wanted < available) /* which is 0, and limits to this job's own, before the first worker is made */
        wanted = wanted * callers < available ? wanted * callers : available - 1;
    if (wanted > atomic_load_explicit(&pool.workers, memory_order_relaxed) &&
        !atomic_load_explicit(&pool.refused, memory_order_relaxed))
        grow_pool(wanted, false);
}

/* ---- Calling ---- */

static void run_alone(size_t first, size_t chunks, ingot_task task, void *argument)
{
    for (size_t i = 0; i < chunks; i++)
        task(argument, first + i, 0);
}

/* A slot that is now the caller's, NULL where all are taken. *callers: how many slots are. */
static job_slot *acquire_slot(unsigned *callers)
{
    unsigned busy = atomic_load_explicit(&pool.busy, memory_order_relaxed);
    for (;;) {
        const unsigned free_slots = ~busy & ((1u << SLOT_COUNT) - 1);
        if (free_slots == 0)
            return NULL;
        const unsigned taken = free_slots & -free_slots; /* the lowest one */
        if (atomic_compare_exchange_weak_explicit(&pool.busy, &busy, busy | taken, memory_order_acq_rel,
                                                  memory_order_relaxed)) {
            *callers = (unsigned)__builtin_popcount(busy) + 1;
            return &pool.slots[__builtin_ctz(taken)];
        }
    }
}

static void release_slot(job_slot *slot)
{
    atomic_fetch_and_explicit(&pool.busy, ~(1u << (slot - pool.slots)), memory_order_release);
}

/* Opens the job and calls for workers; returns the ticket, with chunk 0 taken for the caller. */
static uint64_t publish(job_slot *slot, unsigned workers, size_t first, unsigned chunks, ingot_task task,
                        void *argument, unsigned callers)
{
    const uint64_t last = atomic_load_explicit(&slot->ticket, memory_order_relaxed);
    const uint64_t generation = generation_of(last) + ONE_GENERATION;
    atomic_store_explicit(&slot->ticket, generation | CLOSED, memory_order_release);
    atomic_store_explicit(&slot->task, task, memory_order_release);
    atomic_store_explicit(&slot->argument, argument, memory_order_release);
    atomic_store_explicit(&slot->first, first, memory_order_release);
    atomic_store_explicit(&slot->chunks, chunks, memory_order_release);
    atomic_store_explicit(&slot->workers, workers, memory_order_release);
    atomic_store_explicit(&slot->float_mode, ingot_float_mode(), memory_order_release);
    atomic_store_explicit(&slot->done, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->waiting, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->ticket, generation | ONE_CHUNK, memory_order_release);

    atomic_fetch_add(&pool.epoch, 1);
    const unsigned sleepers = atomic_load(&pool.sleepers);
    if (sleepers) {
        /* Workers awake come by themselves, unless other callers keep them. */
        const unsigned all = atomic_load_explicit(&pool.workers, memory_order_relaxed);
        const unsigned awake = callers == 1 && all > sleepers ? all - sleepers : 0;
        const unsigned needed = workers < chunks - 1 ? workers : chunks - 1;
        if (needed > awake)
            futex_wake(&pool.epoch, needed - awake);
    }
    return generation | ONE_CHUNK;
}

static void wait_for_workers(job_slot *slot, unsigned expected)
{
    unsigned done = atomic_load_explicit(&slot->done, memory_order_acquire);
    if (done == expected)
        return;
    const uint64_t start = ingot_clock_ns();
    while (done != expected && watch(&slot->done, done, start))
        done = atomic_load_explicit(&slot->done, memory_order_acquire);
    if (done == expected)
        return;
    atomic_store(&slot->waiting, 1);
    while ((done = atomic_load(&slot->done)) != expected)
        futex_wait(&slot->done, done);
}

static void run_job(job_slot *slot, unsigned threads, size_t first, unsigned chunks, ingot_task task, void *argument,
                    unsigned callers)
{
    uint64_t ticket = publish(slot, threads - 1, first, chunks, task, argument, callers);
    size_t chunk = 0;
    unsigned mine = 0;
    do {
        task(argument, first + chunk, 0);
        mine++;
    } while (take_chunk(slot, &ticket, chunks, &chunk));
    wait_for_workers(slot, chunks - mine);
}

void ingot_parallel(int threads, size_t chunks, ingot_task task, void *argument)
{
    unsigned callers;
    job_slot *slot = threads > 1 && chunks > 1 ? acquire_slot(&callers) : NULL;
    if (!slot) {
        run_alone(0, chunks, task, argument);
        return;
    }
    const unsigned participants = threads < INGOT_MAX_THREADS ? (unsigned)threads : INGOT_MAX_THREADS;
    ensure_workers(participants, callers);
    for (size_t first = 0; first < chunks;) {
        const size_t left = chunks - first;
        const unsigned count = left < MAX_JOB_CHUNKS ? (unsigned)left : MAX_JOB_CHUNKS;
        run_job(slot, participants, first, count, task, argument, callers);
        first += count;
    }
    release_slot(slot);
}

/* The workers of the pool: making them, and what each does all its life. pool.h tells how it fits together. */
#include <errno.h>
#include <fenv.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/clock.h"
#include "base/float_mode.h"
#include "base/pool.h"

enum {
    SPIN_NS = 100 * 1000,
    CROWDED_SPIN_NS = 5000,  /* the same where there are more threads than processors */
    PAUSES_PER_LOOK = 32,    /* at the clock */
    FIRST_REST_NS = 1000000, /* of a worker that was late */
    LONGEST_REST_NS = 64000000,
    SOON_NS = 10000000, /* late again within it: the next rest is twice as long */
};

ingot_pool ingot_workers = {.growing = ATOMIC_FLAG_INIT};

/* ---- Waiting ---- */

static void pause_processor(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static struct timespec timespec_of(uint64_t nanoseconds)
{
    return (struct timespec){.tv_sec = (time_t)(nanoseconds / 1000000000), .tv_nsec = (long)(nanoseconds % 1000000000)};
}

void ingot_futex_wait(atomic_uint *word, unsigned seen, uint64_t nanoseconds)
{
    const struct timespec longest = timespec_of(nanoseconds);
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, nanoseconds ? &longest : NULL, NULL, 0);
}

void ingot_futex_wake(atomic_uint *word, unsigned count)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

bool ingot_watch(atomic_uint *word, unsigned seen, uint64_t start)
{
    const uint64_t end = start + atomic_load_explicit(&ingot_workers.spin_ns, memory_order_relaxed);
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

static void sleep_until_work(unsigned epoch, ingot_worker_place *place)
{
    atomic_store_explicit(&place->asleep, true, memory_order_relaxed);
    atomic_fetch_add(&ingot_workers.sleepers, 1);
    ingot_futex_wait(&ingot_workers.epoch, epoch, 0); /* returns at once where the epoch has moved on */
    atomic_fetch_sub(&ingot_workers.sleepers, 1);
    atomic_store_explicit(&place->asleep, false, memory_order_relaxed);
}

/* ---- Working ---- */

typedef enum outcome { IDLE, HELPED, HELPED_LATE } outcome;

/* Joins the slot's job as a worker, where it has a chunk and room for one more, and works until no chunk is left. */
static outcome help(ingot_job_slot *slot)
{
    ingot_fetch_to_write(&slot->ticket);
    uint64_t ticket = atomic_load_explicit(&slot->ticket, memory_order_acquire);
    const ingot_task task = atomic_load_explicit(&slot->task, memory_order_acquire);
    void *const argument = atomic_load_explicit(&slot->argument, memory_order_acquire);
    const size_t first = atomic_load_explicit(&slot->first, memory_order_acquire);
    const unsigned chunks = atomic_load_explicit(&slot->chunks, memory_order_acquire);
    const unsigned workers = atomic_load_explicit(&slot->workers, memory_order_acquire);
    const unsigned mode = atomic_load_explicit(&slot->float_mode, memory_order_acquire);
    const uint64_t generation = ingot_generation_of(ticket);
    int participant;
    uint64_t step;
    do { /* joining takes a chunk, too: who has joined has work */
        if (ingot_generation_of(ticket) != generation || !ingot_has_chunk(ticket, chunks) ||
            ingot_joined_of(ticket) >= workers)
            return IDLE;
        participant = (int)ingot_joined_of(ticket) + 1;
        step = INGOT_ONE_JOINED + (ingot_takes_from_back(participant) ? INGOT_ONE_BACK : INGOT_ONE_FRONT);
    } while (!atomic_compare_exchange_weak_explicit(&slot->ticket, &ticket, ticket + step, memory_order_acq_rel,
                                                    memory_order_acquire));
    const bool back = ingot_takes_from_back(participant);
    size_t chunk = ingot_next_chunk(ticket, chunks, back);
    ticket += step;
    unsigned finished = 0;
    ingot_float_mode_set(mode);
    do {
        task(argument, first + chunk, participant);
        finished++;
    } while (ingot_take_chunk(slot, &ticket, chunks, back, &chunk));

    /* The caller may return, and the slot serve another, as soon as done is enough: waiting may then be another
     * caller's, who wakes for nothing and looks again. */
    const bool late = atomic_load_explicit(&slot->late, memory_order_relaxed);
    atomic_fetch_add(&slot->done, finished);
    if (atomic_load(&slot->waiting))
        ingot_futex_wake(&slot->done, 1);
    return late ? HELPED_LATE : HELPED;
}

/* The job that was published last, then, unless its caller was the only one, all others. */
static outcome help_anyone(void)
{
    ingot_job_slot *last = &ingot_workers.slots[atomic_load_explicit(&ingot_workers.last, memory_order_relaxed)];
    outcome most = help(last);
    if (most == HELPED_LATE || (most == HELPED && atomic_load_explicit(&last->callers, memory_order_relaxed) == 1))
        return most;
    unsigned busy = atomic_load_explicit(&ingot_workers.busy, memory_order_acquire);
    for (unsigned s = 0; busy >> s && most != HELPED_LATE; s++) {
        if (!(busy >> s & 1))
            continue;
        const outcome this = help(&ingot_workers.slots[s]);
        most = this > most ? this : most;
    }
    return most;
}

/* How long a worker rested, and until when. */
typedef struct rest {
    uint64_t nanoseconds, end;
} rest;

static void take_rest(rest *r)
{
    const bool again = r->nanoseconds && ingot_clock_ns() - r->end < SOON_NS;
    r->nanoseconds = again ? 2 * r->nanoseconds : FIRST_REST_NS;
    if (r->nanoseconds > LONGEST_REST_NS)
        r->nanoseconds = LONGEST_REST_NS;
    const struct timespec duration = timespec_of(r->nanoseconds);
    atomic_fetch_add(&ingot_workers.resting, 1);
    nanosleep(&duration, NULL);
    atomic_fetch_sub(&ingot_workers.resting, 1);
    r->end = ingot_clock_ns();
}

static void *work(void *number)
{
    char name[16];
    snprintf(name, sizeof name, "ingot-%u", (unsigned)(uintptr_t)number);
    pthread_setname_np(pthread_self(), name);
    fesetenv(FE_DFL_ENV); /* whoever made the pool may have other rounding; a job brings its caller's */

    ingot_worker_place *place = &ingot_workers.places[(uintptr_t)number - 1];
    atomic_store(&place->thread, (int)syscall(SYS_gettid));
    rest last = {0};
    uint64_t idle_since = ingot_clock_ns();
    for (;;) {
        ingot_place_self(place);
        const unsigned epoch = atomic_load(&ingot_workers.epoch);
        const outcome did = help_anyone();
        if (did == IDLE && ingot_watch(&ingot_workers.epoch, epoch, idle_since))
            continue;
        if (did == IDLE)
            sleep_until_work(epoch, place);
        else if (did == HELPED_LATE)
            take_rest(&last);
        idle_since = ingot_clock_ns();
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
    for (unsigned i = 0; i < atomic_load(&ingot_workers.workers); i++) {
        ingot_worker_place *place = &ingot_workers.places[i];
        atomic_store(&place->thread, 0);
        atomic_store(&place->processor, -1);
        atomic_store(&place->asleep, false);
        atomic_store(&place->state, 0);
    }
    atomic_store(&ingot_workers.workers, 0);
    atomic_store(&ingot_workers.sleepers, 0);
    atomic_store(&ingot_workers.resting, 0);
    atomic_store(&ingot_workers.busy, 0);
    for (size_t i = 0; i < INGOT_SLOT_COUNT; i++) { /* jobs of callers that are gone are nobody's to take */
        ingot_job_slot *slot = &ingot_workers.slots[i];
        atomic_store(&slot->ticket,
                     ingot_generation_of(atomic_load(&slot->ticket)) + INGOT_ONE_GENERATION + INGOT_CLOSED);
        atomic_store(&slot->done, 0);
        atomic_store(&slot->waiting, 0);
        atomic_store(&slot->late, false);
    }
    atomic_store(&ingot_workers.refused, false);
    atomic_flag_clear(&ingot_workers.growing);
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
    while (atomic_flag_test_and_set(&ingot_workers.growing)) {
        if (!wait)
            return;
        sched_yield();
    }
    pthread_once(&once, watch_forks);
    sigset_t before;
    block_signals(&before);
    const unsigned available = (unsigned)ingot_threads_available();
    unsigned count = atomic_load(&ingot_workers.workers);
    atomic_store(&ingot_workers.available, available);
    atomic_store(&ingot_workers.spin_ns, (count > wanted ? count : wanted) < available ? SPIN_NS : CROWDED_SPIN_NS);
    while (count < wanted && start_worker(count + 1))
        count++;
    atomic_store(&ingot_workers.refused, count < wanted);
    atomic_store(&ingot_workers.workers, count);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    atomic_flag_clear(&ingot_workers.growing);
}

ingot_status ingot_threads_prepare(int threads, ingot_error *error)
{
    if (threads < 1 || threads > INGOT_MAX_THREADS)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT, "%d threads; the number must be 1 to %d", threads,
                          INGOT_MAX_THREADS);
    if ((unsigned)threads - 1 > atomic_load(&ingot_workers.workers))
        grow_pool((unsigned)threads - 1, true);
    return INGOT_OK; /* with fewer workers than asked for the work is done all the same */
}

void ingot_ensure_workers(unsigned threads, unsigned callers)
{
    const unsigned available = atomic_load_explicit(&ingot_workers.available, memory_order_relaxed);
    unsigned wanted = threads - 1;
    if (wanted < available) /* which is 0, and limits to this job's own, before the first worker is made */
        wanted = wanted * callers < available ? wanted * callers : available - 1;
    if (wanted > atomic_load_explicit(&ingot_workers.workers, memory_order_relaxed) &&
        !atomic_load_explicit(&ingot_workers.refused, memory_order_relaxed))
        grow_pool(wanted, false);
}

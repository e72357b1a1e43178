/* What the two halves of the pool share: threads.c, where callers publish their work, and threads_worker.c, where workers
 * look for it.
 *
 * A caller publishes its work in one of a few job slots, works on it itself, and waits at the end for the chunks that
 * workers have taken. One atomic word of the slot, the ticket, says everything about who may take what:
 *
 *     generation (28 bits) | workers that joined (8 bits) | chunks taken from the back (14 bits) | from the front (14 bits)
 *
 * The caller and every other worker take chunks from the front, the rest from the back: where neighbouring chunks work on
 * neighbouring data each core finds in its cache what it wrote in the step before.
 * A worker reads the ticket, then the job, then takes a chunk by exchanging the ticket for one that is a chunk further.
 * The exchange fails where the slot has another generation by then, so a worker that was late never works on a job that
 * it did not read, and nobody has to wait until it has looked: only for chunks that it took. Before a caller writes a job
 * it closes the ticket, under a new generation, so that what a late worker reads meanwhile cannot be exchanged either.
 * Slots are static: a late worker may look at one at any time.
 *
 * Idle workers watch the epoch, which each publication raises: for a while by reading it, then asleep in the kernel. Beside it
 * stands the slot that was published last: each cache line that passes between two cores costs a tenth of a microsecond. A worker
 * that kept its caller waiting, because the system gave its processor to somebody else, rests: it takes nothing for some
 * milliseconds, longer each time that it is late again soon, so that a busy machine costs no more than the threads it has. */
#ifndef INGOT_BASE_POOL_H
#define INGOT_BASE_POOL_H

#include <sched.h>
#include <stdatomic.h>

#include "base/threads.h"

enum {
    INGOT_SLOT_COUNT = 16,
    INGOT_CHUNK_BITS = 14,
    INGOT_JOINED_BITS = 8,
    INGOT_MOST_CHUNKS = (1 << INGOT_CHUNK_BITS) - 1, /* of a job */
};

#define INGOT_ONE_FRONT      UINT64_C(1)
#define INGOT_ONE_BACK       (UINT64_C(1) << INGOT_CHUNK_BITS)
#define INGOT_ONE_JOINED     (UINT64_C(1) << 2 * INGOT_CHUNK_BITS)
#define INGOT_ONE_GENERATION (UINT64_C(1) << (2 * INGOT_CHUNK_BITS + INGOT_JOINED_BITS))
#define INGOT_CLOSED         (INGOT_ONE_GENERATION - 1) /* no chunk left, and no room for a worker */

typedef struct ingot_job_slot {
    _Alignas(128) _Atomic uint64_t ticket; /* with the job on one cache line, and its neighbour left free */
    _Atomic(ingot_task) task;
    _Atomic(void *) argument;
    _Atomic size_t first; /* chunk of the whole work that is chunk 0 here */
    atomic_uint chunks, workers, float_mode;
    atomic_uint callers;           /* at work when it was published */
    _Alignas(64) atomic_uint done; /* chunks that workers have finished */
    atomic_uint waiting;           /* the caller sleeps until done is enough */
    atomic_bool late;              /* it has waited for longer than its own work explains */
} ingot_job_slot;

/* Where a worker runs: threads_place.c. */
typedef struct ingot_worker_place {
    _Alignas(64) atomic_int thread; /* its id, 0: it does not exist yet */
    atomic_int processor;           /* where it was seen last, -1: not known; holds once it has a thread */
    atomic_bool asleep;             /* or about to be */
    atomic_uint state;
    cpu_set_t affinity; /* that it gets back */
} ingot_worker_place;

typedef struct ingot_pool {
    ingot_job_slot slots[INGOT_SLOT_COUNT];
    _Alignas(128) atomic_uint epoch;   /* publications; futex of idle workers */
    atomic_uint last;                  /* the slot of the last one */
    _Alignas(128) atomic_uint busy;    /* bit s: slot s belongs to a caller */
    _Alignas(128) atomic_uint workers; /* that exist */
    atomic_uint sleepers, resting;
    atomic_uint spin_ns;   /* that an idle worker, or a caller who waits, watches before it sleeps */
    atomic_uint available; /* processors, 0: not known yet */
    atomic_bool refused;   /* the system made no more threads: not asked again until somebody prepares */
    atomic_flag growing;
    ingot_worker_place places[INGOT_MAX_THREADS];
} ingot_pool;

extern ingot_pool ingot_workers;

/* Fetches a cache line that is going to be written. */
static inline void ingot_fetch_to_write(const void *line)
{
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)line));
#else
    __builtin_prefetch(line, 1);
#endif
}

static inline uint64_t ingot_generation_of(uint64_t ticket)
{
    return ticket & ~(INGOT_ONE_GENERATION - 1);
}

static inline unsigned ingot_joined_of(uint64_t ticket)
{
    return (unsigned)((ticket & (INGOT_ONE_GENERATION - 1)) / INGOT_ONE_JOINED);
}

static inline unsigned ingot_front_of(uint64_t ticket)
{
    return (unsigned)(ticket & INGOT_MOST_CHUNKS);
}

static inline unsigned ingot_back_of(uint64_t ticket)
{
    return (unsigned)(ticket / INGOT_ONE_BACK & INGOT_MOST_CHUNKS);
}

static inline bool ingot_has_chunk(uint64_t ticket, unsigned chunks)
{
    return ingot_front_of(ticket) + ingot_back_of(ticket) < chunks;
}

/* The chunk that whoever exchanges ticket takes. */
static inline size_t ingot_next_chunk(uint64_t ticket, unsigned chunks, bool back)
{
    return back ? chunks - 1 - ingot_back_of(ticket) : ingot_front_of(ticket);
}

/* Takes a chunk of the job that ticket belongs to; false where there is none left. */
static inline bool ingot_take_chunk(ingot_job_slot *slot, uint64_t *ticket, unsigned chunks, bool back, size_t *chunk)
{
    const uint64_t generation = ingot_generation_of(*ticket), one = back ? INGOT_ONE_BACK : INGOT_ONE_FRONT;
    while (ingot_generation_of(*ticket) == generation && ingot_has_chunk(*ticket, chunks)) {
        if (atomic_compare_exchange_weak_explicit(&slot->ticket, ticket, *ticket + one, memory_order_acq_rel,
                                                  memory_order_acquire)) {
            *chunk = ingot_next_chunk(*ticket, chunks, back);
            *ticket += one;
            return true;
        }
    }
    return false;
}

/* Sleeps in the kernel while word is seen, for at most nanoseconds (0: without end); may return early. */
void ingot_futex_wait(atomic_uint *word, unsigned seen, uint64_t nanoseconds);
void ingot_futex_wake(atomic_uint *word, unsigned count);

/* Watches word, awake, while it is seen, for at most the pool's spinning time past start; false: it is still seen. */
bool ingot_watch(atomic_uint *word, unsigned seen, uint64_t start);

/* The caller counts on count workers. Those on its own processor are moved to another one, and, where it is about to wake workers,
 * those that sleep are kept from waking there. */
void ingot_place_workers(unsigned count, bool waking);
/* A worker that runs takes back the affinity that it had before a caller moved it, and notes where it is. */
void ingot_place_self(ingot_worker_place *place);

/* Workers for a job of threads participants, with callers at work at the same time: as many as are asked for together, but
 * no more than there are processors, unless one of them asks for more. */
void ingot_ensure_workers(unsigned threads, unsigned callers);

#endif

/* The one pool of worker threads of the process, and how a kernel splits its work over it. */
#ifndef INGOT_BASE_THREADS_H
#define INGOT_BASE_THREADS_H

#include "base/status.h"

/* Works on chunk number chunk of the split; participant is 0 (the caller) ... threads - 1 and picks scratch memory. */
typedef void (*ingot_task)(void *argument, size_t chunk, int participant);

/* Runs task for chunks 0 ... chunks - 1 on at most threads participants, the caller included, and returns when all are done.
 * Chunks are handed out as threads come, from both ends. The result must not depend on who takes which chunk; where the bounds of
 * chunks could change a bit they come from the shape alone, never from threads. Workers take on the caller's floating-point mode. threads <= 1 or
 * chunks <= 1 runs in the caller, without a pool. Workers are made on first use (lazily, again after fork); where none can
 * be made the caller does the work alone. Two callers at once share the workers; none waits for the other. Never allocates
 * once the pool exists. */
void ingot_parallel(int threads, size_t chunks, ingot_task task, void *argument);

/* Whether a participant's chunks come from the back, each before the last one: what it will want next lies that way. */
static inline bool ingot_takes_from_back(int participant)
{
    return participant % 2 != 0;
}

/* The program's own pool, in place of the process-wide one, for the calling thread's work from now on; NULL: the process-wide
 * one again. Borrowed. Returns what was in use. */
const ingot_thread_pool *ingot_threads_use(const ingot_thread_pool *pool);

/* Makes workers for threads participants now, so that the first run finds them. */
ingot_status ingot_threads_prepare(int threads, ingot_error *error);

/* Participants that make sense here: the affinity mask and the cgroup's CPU quota, rounded up, at least 1. */
int ingot_threads_available(void);

/* Greatest number of participants that can be asked for. */
#define INGOT_MAX_THREADS 256

#endif

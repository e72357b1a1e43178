/* Where workers run. A system may wake a worker on the processor of its caller although another one is idle: in a virtual machine
 * an idle processor can look taken. Both then share one until the system balances its load, milliseconds later, which is after
 * the run. So a caller moves workers away from its own processor, when it wakes them and when it finds them there; a worker
 * takes its affinity back as soon as it runs. */
#include <sched.h>

#include "base/pool.h"

enum { PLACED, MOVING, MOVED }; /* states */
enum { MOST_MOVED = 8 }; /* workers: with more there is no saying where they should go, and each costs a system call */

static void move_away(ingot_worker_place *place, int processor)
{
    unsigned state = PLACED;
    if (!atomic_compare_exchange_strong(&place->state, &state, MOVING))
        return;
    const pid_t thread = (pid_t)atomic_load_explicit(&place->thread, memory_order_relaxed);
    bool moved = false;
    if (sched_getaffinity(thread, sizeof place->affinity, &place->affinity) == 0) {
        cpu_set_t others = place->affinity;
        CPU_CLR((size_t)processor, &others);
        moved = CPU_COUNT(&others) > 0 && sched_setaffinity(thread, sizeof others, &others) == 0;
    }
    atomic_store_explicit(&place->processor, -1, memory_order_relaxed); /* not again before it has run */
    atomic_store(&place->state, moved ? MOVED : PLACED);
}

void ingot_place_workers(unsigned count, bool waking)
{
    const int processor = sched_getcpu();
    const unsigned workers = atomic_load_explicit(&ingot_workers.workers, memory_order_relaxed);
    count = count < workers ? count : workers;
    count = count < MOST_MOVED ? count : MOST_MOVED;
    for (unsigned i = 0; processor >= 0 && i < count; i++) {
        ingot_worker_place *place = &ingot_workers.places[i];
        if (atomic_load_explicit(&place->thread, memory_order_relaxed) == 0)
            continue;
        if (atomic_load_explicit(&place->processor, memory_order_relaxed) == processor ||
            (waking && atomic_load_explicit(&place->asleep, memory_order_relaxed)))
            move_away(place, processor);
    }
}

void ingot_place_self(ingot_worker_place *place)
{
    if (atomic_load_explicit(&place->state, memory_order_acquire) == MOVED) {
        sched_setaffinity(0, sizeof place->affinity, &place->affinity);
        atomic_store(&place->state, PLACED);
    }
    const int processor = sched_getcpu();
    if (processor != atomic_load_explicit(&place->processor, memory_order_relaxed)) /* callers keep reading it */
        atomic_store_explicit(&place->processor, processor, memory_order_relaxed);
}

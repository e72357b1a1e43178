/* The memory limit of a model or session. */
#include <unistd.h>

#include "base/cgroup.h"
#include "base/memory.h"

static size_t default_limit(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page_size = sysconf(_SC_PAGESIZE);
    uint64_t memory = pages > 0 && page_size > 0 ? (uint64_t)pages * (uint64_t)page_size : UINT64_MAX;
    uint64_t group = ingot_cgroup_memory("");
    uint64_t limit = (group < memory ? group : memory) / 5 * 4;
    return limit < SIZE_MAX ? (size_t)limit : SIZE_MAX;
}

void ingot_budget_init(ingot_budget *budget, size_t limit)
{
    budget->limit = limit ? limit : default_limit();
    atomic_init(&budget->used, 0);
}

ingot_status ingot_budget_take(ingot_budget *budget, size_t bytes, const char *what, ingot_error *error)
{
    size_t used = atomic_load_explicit(&budget->used, memory_order_relaxed);
    do {
        if (used > budget->limit || bytes > budget->limit - used)
            return ingot_fail(error, INGOT_OUT_OF_MEMORY,
                              "%s needs %zu bytes, which with the %zu in use passes the memory limit of %zu bytes; "
                              "raise the limit (memory_limit, --memory-limit) if the machine has the memory",
                              what, bytes, used, budget->limit);
    } while (!atomic_compare_exchange_weak_explicit(&budget->used, &used, used + bytes, memory_order_relaxed,
                                                    memory_order_relaxed));
    return INGOT_OK;
}

void ingot_budget_give(ingot_budget *budget, size_t bytes)
{
    atomic_fetch_sub_explicit(&budget->used, bytes, memory_order_relaxed);
}

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
    budget->parent = NULL;
    atomic_init(&budget->used, 0);
}

void ingot_budget_init_part(ingot_budget *budget, ingot_budget *parent)
{
    budget->limit = SIZE_MAX;
    budget->parent = parent;
    atomic_init(&budget->used, 0);
}

static ingot_status take(ingot_budget *budget, size_t bytes, const char *what, ingot_error *error)
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

static void give(ingot_budget *first, const ingot_budget *end, size_t bytes)
{
    for (ingot_budget *b = first; b != end; b = b->parent)
        atomic_fetch_sub_explicit(&b->used, bytes, memory_order_relaxed);
}

ingot_status ingot_budget_take(ingot_budget *budget, size_t bytes, const char *what, ingot_error *error)
{
    for (ingot_budget *b = budget; b; b = b->parent) {
        const ingot_status status = take(b, bytes, what, error);
        if (status == INGOT_OK)
            continue;
        give(budget, b, bytes);
        return status;
    }
    return INGOT_OK;
}

void ingot_budget_give(ingot_budget *budget, size_t bytes)
{
    give(budget, NULL, bytes);
}

/* Layouts by the shapes of the inputs: the key of a layout, and the bounded cache of a plan. */
#include <string.h>

#include "plan/planner.h"

/* ---- Keys ---- */

static void fill_key(const ingot_plan *plan, const ingot_value *const *inputs, int64_t *key)
{
    for (size_t i = 0; i < plan->graph->input_count; i++) {
        bool tensor = inputs[i]->kind == INGOT_KIND_TENSOR;
        int rank = tensor ? inputs[i]->rank : 0;
        *key++ = tensor ? rank : -(int64_t)inputs[i]->kind;
        *key++ = inputs[i]->element;
        memcpy(key, inputs[i]->dims, (size_t)rank * sizeof *key);
        key += rank;
    }
}

static size_t key_size(const ingot_plan *plan, const ingot_value *const *inputs)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->graph->input_count; i++)
        count += 2 + (inputs[i]->kind == INGOT_KIND_TENSOR ? (size_t)inputs[i]->rank : 0);
    return count;
}

/* Hash of the key without building it. */
static uint64_t hash_inputs(const ingot_plan *plan, const ingot_value *const *inputs)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < plan->graph->input_count; i++) {
        bool tensor = inputs[i]->kind == INGOT_KIND_TENSOR;
        int64_t head[2] = {tensor ? inputs[i]->rank : -(int64_t)inputs[i]->kind, inputs[i]->element};
        hash = ingot_hash_bytes(head, sizeof head, hash);
        if (tensor)
            hash = ingot_hash_bytes(inputs[i]->dims, (size_t)inputs[i]->rank * sizeof(int64_t), hash);
    }
    return hash;
}

static bool same_key(const ingot_plan *plan, const ingot_layout *layout, const ingot_value *const *inputs)
{
    const int64_t *key = layout->key;
    for (size_t i = 0; i < plan->graph->input_count; i++) {
        bool tensor = inputs[i]->kind == INGOT_KIND_TENSOR;
        int rank = tensor ? inputs[i]->rank : 0;
        if (key[0] != (tensor ? rank : -(int64_t)inputs[i]->kind) || key[1] != (int64_t)inputs[i]->element ||
            memcmp(key + 2, inputs[i]->dims, (size_t)rank * sizeof *key) != 0)
            return false;
        key += 2 + rank;
    }
    return true;
}

/* ---- Layouts ---- */

void ingot_layout_release(ingot_layout *layout)
{
    if (!layout || atomic_fetch_sub(&layout->references, 1) != 1)
        return;
    ingot_free(layout->key);
    ingot_free(layout->slots);
    ingot_free(layout->dims);
    ingot_free(layout->workspace_offset);
    ingot_free(layout->workspace_bytes);
    ingot_free(layout);
}

static ingot_layout *alloc_layout(const ingot_plan *plan, const ingot_value *const *inputs)
{
    ingot_layout *l = ingot_calloc(1, sizeof *l);
    if (!l)
        return NULL;
    atomic_init(&l->references, 1);
    l->hash = hash_inputs(plan, inputs);
    l->key_count = key_size(plan, inputs);
    l->key = ingot_calloc(l->key_count + 1, sizeof *l->key);
    l->slots = ingot_calloc(plan->slot_count + 1, sizeof *l->slots);
    l->dims = ingot_calloc(plan->slot_count + 1, INGOT_MAX_RANK * sizeof *l->dims);
    l->workspace_offset = ingot_calloc(plan->step_count + 1, sizeof *l->workspace_offset);
    l->workspace_bytes = ingot_calloc(plan->step_count + 1, sizeof *l->workspace_bytes);
    if (!l->key || !l->slots || !l->dims || !l->workspace_offset || !l->workspace_bytes) {
        ingot_layout_release(l);
        return NULL;
    }
    fill_key(plan, inputs, l->key);
    return l;
}

static ingot_status make_layout(ingot_plan *plan, const ingot_value *const *inputs, int threads, ingot_layout **layout,
                                ingot_error *error)
{
    *layout = alloc_layout(plan, inputs);
    ingot_status status = *layout ? ingot_layout_fill(plan, inputs, threads, *layout, error)
                                  : ingot_fail_memory(error, 0, "the layout of a shape");
    if (status != INGOT_OK) {
        ingot_layout_release(*layout);
        *layout = NULL;
    }
    return status;
}

/* ---- The cache ---- */

static ingot_layout *find_locked(ingot_plan *plan, uint64_t hash, const ingot_value *const *inputs)
{
    for (size_t i = 0; i < plan->cache.count; i++) {
        ingot_layout *l = plan->cache.entries[i];
        if (l->hash != hash || !same_key(plan, l, inputs))
            continue;
        l->used = ++plan->cache.tick;
        atomic_fetch_add(&l->references, 1);
        return l;
    }
    return NULL;
}

static void insert_locked(ingot_plan *plan, ingot_layout *layout)
{
    size_t at = plan->cache.count;
    if (plan->cache.limit == 0)
        return;
    if (at < plan->cache.limit) {
        plan->cache.count++;
    } else {
        at = 0;
        for (size_t i = 1; i < plan->cache.count; i++)
            if (plan->cache.entries[i]->used < plan->cache.entries[at]->used)
                at = i;
        ingot_layout_release(plan->cache.entries[at]);
    }
    layout->used = ++plan->cache.tick;
    atomic_fetch_add(&layout->references, 1);
    plan->cache.entries[at] = layout;
}

ingot_status ingot_plan_layout(ingot_plan *plan, const ingot_value *const *inputs, int threads, ingot_layout **layout,
                               ingot_error *error)
{
    uint64_t hash = hash_inputs(plan, inputs);
    pthread_mutex_lock(&plan->cache.lock);
    *layout = find_locked(plan, hash, inputs);
    pthread_mutex_unlock(&plan->cache.lock);
    if (*layout)
        return INGOT_OK;
    INGOT_TRY(make_layout(plan, inputs, threads, layout, error)); /* two runs may make the same: one of them stays */
    pthread_mutex_lock(&plan->cache.lock);
    ingot_layout *other = find_locked(plan, hash, inputs);
    if (!other)
        insert_locked(plan, *layout);
    pthread_mutex_unlock(&plan->cache.lock);
    if (other) {
        ingot_layout_release(*layout);
        *layout = other;
    }
    return INGOT_OK;
}

void ingot_plan_forget_layouts(ingot_plan *plan)
{
    pthread_mutex_lock(&plan->cache.lock);
    for (size_t i = 0; i < plan->cache.count; i++)
        ingot_layout_release(plan->cache.entries[i]);
    plan->cache.count = 0;
    pthread_mutex_unlock(&plan->cache.lock);
    for (size_t i = 0; i < plan->step_count; i++)
        for (size_t b = 0; plan->steps[i].bodies && b < plan->steps[i].node->body_count; b++)
            ingot_plan_forget_layouts(plan->steps[i].bodies[b]);
}

size_t ingot_plan_cached_layouts(ingot_plan *plan)
{
    pthread_mutex_lock(&plan->cache.lock);
    size_t count = plan->cache.count;
    pthread_mutex_unlock(&plan->cache.lock);
    return count;
}

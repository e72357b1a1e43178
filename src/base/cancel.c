#include "base/cancel.h"

#include "base/memory.h"

ingot_status ingot_cancel_create(ingot_cancel **cancel, ingot_error *error)
{
    if (!cancel)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT, "ingot_cancel_create: cancel is NULL");
    *cancel = NULL;
    ingot_cancel *created = ingot_malloc(sizeof *created);
    if (!created)
        return ingot_fail_memory(error, sizeof *created, "a cancel token");
    atomic_init(&created->references, 1);
    atomic_init(&created->raised, false);
    *cancel = created;
    return INGOT_OK;
}

void ingot_cancel_raise(ingot_cancel *cancel)
{
    if (cancel)
        atomic_store(&cancel->raised, true);
}

void ingot_cancel_reset(ingot_cancel *cancel)
{
    if (cancel)
        atomic_store(&cancel->raised, false);
}

ingot_cancel *ingot_cancel_retain(ingot_cancel *cancel)
{
    if (cancel)
        atomic_fetch_add_explicit(&cancel->references, 1, memory_order_relaxed);
    return cancel;
}

void ingot_cancel_release(ingot_cancel *cancel)
{
    if (cancel && atomic_fetch_sub_explicit(&cancel->references, 1, memory_order_acq_rel) == 1)
        ingot_free(cancel);
}

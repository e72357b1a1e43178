/* The flag behind ingot_cancel. */
#ifndef INGOT_BASE_CANCEL_H
#define INGOT_BASE_CANCEL_H

#include <stdatomic.h>

#include "base/status.h"

struct ingot_cancel {
    atomic_uint references;
    atomic_bool raised;
};

/* One more owner, who gives it back with ingot_cancel_release. NULL is fine; returns cancel. */
ingot_cancel *ingot_cancel_retain(ingot_cancel *cancel);

/* Whether to stop. NULL never asks to. Cheap enough for every step of a plan. */
static inline bool ingot_cancelled(const ingot_cancel *cancel)
{
    return cancel && atomic_load_explicit(&cancel->raised, memory_order_relaxed);
}

#endif

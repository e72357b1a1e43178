/* Memory that is handed back between runs. */
#include "runtime/session.h"

static void trim_frames(ingot_context *c)
{
    ingot_frame_trim(c->frame);
    if (c->open_frame)
        ingot_frame_trim(c->open_frame);
}

void ingot_session_trim(ingot_session *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    for (ingot_context *c = s->idle; c; c = c->next)
        trim_frames(c);
    pthread_mutex_unlock(&s->lock);
    ingot_plan_forget_layouts(s->plan);
    pthread_mutex_lock(&s->open_lock);
    if (s->open.plan)
        ingot_plan_forget_layouts(s->open.plan);
    pthread_mutex_unlock(&s->open_lock);
    ingot_memory_trim();
}

ingot_status ingot_context_trim(ingot_context *c, ingot_error *error)
{
    if (!c)
        return ingot_fail(error, INGOT_INVALID_ARGUMENT, "ingot_context_trim needs a context");
    if (atomic_exchange(&c->busy, true))
        return ingot_fail(error, INGOT_BUSY, "the context is running in another thread: trim it when that run is over");
    c->has_run = false;
    trim_frames(c);
    atomic_store(&c->busy, false);
    ingot_memory_trim();
    return INGOT_OK;
}

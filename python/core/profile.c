/* Context.profile: where the time of runs goes. */
#include "core.h"

#include "ingot/tools.h"

/* What one region did in all runs. */
typedef struct region_sum {
    unsigned long long calls, ns;
    double flops, bytes;
} region_sum;

/* Runs once and adds what the profile noted. */
static ingot_status run_noted(ingot_context *context, const ingot_profile *profile, region_sum *sums,
                              ingot_error *error)
{
    ingot_status status = ingot_context_run(context, NULL, error);
    ingot_profile_region region;
    for (size_t i = 0; status == INGOT_OK && ingot_profile_get(profile, i, &region); i++) {
        sums[i].calls += region.calls;
        sums[i].ns += region.ns;
        sums[i].flops += region.region.flops;
        sums[i].bytes += region.bytes;
    }
    return status;
}

/* The first run finds sizes and memory, and does not count. */
static ingot_status run_all(ingot_context *context, ingot_profile *profile, int runs, region_sum *sums,
                            ingot_error *error)
{
    ingot_profile_set_active(profile, false);
    ingot_status status = ingot_context_run(context, NULL, error);
    ingot_profile_set_active(profile, true);
    for (int i = 0; i < runs && status == INGOT_OK; i++)
        status = run_noted(context, profile, sums, error);
    return status;
}

static PyObject *describe(const ingot_profile *profile, const region_sum *sums)
{
    PyObject *list = PyList_New(0);
    ingot_profile_region r;
    for (size_t i = 0; list && ingot_profile_get(profile, i, &r); i++) {
        PyObject *item =
            Py_BuildValue("{s:s,s:s,s:s,s:s,s:i,s:K,s:K,s:d,s:d}", "name", r.region.name, "operators",
                          r.region.operators, "backend", r.region.backend, "tactic", r.region.tactic, "depth", r.depth,
                          "calls", sums[i].calls, "ns", sums[i].ns, "flops", sums[i].flops, "bytes", sums[i].bytes);
        if (!item || PyList_Append(list, item) < 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

static PyObject *profile_runs(ingot_context *context, ingot_profile *profile, int runs)
{
    ingot_error error = {0};
    const size_t count = ingot_profile_region_count(profile);
    region_sum *sums = PyMem_Malloc((count + 1) * sizeof *sums);
    if (!sums)
        return PyErr_NoMemory();
    for (size_t i = 0; i < count; i++)
        sums[i] = (region_sum){0};
    ingot_status status;
    Py_BEGIN_ALLOW_THREADS status = run_all(context, profile, runs, sums, &error);
    Py_END_ALLOW_THREADS PyObject *list = status == INGOT_OK ? describe(profile, sums) : core_raise(&error);
    PyMem_Free(sums);
    return list;
}

PyObject *core_profile(PyObject *object, PyObject *args)
{
    ingot_context *context = ((context_object *)object)->context;
    int runs;
    ingot_profile *profile;
    ingot_error error = {0};
    if (!PyArg_ParseTuple(args, "i", &runs))
        return NULL;
    if (runs < 1) {
        PyErr_Format(PyTuple_GetItem(core.errors, INGOT_INVALID_ARGUMENT), "runs is %d, but must be at least 1", runs);
        return NULL;
    }
    if (ingot_profile_create(context, 0, &profile, &error) != INGOT_OK)
        return core_raise(&error);
    PyObject *list = profile_runs(context, profile, runs);
    ingot_profile_release(profile);
    return list;
}

/* ---- Events ---- */

PyObject *core_note_events(PyObject *object, PyObject *args)
{
    context_object *self = (context_object *)object;
    Py_ssize_t limit;
    ingot_error error = {0};
    if (!PyArg_ParseTuple(args, "n", &limit))
        return NULL;
    ingot_profile_release(self->noted);
    self->noted = NULL;
    if (ingot_profile_create(self->context, limit > 0 ? (size_t)limit : 0, &self->noted, &error) != INGOT_OK)
        return core_raise(&error);
    Py_RETURN_NONE;
}

PyObject *core_events(PyObject *object, PyObject *unused)
{
    const ingot_profile *profile = ((context_object *)object)->noted;
    PyObject *list = PyList_New(0);
    ingot_profile_event event;
    for (size_t i = 0; list && profile && ingot_profile_event_at(profile, i, &event); i++) {
        ingot_profile_region r = {0};
        if (!ingot_profile_get(profile, event.region, &r))
            continue;
        PyObject *item = Py_BuildValue("(sssKK)", r.region.name, r.region.operators, r.region.backend,
                                       (unsigned long long)event.begin_ns, (unsigned long long)event.end_ns);
        if (!item || PyList_Append(list, item) < 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

/* The Chrome trace of ingot profile: chrome://tracing and Perfetto show it as a timeline. */
#include <stdio.h>

#include "profile.h"
#include "report.h"
#include "value.h"

static json_t *event_json(const cli_profile *profile, const ingot_profile_event *event)
{
    const ingot_profile_region *last = &profile->regions[event->region].last;
    const ingot_region_info *info = &last->region;
    double calls = (double)last->calls;
    return json_pack("{s:s, s:s, s:s, s:f, s:f, s:i, s:i, s:{s:o, s:s, s:I, s:f, s:f}}", "name", info->operators, "cat",
                     last->body ? last->body : "graph", "ph", "X", "ts", (double)event->begin_ns * 1e-3, "dur",
                     (double)(event->end_ns - event->begin_ns) * 1e-3, "pid", 1, "tid", 1, "args", "node",
                     cli_json_text(info->name), "tactic", info->tactic, "region", (json_int_t)event->region, "flops",
                     info->flops / calls, "bytes", last->bytes / calls);
}

static json_t *name_json(const char *what, const char *name)
{
    return json_pack("{s:s, s:s, s:i, s:i, s:{s:s}}", "name", what, "ph", "M", "pid", 1, "tid", 1, "args", "name",
                     name);
}

static json_t *trace_json(const ingot_profile *events, const cli_profile *profile)
{
    json_t *list = json_array();
    ingot_profile_event event;
    json_array_append_new(list, name_json("process_name", "ingot"));
    json_array_append_new(list, name_json("thread_name", "steps"));
    for (size_t i = 0; ingot_profile_event_at(events, i, &event); i++)
        json_array_append_new(list, event_json(profile, &event));
    return json_pack("{s:o, s:s}", "traceEvents", list, "displayTimeUnit", "ns");
}

ingot_status cli_profile_write_trace(const char *path, const ingot_profile *events, const cli_profile *profile,
                                     ingot_error *error)
{
    json_t *trace = trace_json(events, profile);
    if (!trace)
        return cli_fail_memory(error, "the trace");
    int failed = json_dump_file(trace, path, JSON_COMPACT | JSON_REAL_PRECISION(15));
    json_decref(trace);
    return failed ? cli_fail(error, INGOT_IO_ERROR, "%s: the trace could not be written there", path) : INGOT_OK;
}

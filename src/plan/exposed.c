/* Tactics of a graph some of whose outputs are read inside it as well. Such a value cannot stay inside a region, so regions are
 * smaller and their costs others; but to look at a value must change no bit, and kernels of another layout sum in another order.
 * So the choice is made for the regions that there would be without those outputs, and followed. */
#include <string.h>

#include "plan/assign.h"

typedef struct model_choice {
    ingot_claim claim;
    ingot_tactic *tactics; /* of each region of claim */
    size_t *region_of;     /* [node id] */
} model_choice;

/* Outputs that are read inside count as none from here on; kept[i]: what they were. */
static void hide_outputs(const ingot_graph *graph, size_t *kept)
{
    for (size_t i = 0; i < graph->output_count; i++) {
        ingot_graph_value *value = graph->outputs[i];
        kept[i] = value->use_count > 0 ? value->output_count : 0;
        if (kept[i])
            value->output_count = 0;
    }
}

static void show_outputs(const ingot_graph *graph, const size_t *kept)
{
    for (size_t i = 0; i < graph->output_count; i++)
        if (kept[i]) /* the first time of an output that is there twice */
            graph->outputs[i]->output_count = kept[i];
}

static ingot_status choose_hidden(const ingot_graph *graph, const ingot_backend *backend, ingot_device *device,
                                  model_choice *m, ingot_error *error)
{
    size_t *kept = ingot_arena_alloc_array(m->claim.arena, graph->output_count + 1, sizeof *kept);
    if (!kept)
        return ingot_fail_memory(error, graph->output_count, "the plan");
    hide_outputs(graph, kept);
    ingot_status status = backend->claim(device, graph, &m->claim, error);
    if (status == INGOT_OK) {
        m->tactics = ingot_arena_alloc_array(m->claim.arena, m->claim.count + 1, sizeof *m->tactics);
        status = m->tactics
                     ? ingot_assign_tactics(graph, backend, device, m->claim.regions, m->claim.count, m->tactics, error)
                     : ingot_fail_memory(error, m->claim.count, "the plan");
    }
    show_outputs(graph, kept);
    return status;
}

static ingot_status map_nodes(const ingot_graph *graph, model_choice *m, ingot_error *error)
{
    m->region_of = ingot_arena_alloc_array(m->claim.arena, graph->module->next_id + 1, sizeof *m->region_of);
    if (!m->region_of)
        return ingot_fail_memory(error, graph->module->next_id, "the plan");
    for (size_t i = 0; i < m->claim.count; i++)
        for (size_t n = 0; n < m->claim.regions[i].node_count; n++)
            m->region_of[m->claim.regions[i].nodes[n]->id] = i;
    return INGOT_OK;
}

/* The tactic of the same name and layouts, else the cheapest that writes its first output as the wished one does, else the plain one. */
static size_t pick(const ingot_tactic *list, size_t count, const ingot_tactic *wish)
{
    size_t best = 0;
    for (size_t t = 0; t < count; t++) {
        const bool alike =
            list[t].input_layouts[0] == wish->input_layouts[0] && list[t].output_layouts[0] == wish->output_layouts[0];
        if (alike && strcmp(list[t].name, wish->name) == 0)
            return t;
    }
    for (size_t t = 1; t < count; t++)
        if (list[t].output_layouts[0] == wish->output_layouts[0] &&
            (list[best].output_layouts[0] != wish->output_layouts[0] || list[t].cost < list[best].cost))
            best = t;
    return best;
}

static ingot_status follow(const model_choice *m, const ingot_backend *backend, ingot_device *device,
                           const ingot_region *regions, size_t count, ingot_tactic *tactics, ingot_error *error)
{
    for (size_t i = 0; i < count; i++) {
        ingot_tactic list[INGOT_MAX_TACTICS];
        size_t offered;
        INGOT_TRY(ingot_ask_tactics(backend, device, &regions[i], list, &offered, error));
        tactics[i] = list[pick(list, offered, &m->tactics[m->region_of[regions[i].nodes[0]->id]])];
    }
    return INGOT_OK;
}

bool ingot_is_exposed(const ingot_graph *graph)
{
    for (size_t i = 0; i < graph->output_count; i++)
        if (graph->outputs[i]->use_count > 0 && graph->outputs[i]->producer)
            return true;
    return false;
}

ingot_status ingot_assign_exposed(const ingot_graph *graph, const ingot_backend *backend, ingot_device *device,
                                  const ingot_region *regions, size_t count, ingot_tactic *tactics, ingot_error *error)
{
    model_choice m = {.claim = {.arena = ingot_arena_create()}};
    ingot_status status =
        m.claim.arena ? choose_hidden(graph, backend, device, &m, error) : ingot_fail_memory(error, count, "the plan");
    if (status == INGOT_OK)
        status = map_nodes(graph, &m, error);
    if (status == INGOT_OK)
        status = follow(&m, backend, device, regions, count, tactics, error);
    ingot_free(m.claim.regions);
    ingot_arena_release(m.claim.arena);
    return status;
}

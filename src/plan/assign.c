/* The choice of tactics. It begins with every region in the backend's own layouts as far as it can be; then single regions, and
 * groups of regions that pass such tensors to each other, go back to the plain layout where that costs less. */
#include "plan/assign.h"

#include <stdlib.h>
#include <string.h>

/* Rounds over all regions; what still changes then stays as it is. */
#define MOST_ROUNDS 16
/* A reorder reads and writes so many bytes a nanosecond, after this start. */
#define REORDER_BYTES 10.0
#define REORDER_START 300.0
#define UNKNOWN_BATCH 1
#define UNKNOWN_SIZE  32

typedef struct choice {
    const ingot_region *region;
    ingot_tactic *tactics;
    size_t count, current;
    size_t group; /* of find_group */
} choice;

typedef struct node_value {
    unsigned home;                    /* layout in which it is made */
    size_t wanted[INGOT_MAX_LAYOUTS]; /* operands that read it so */
    double reorder;                   /* cost of one */
    size_t member;                    /* 1 + a region of its group; 0: none yet */
} node_value;

typedef struct assignment {
    choice *choices;
    size_t count;
    node_value *values;
} assignment;

void ingot_guess_dims(const ingot_type *type, int64_t *dims)
{
    for (int i = 0; i < type->rank; i++)
        dims[i] = ingot_dim_is_number(type->dims[i]) ? type->dims[i] : i == 0 ? UNKNOWN_BATCH : UNKNOWN_SIZE;
}

/* ---- Costs ---- */

static double value_cost(const node_value *v)
{
    size_t reorders = 0;
    for (unsigned l = 0; l < INGOT_MAX_LAYOUTS; l++)
        reorders += v->wanted[l] > 0 && l != v->home;
    return (double)reorders * v->reorder;
}

static size_t laid_out(size_t count)
{
    return count < INGOT_MAX_LAID_OUT ? count : INGOT_MAX_LAID_OUT;
}

static bool is_repeated(ingot_graph_value *const *list, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (list[i] == list[index])
            return true;
    return false;
}

/* What changes with the region's tactic: its own cost and that of the values around it. */
static double cost_around(const assignment *a, const choice *c)
{
    const ingot_region *r = c->region;
    double cost = c->tactics[c->current].cost;
    for (size_t i = 0; i < laid_out(r->input_count); i++)
        if (r->inputs[i] && !is_repeated(r->inputs, i))
            cost += value_cost(&a->values[r->inputs[i]->id]);
    for (size_t i = 0; i < laid_out(r->output_count); i++)
        if (r->outputs[i])
            cost += value_cost(&a->values[r->outputs[i]->id]);
    return cost;
}

/* Operands in the backend's own layouts. */
static size_t own_count(const choice *c, size_t tactic)
{
    size_t own = 0;
    for (size_t i = 0; i < INGOT_MAX_LAID_OUT; i++)
        own += (size_t)(c->tactics[tactic].input_layouts[i] != INGOT_LAYOUT_PLAIN) +
               (c->tactics[tactic].output_layouts[i] != INGOT_LAYOUT_PLAIN);
    return own;
}

static void count_wanted(assignment *a, const choice *c, bool add)
{
    for (size_t i = 0; i < laid_out(c->region->input_count); i++) {
        if (!c->region->inputs[i])
            continue;
        size_t *wanted = &a->values[c->region->inputs[i]->id].wanted[c->tactics[c->current].input_layouts[i]];
        *wanted += add ? 1 : (size_t)-1;
    }
}

static void set_tactic(assignment *a, choice *c, size_t tactic)
{
    count_wanted(a, c, false);
    c->current = tactic;
    count_wanted(a, c, true);
    for (size_t i = 0; i < laid_out(c->region->output_count); i++)
        if (c->region->outputs[i])
            a->values[c->region->outputs[i]->id].home = c->tactics[tactic].output_layouts[i];
}

/* ---- Single regions ---- */

static bool improve_region(assignment *a, choice *c)
{
    size_t best = c->current, first = c->current;
    double least = cost_around(a, c);
    for (size_t t = 0; t < c->count; t++) {
        if (t == first)
            continue;
        set_tactic(a, c, t);
        double cost = cost_around(a, c), margin = 1e-9 * least;
        if (cost > least + margin || (cost >= least - margin && own_count(c, t) >= own_count(c, best)))
            continue;
        best = t;
        least = cost;
    }
    set_tactic(a, c, best);
    return best != first;
}

static bool improve_regions(assignment *a, bool forwards)
{
    bool changed = false;
    for (size_t i = 0; i < a->count; i++) {
        choice *c = &a->choices[forwards ? i : a->count - 1 - i];
        if (c->count > 1 && improve_region(a, c))
            changed = true;
    }
    return changed;
}

/* ---- Groups ---- */

static size_t find_group(assignment *a, size_t i)
{
    while (a->choices[i].group != i)
        i = a->choices[i].group = a->choices[a->choices[i].group].group;
    return i;
}

static void join_group(assignment *a, size_t region, const ingot_graph_value *value)
{
    node_value *v = &a->values[value->id];
    if (v->member)
        a->choices[find_group(a, region)].group = find_group(a, v->member - 1);
    v->member = region + 1;
}

/* Regions that make or read one value in a layout of the backend's own are of one group. */
static void find_groups(assignment *a, size_t value_count)
{
    for (size_t i = 0; i < value_count; i++)
        a->values[i].member = 0;
    for (size_t i = 0; i < a->count; i++)
        a->choices[i].group = i;
    for (size_t i = 0; i < a->count; i++) {
        const ingot_region *r = a->choices[i].region;
        const ingot_tactic *t = &a->choices[i].tactics[a->choices[i].current];
        for (size_t k = 0; k < laid_out(r->input_count); k++)
            if (r->inputs[k] && t->input_layouts[k] != INGOT_LAYOUT_PLAIN)
                join_group(a, i, r->inputs[k]);
        for (size_t k = 0; k < laid_out(r->output_count); k++)
            if (r->outputs[k] && t->output_layouts[k] != INGOT_LAYOUT_PLAIN)
                join_group(a, i, r->outputs[k]);
    }
}

static double make_plain(assignment *a, choice *c)
{
    double before = cost_around(a, c);
    set_tactic(a, c, 0);
    return cost_around(a, c) - before;
}

/* Makes groups plain where that does not cost more. kept[i] remembers what region i had, gain[i] what group i gains by it. */
static void improve_groups(assignment *a, size_t *kept, double *gain)
{
    for (size_t i = 0; i < a->count; i++) {
        gain[i] = 0;
        kept[i] = a->choices[i].current;
    }
    for (size_t i = 0; i < a->count; i++)
        if (kept[i] != 0)
            gain[find_group(a, i)] += make_plain(a, &a->choices[i]);
    for (size_t i = 0; i < a->count; i++)
        if (kept[i] != 0 && gain[find_group(a, i)] > 0)
            set_tactic(a, &a->choices[i], kept[i]);
}

/* ---- The whole ---- */

/* Values that something other than a region reads, or that only leave the graph, are wanted plain. What is read by regions and is
 * an output as well counts as if it were none: to look at a value changes no bit. */
static void count_other_readers(assignment *a, const ingot_graph *graph)
{
    for (const ingot_node *n = graph->first; n; n = n->next)
        for (size_t i = 0; i < n->input_count && n->op->flags & (INGOT_OP_VIEW | INGOT_OP_CONTROL); i++)
            if (n->inputs[i])
                a->values[n->inputs[i]->id].wanted[INGOT_LAYOUT_PLAIN]++;
    for (size_t i = 0; i < graph->output_count; i++)
        if (graph->outputs[i]->use_count == 0)
            a->values[graph->outputs[i]->id].wanted[INGOT_LAYOUT_PLAIN]++;
}

static void guess_reorders(assignment *a, const ingot_graph *graph)
{
    for (size_t i = 0; i < graph->value_count; i++) {
        int64_t dims[INGOT_MAX_RANK];
        const ingot_type *type = &graph->values[i]->type;
        double bytes = (double)ingot_element_size(type->element);
        ingot_guess_dims(type, dims);
        for (int d = 0; d < type->rank; d++)
            bytes *= (double)dims[d];
        a->values[i].reorder = REORDER_START + 2 * bytes / REORDER_BYTES;
    }
}

ingot_status ingot_ask_tactics(const ingot_backend *backend, ingot_device *device, const ingot_region *region,
                               ingot_tactic list[INGOT_MAX_TACTICS], size_t *count, ingot_error *error)
{
    memset(list, 0, INGOT_MAX_TACTICS * sizeof *list);
    INGOT_TRY(backend->tactics(device, region, list, count, error));
    return *count > 0 ? INGOT_OK
                      : ingot_node_fail(region->nodes[0], error, INGOT_UNSUPPORTED, "backend '%s' has no way to run it",
                                        backend->name);
}

static ingot_status ask_tactics(assignment *a, ingot_arena *arena, const ingot_backend *backend, ingot_device *device,
                                const ingot_region *regions, ingot_error *error)
{
    for (size_t i = 0; i < a->count; i++) {
        ingot_tactic list[INGOT_MAX_TACTICS];
        choice *c = &a->choices[i];
        c->region = &regions[i];
        INGOT_TRY(ingot_ask_tactics(backend, device, c->region, list, &c->count, error));
        c->tactics = ingot_arena_copy(arena, list, c->count * sizeof *list);
        if (!c->tactics)
            return ingot_fail_memory(error, c->count * sizeof *list, "the plan");
    }
    return INGOT_OK;
}

static void begin(assignment *a)
{
    for (size_t i = 0; i < a->count; i++) {
        choice *c = &a->choices[i];
        size_t best = 0;
        for (size_t t = 1; t < c->count; t++)
            if (own_count(c, t) > own_count(c, best) ||
                (own_count(c, t) == own_count(c, best) && c->tactics[t].cost < c->tactics[best].cost))
                best = t;
        count_wanted(a, c, true);
        set_tactic(a, c, best);
    }
}

static void search(assignment *a, size_t value_count, size_t *kept, double *gain)
{
    for (size_t i = 0; i < MOST_ROUNDS && improve_regions(a, i % 2 != 0); i++)
        ;
    find_groups(a, value_count);
    improve_groups(a, kept, gain);
    for (size_t i = 0; i < MOST_ROUNDS && improve_regions(a, i % 2 != 0); i++)
        ;
}

/* For people who look for a fault, and for tests: INGOT_LAYOUT=plain leaves the backend's own layouts out, INGOT_LAYOUT=own takes
 * them wherever they can be, at any cost. */
static void follow_wish(assignment *a, const char *wish)
{
    for (size_t i = 0; i < a->count && strcmp(wish, "plain") == 0; i++)
        set_tactic(a, &a->choices[i], 0);
}

ingot_status ingot_assign_tactics(const ingot_graph *graph, const ingot_backend *backend, ingot_device *device,
                                  const ingot_region *regions, size_t count, ingot_tactic *tactics, ingot_error *error)
{
    ingot_arena *arena = ingot_arena_create();
    assignment a = {.count = count};
    a.choices = arena ? ingot_arena_alloc_array(arena, count + 1, sizeof *a.choices) : NULL;
    a.values = arena ? ingot_arena_alloc_array(arena, graph->value_count + 1, sizeof *a.values) : NULL;
    size_t *kept = arena ? ingot_arena_alloc_array(arena, count + 1, sizeof *kept) : NULL;
    double *gain = arena ? ingot_arena_alloc_array(arena, count + 1, sizeof *gain) : NULL;
    ingot_status status = a.choices && a.values && kept && gain
                              ? ask_tactics(&a, arena, backend, device, regions, error)
                              : ingot_fail_memory(error, count * sizeof *a.choices, "the plan");
    if (status == INGOT_OK) {
        guess_reorders(&a, graph);
        count_other_readers(&a, graph);
        const char *wish = getenv("INGOT_LAYOUT");
        begin(&a);
        if (wish)
            follow_wish(&a, wish);
        else
            search(&a, graph->value_count, kept, gain);
        for (size_t i = 0; i < count; i++)
            tactics[i] = a.choices[i].tactics[a.choices[i].current];
    }
    ingot_arena_release(arena);
    return status;
}

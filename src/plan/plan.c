/* From a graph to the steps that run it. */
#include "plan/plan.h"

#include <string.h>

#include "plan/assign.h"

ingot_status ingot_claim_add(ingot_claim *claim, const ingot_region *region, ingot_error *error)
{
    INGOT_TRY(ingot_grow(&claim->regions, &claim->capacity, claim->count + 1, sizeof *claim->regions, error));
    claim->regions[claim->count++] = *region;
    return INGOT_OK;
}

typedef struct planner {
    ingot_plan *plan;
    const ingot_plan_options *options;
    ingot_claim claim;
    ingot_tactic *tactics;              /* of each region */
    size_t (*forms)[INGOT_MAX_LAYOUTS]; /* [value]: the slot that holds it in that layout; INGOT_NO_SLOT: none yet */
    ingot_error *error;
} planner;

static ingot_status plan_graph(const ingot_graph *graph, const ingot_plan_options *options, ingot_arena *arena,
                               int depth, ingot_plan **plan, ingot_error *error);

static void *plan_alloc(planner *p, size_t count, size_t size)
{
    void *memory = ingot_arena_alloc_array(p->plan->arena, count + 1, size);
    if (!memory)
        ingot_fail_memory(p->error, count * size, "the plan");
    return memory;
}

/* ---- Steps ---- */

static size_t add_slot(planner *p, const ingot_graph_value *value, unsigned layout)
{
    ingot_plan *plan = p->plan;
    size_t slot = layout == INGOT_LAYOUT_PLAIN ? value->id : plan->slot_count++;
    plan->slots[slot].value = value;
    plan->slots[slot].layout = layout;
    p->forms[value->id][layout] = slot;
    return slot;
}

/* The slot that the value was made in: its other layouts are made from it. */
static size_t home_of(const planner *p, const ingot_graph_value *value)
{
    for (unsigned l = 0; l < INGOT_MAX_LAYOUTS; l++) {
        size_t slot = p->forms[value->id][l];
        if (slot != INGOT_NO_SLOT && p->plan->slots[slot].is_home)
            return slot;
    }
    return value->id;
}

static ingot_status add_reorder(planner *p, const ingot_node *node, const ingot_graph_value *value, unsigned layout)
{
    ingot_plan_step *step = &p->plan->steps[p->plan->step_count++];
    step->kind = INGOT_STEP_REORDER;
    step->node = node;
    step->inputs = plan_alloc(p, 1, sizeof *step->inputs);
    step->outputs = plan_alloc(p, 1, sizeof *step->outputs);
    if (!step->inputs || !step->outputs)
        return INGOT_OUT_OF_MEMORY;
    step->input_count = step->output_count = 1;
    step->inputs[0] = home_of(p, value);
    step->outputs[0] = add_slot(p, value, layout);
    return INGOT_OK;
}

/* The node's step reads these values in these layouts (NULL: plain): makes those that are not there. */
static ingot_status prepare_inputs(planner *p, const ingot_node *node, ingot_graph_value *const *inputs, size_t count,
                                   const uint8_t *layouts)
{
    for (size_t i = 0; i < count; i++) {
        unsigned layout = layouts ? ingot_layout_at(layouts, i) : INGOT_LAYOUT_PLAIN;
        if (inputs[i] && p->forms[inputs[i]->id][layout] == INGOT_NO_SLOT)
            INGOT_TRY(add_reorder(p, node, inputs[i], layout));
    }
    return INGOT_OK;
}

/* Of a region in its tactic's layouts; a step without a tactic is plain. */
static ingot_status set_operands(planner *p, ingot_plan_step *step, ingot_graph_value *const *inputs,
                                 size_t input_count, ingot_graph_value *const *outputs, size_t output_count)
{
    const ingot_tactic *tactic = &step->tactic;
    step->inputs = plan_alloc(p, input_count, sizeof *step->inputs);
    step->outputs = plan_alloc(p, output_count, sizeof *step->outputs);
    if (!step->inputs || !step->outputs)
        return INGOT_OUT_OF_MEMORY;
    step->input_count = input_count;
    step->output_count = output_count;
    for (size_t i = 0; i < input_count; i++)
        step->inputs[i] =
            inputs[i] ? p->forms[inputs[i]->id][ingot_layout_at(tactic->input_layouts, i)] : INGOT_NO_SLOT;
    for (size_t i = 0; i < output_count; i++) {
        step->outputs[i] = INGOT_NO_SLOT;
        if (!outputs[i])
            continue;
        step->outputs[i] = add_slot(p, outputs[i], ingot_layout_at(tactic->output_layouts, i));
        p->plan->slots[step->outputs[i]].is_home = true;
    }
    return INGOT_OK;
}

/* Outputs of the graph are plain. */
static ingot_status deliver_outputs(planner *p, const ingot_node *node, ingot_graph_value *const *outputs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (outputs[i] && outputs[i]->output_count > 0)
            INGOT_TRY(prepare_inputs(p, node, &outputs[i], 1, NULL));
    return INGOT_OK;
}

/* Lets the backend read the constants that only it will read: aligned copies stand in for those that are not aligned, one
 * region at a time. */
static ingot_status pack_aligned(planner *p, ingot_plan_step *step)
{
    const ingot_value *original[32] = {NULL};
    ingot_value *copies[32] = {NULL};
    ingot_status status = INGOT_OK;
    for (size_t i = 0; i < step->region.input_count && i < 32 && status == INGOT_OK; i++) {
        ingot_graph_value *v = step->region.inputs[i];
        if (!(step->region.packed_inputs >> i & 1) || ingot_value_is_aligned(v->constant))
            continue;
        const ingot_value *from = v->constant;
        status = ingot_value_create_tensor(from->element, from->rank, from->dims, NULL, 0, &copies[i], p->error);
        if (status != INGOT_OK)
            break;
        memcpy(copies[i]->data, from->data, ingot_value_bytes(from));
        original[i] = from;
        v->constant = copies[i];
    }
    if (status == INGOT_OK)
        status = p->options->backend->pack(p->options->device, &step->region, &step->tactic, step->packed, p->error);
    for (size_t i = 0; i < 32; i++) {
        if (original[i])
            step->region.inputs[i]->constant = original[i];
        ingot_value_release(copies[i]);
    }
    for (size_t i = 0; i < step->region.input_count && i < 32 && p->options->packed; i++)
        if (step->region.packed_inputs >> i & 1)
            p->options->packed(p->options->argument, step->region.inputs[i]->constant->data,
                               ingot_value_bytes(step->region.inputs[i]->constant));
    return status;
}

static ingot_status pack(planner *p, ingot_plan_step *step)
{
    size_t bytes = step->tactic.packed_bytes;
    if (bytes == 0)
        return INGOT_OK;
    INGOT_TRY(ingot_budget_take(p->options->budget, bytes, "packed weights", p->error));
    step->packed = ingot_malloc_aligned(bytes);
    if (!step->packed) {
        ingot_budget_give(p->options->budget, bytes);
        return ingot_fail_memory(p->error, bytes, "packed weights");
    }
    p->plan->packed_bytes += bytes;
    return pack_aligned(p, step);
}

static ingot_status plan_region(planner *p, size_t number)
{
    const ingot_region *region = &p->claim.regions[number];
    const ingot_tactic *tactic = &p->tactics[number];
    const ingot_node *node = region->nodes[region->node_count - 1];
    INGOT_TRY(prepare_inputs(p, node, region->inputs, region->input_count, tactic->input_layouts));
    ingot_plan_step *step = &p->plan->steps[p->plan->step_count++];
    step->kind = INGOT_STEP_REGION;
    step->region = *region;
    step->tactic = *tactic;
    step->node = node;
    INGOT_TRY(set_operands(p, step, region->inputs, region->input_count, region->outputs, region->output_count));
    INGOT_TRY(pack(p, step));
    return deliver_outputs(p, node, region->outputs, region->output_count);
}

static ingot_status plan_control(planner *p, const ingot_node *node, ingot_plan_step *step, int depth)
{
    step->kind = INGOT_STEP_CONTROL;
    step->bodies = plan_alloc(p, node->body_count, sizeof *step->bodies);
    if (!step->bodies)
        return INGOT_OUT_OF_MEMORY;
    for (size_t i = 0; i < node->body_count; i++)
        INGOT_TRY(plan_graph(node->bodies[i].graph, p->options, p->plan->arena, depth + 1, &step->bodies[i], p->error));
    return INGOT_OK;
}

/* region_of[i]: 1 + number of the region whose last node is node i of the graph; 0: none. inside[i]: part of a region. */
typedef struct node_regions {
    size_t *last;
    bool *inside;
} node_regions;

static ingot_status map_regions(planner *p, node_regions *map)
{
    size_t limit = p->plan->graph->module->next_id;
    map->last = ingot_calloc(limit + 1, sizeof *map->last);
    map->inside = ingot_calloc(limit + 1, sizeof *map->inside);
    if (!map->last || !map->inside)
        return ingot_fail_memory(p->error, limit * sizeof *map->last, "the plan");
    for (size_t i = 0; i < p->claim.count; i++) {
        const ingot_region *r = &p->claim.regions[i];
        for (size_t n = 0; n < r->node_count; n++)
            map->inside[r->nodes[n]->id] = true;
        map->last[r->nodes[r->node_count - 1]->id] = i + 1;
    }
    return INGOT_OK;
}

static ingot_status plan_node(planner *p, const node_regions *map, ingot_node *node, int depth)
{
    if (ingot_cancelled(p->options->cancel))
        return ingot_fail(p->error, INGOT_CANCELLED, "the creation of the session was cancelled");
    if (map->last[node->id])
        return plan_region(p, map->last[node->id] - 1);
    if (map->inside[node->id])
        return INGOT_OK;
    INGOT_TRY(prepare_inputs(p, node, node->inputs, node->input_count, NULL));
    ingot_plan_step *step = &p->plan->steps[p->plan->step_count++];
    step->node = node;
    INGOT_TRY(set_operands(p, step, node->inputs, node->input_count, node->outputs, node->output_count));
    if (node->op->flags & INGOT_OP_CONTROL)
        return plan_control(p, node, step, depth);
    if (node->op->flags & INGOT_OP_VIEW) {
        step->kind = INGOT_STEP_VIEW;
        return INGOT_OK;
    }
    return ingot_node_fail(node, p->error, INGOT_INTERNAL, "backend '%s' did not claim it", p->options->backend->name);
}

/* Operands in the backend's own layouts: there are no more slots past the graph's, and no more reorders. */
static size_t count_own_layouts(const planner *p)
{
    size_t count = 0;
    for (size_t i = 0; i < p->claim.count; i++)
        for (size_t k = 0; k < INGOT_MAX_LAID_OUT; k++)
            count += (size_t)(p->tactics[i].input_layouts[k] != INGOT_LAYOUT_PLAIN) +
                     (p->tactics[i].output_layouts[k] != INGOT_LAYOUT_PLAIN);
    return count;
}

static void begin_forms(planner *p)
{
    const ingot_graph *graph = p->plan->graph;
    p->plan->slot_count = graph->value_count;
    for (size_t i = 0; i < graph->value_count; i++) {
        for (unsigned l = 0; l < INGOT_MAX_LAYOUTS; l++)
            p->forms[i][l] = INGOT_NO_SLOT;
        p->plan->slots[i].value = graph->values[i];
        p->plan->slots[i].is_home = !graph->values[i]->producer;
        if (p->plan->slots[i].is_home)
            p->forms[i][INGOT_LAYOUT_PLAIN] = i;
    }
}

/* Tactics of the regions, and room for steps and slots. */
static ingot_status choose_tactics(planner *p)
{
    ingot_plan *plan = p->plan;
    const ingot_graph *graph = plan->graph;
    p->tactics = ingot_calloc(p->claim.count + 1, sizeof *p->tactics);
    p->forms = ingot_calloc(graph->value_count + 1, sizeof *p->forms);
    if (!p->tactics || !p->forms)
        return ingot_fail_memory(p->error, p->claim.count * sizeof *p->tactics, "the plan");
    INGOT_TRY(ingot_assign_tactics(graph, p->options->backend, p->options->device, p->claim.regions, p->claim.count,
                                   p->tactics, p->error));
    size_t own = count_own_layouts(p);
    plan->steps = plan_alloc(p, graph->node_count + own, sizeof *plan->steps);
    plan->slots = plan_alloc(p, graph->value_count + own, sizeof *plan->slots);
    if (!plan->steps || !plan->slots)
        return INGOT_OUT_OF_MEMORY;
    begin_forms(p);
    return INGOT_OK;
}

static ingot_status plan_steps(planner *p, int depth)
{
    node_regions map = {0};
    ingot_status status = p->options->backend->claim(p->options->device, p->plan->graph, &p->claim, p->error);
    if (status == INGOT_OK)
        status = choose_tactics(p);
    if (status == INGOT_OK)
        status = map_regions(p, &map);
    for (ingot_node *n = p->plan->graph->first; n && status == INGOT_OK; n = n->next)
        status = plan_node(p, &map, n, depth);
    ingot_free(map.last);
    ingot_free(map.inside);
    return status;
}

/* ---- Slots ---- */

static void use_slot(ingot_plan *plan, size_t slot, size_t step)
{
    ingot_slot *root = &plan->slots[plan->slots[slot].root];
    if (root->last_step < step)
        root->last_step = step;
}

static void define_slot(ingot_plan *plan, const ingot_plan_step *step, size_t number)
{
    for (size_t o = 0; o < step->output_count; o++) {
        if (step->outputs[o] == INGOT_NO_SLOT)
            continue;
        ingot_slot *s = &plan->slots[step->outputs[o]];
        bool view = step->kind == INGOT_STEP_VIEW && o == 0;
        s->place = view ? INGOT_PLACE_VIEW : INGOT_PLACE_BUFFER;
        s->first_step = s->last_step = number;
        if (view)
            s->root = plan->slots[step->inputs[0]].root;
    }
}

static void place_slots(ingot_plan *plan)
{
    const ingot_graph *g = plan->graph;
    for (size_t i = 0; i < plan->slot_count; i++) {
        const ingot_graph_value *v = plan->slots[i].value;
        plan->slots[i].root = i;
        plan->slots[i].place = i >= g->value_count ? INGOT_PLACE_NONE
                               : v->is_input       ? INGOT_PLACE_INPUT
                               : v->constant       ? INGOT_PLACE_CONSTANT
                                                   : INGOT_PLACE_NONE;
    }
    for (size_t i = 0; i < plan->step_count; i++) {
        const ingot_plan_step *step = &plan->steps[i];
        for (size_t k = 0; k < step->input_count; k++)
            if (step->inputs[k] != INGOT_NO_SLOT)
                use_slot(plan, step->inputs[k], i);
        define_slot(plan, step, i);
    }
    for (size_t i = 0; i < g->output_count; i++)
        plan->slots[plan->slots[g->outputs[i]->id].root].escapes = true;
}

/* Puts an aligned copy in the constant's place, piece by piece: the file's pages and the copy are never both in memory. */
static ingot_status align_constant(planner *p, const ingot_value **constant)
{
    enum { PIECE = 1 << 22 };
    const ingot_value *from = *constant;
    const size_t bytes = ingot_value_bytes(from);
    ingot_value *copy = NULL;
    if (ingot_value_is_aligned(from))
        return INGOT_OK;
    if (!p->options->packed)
        return ingot_module_align(p->plan->graph->module, constant, p->error);
    INGOT_TRY(ingot_budget_take(p->options->budget, bytes, "a constant", p->error));
    INGOT_TRY(ingot_value_create_tensor(from->element, from->rank, from->dims, NULL, 0, &copy, p->error));
    for (size_t at = 0; at < bytes; at += PIECE) {
        const size_t size = bytes - at < PIECE ? bytes - at : PIECE;
        memcpy((char *)copy->data + at, (const char *)from->data + at, size);
        p->options->packed(p->options->argument, (const char *)from->data + at, size);
    }
    *constant = copy;
    return ingot_module_own(p->plan->graph->module, copy, p->error);
}

/* Marks the constants that a run reads, and aligns them. The others were for pack alone. */
static ingot_status keep_constants(planner *p)
{
    ingot_plan *plan = p->plan;
    for (size_t i = 0; i < plan->step_count; i++) {
        const ingot_plan_step *step = &plan->steps[i];
        for (size_t k = 0; k < step->input_count; k++) {
            bool packed = step->kind == INGOT_STEP_REGION && k < 32 && (step->region.packed_inputs >> k & 1);
            if (step->inputs[k] != INGOT_NO_SLOT && !packed)
                plan->slots[plan->slots[step->inputs[k]].root].is_read = true;
        }
    }
    for (size_t i = 0; i < plan->graph->output_count; i++)
        plan->slots[plan->slots[plan->graph->outputs[i]->id].root].is_read = true;
    for (size_t i = 0; i < plan->slot_count; i++)
        if (plan->slots[i].is_read && i < plan->graph->value_count && plan->graph->values[i]->constant)
            INGOT_TRY(align_constant(p, &plan->graph->values[i]->constant));
    return INGOT_OK;
}

/* Calls visit for every place that holds an escaping buffer. */
static void visit_escaping(ingot_plan *plan, void (*visit)(ingot_slot *slot, ingot_operand operand))
{
    for (size_t i = 0; i < plan->step_count; i++) {
        const ingot_plan_step *step = &plan->steps[i];
        for (size_t k = 0; k < step->input_count + step->output_count; k++) {
            bool is_output = k >= step->input_count;
            size_t index = is_output ? k - step->input_count : k;
            size_t slot = is_output ? step->outputs[index] : step->inputs[index];
            if (slot != INGOT_NO_SLOT && plan->slots[slot].escapes && plan->slots[slot].place == INGOT_PLACE_BUFFER)
                visit(&plan->slots[slot], (ingot_operand){i, index, is_output});
        }
    }
}

static void count_operand(ingot_slot *slot, ingot_operand operand)
{
    slot->operand_count++;
}

static void add_operand(ingot_slot *slot, ingot_operand operand)
{
    slot->operands[slot->operand_count++] = operand;
}

static ingot_status list_operands(planner *p)
{
    ingot_plan *plan = p->plan;
    visit_escaping(plan, count_operand);
    for (size_t i = 0; i < plan->slot_count; i++) {
        if (plan->slots[i].operand_count == 0)
            continue;
        plan->slots[i].operands = plan_alloc(p, plan->slots[i].operand_count, sizeof(ingot_operand));
        if (!plan->slots[i].operands)
            return INGOT_OUT_OF_MEMORY;
        plan->slots[i].operand_count = 0;
    }
    visit_escaping(plan, add_operand);
    return INGOT_OK;
}

static void count_operands(ingot_plan *plan)
{
    for (const ingot_node *n = plan->graph->first; n; n = n->next)
        if (n->input_count + n->output_count > plan->max_operands)
            plan->max_operands = n->input_count + n->output_count;
    for (size_t i = 0; i < plan->step_count; i++)
        if (plan->steps[i].input_count + plan->steps[i].output_count > plan->max_region_operands)
            plan->max_region_operands = plan->steps[i].input_count + plan->steps[i].output_count;
}

bool ingot_plan_slot_bytes(const ingot_plan *plan, size_t slot, ingot_element element, int rank, const int64_t *dims,
                           size_t *bytes)
{
    unsigned layout = plan->slots[slot].layout;
    return layout == INGOT_LAYOUT_PLAIN ? ingot_tensor_bytes(element, rank, dims, bytes)
                                        : plan->backend->layout_bytes(layout, element, rank, dims, bytes);
}

/* ---- Whole plans ---- */

static ingot_status fill_plan(planner *p, int depth)
{
    ingot_plan *plan = p->plan;
    if (depth > INGOT_MAX_DEPTH)
        return ingot_fail(p->error, INGOT_UNSUPPORTED, "graphs are nested deeper than %d", INGOT_MAX_DEPTH);
    plan->cache.entries = plan_alloc(p, p->options->layout_limit, sizeof *plan->cache.entries);
    if (!plan->cache.entries)
        return INGOT_OUT_OF_MEMORY;
    plan->cache.limit = p->options->layout_limit;
    INGOT_TRY(plan_steps(p, depth));
    place_slots(plan);
    count_operands(plan);
    INGOT_TRY(keep_constants(p));
    return list_operands(p);
}

static ingot_status plan_graph(const ingot_graph *graph, const ingot_plan_options *options, ingot_arena *arena,
                               int depth, ingot_plan **result, ingot_error *error)
{
    ingot_plan *plan = ingot_calloc(1, sizeof *plan);
    if (!plan)
        return ingot_fail_memory(error, sizeof *plan, "the plan");
    plan->graph = graph;
    plan->backend = options->backend;
    plan->device = options->device;
    plan->budget = options->budget;
    plan->owns_arena = !arena;
    plan->arena = arena ? arena : ingot_arena_create();
    pthread_mutex_init(&plan->cache.lock, NULL);
    planner p = {.plan = plan, .options = options, .error = error};
    p.claim.arena = plan->arena;
    ingot_status status = plan->arena ? fill_plan(&p, depth) : ingot_fail_memory(error, 0, "the plan");
    ingot_free(p.claim.regions);
    ingot_free(p.tactics);
    ingot_free(p.forms);
    *result = plan;
    if (status != INGOT_OK) {
        ingot_plan_release(plan);
        *result = NULL;
    }
    return status;
}

/* Gives the plan's steps the numbers from first on, then those of its bodies; returns the next number. */
static size_t number_steps(ingot_plan *plan, size_t first)
{
    size_t next = first + plan->step_count;
    plan->first_number = first;
    for (size_t i = 0; i < plan->step_count; i++)
        for (size_t b = 0; plan->steps[i].bodies && b < plan->steps[i].node->body_count; b++)
            next = number_steps(plan->steps[i].bodies[b], next);
    return next;
}

size_t ingot_plan_count_steps(const ingot_plan *plan)
{
    size_t count = plan->step_count;
    for (size_t i = 0; i < plan->step_count; i++)
        for (size_t b = 0; plan->steps[i].bodies && b < plan->steps[i].node->body_count; b++)
            count += ingot_plan_count_steps(plan->steps[i].bodies[b]);
    return count;
}

ingot_status ingot_plan_create(const ingot_graph *graph, const ingot_plan_options *options, ingot_plan **plan,
                               ingot_error *error)
{
    *plan = NULL;
    INGOT_TRY(plan_graph(graph, options, NULL, 0, plan, error));
    number_steps(*plan, 0);
    return INGOT_OK;
}

void ingot_plan_release(ingot_plan *plan)
{
    if (!plan)
        return;
    for (size_t i = 0; i < plan->step_count; i++) {
        ingot_plan_step *step = &plan->steps[i];
        if (step->packed)
            ingot_budget_give(plan->budget, step->tactic.packed_bytes);
        ingot_free(step->packed);
        for (size_t b = 0; step->bodies && b < step->node->body_count; b++)
            ingot_plan_release(step->bodies[b]);
    }
    for (size_t i = 0; i < plan->cache.count; i++)
        ingot_layout_release(plan->cache.entries[i]);
    pthread_mutex_destroy(&plan->cache.lock);
    if (plan->owns_arena)
        ingot_arena_release(plan->arena);
    ingot_free(plan);
}

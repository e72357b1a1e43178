/* The operator table, and what makes a node of the file ready: schema checks, upgrades, params. */
#include "ops/op.h"

#include <string.h>

#include "ops/custom.h"

#define OP(domain, name, since, op, kernel) extern const ingot_op ingot_op_##op;
#define OP_VIEW(domain, name, since, op)    extern const ingot_op ingot_op_##op;
#define OP_CONTROL(domain, name, since, op) extern const ingot_op ingot_op_##op;
#define OP_UPGRADE(domain, name, since, fn) ingot_status ingot_upgrade_##fn(ingot_node *node, ingot_error *error);
#include "ops/ops.def"
#undef OP
#undef OP_VIEW
#undef OP_CONTROL
#undef OP_UPGRADE

static const ingot_op_entry entries[] = {
#define OP(domain, name, since, op, kernel) {domain, #name, since, &ingot_op_##op, NULL},
#define OP_VIEW(domain, name, since, op)    {domain, #name, since, &ingot_op_##op, NULL},
#define OP_CONTROL(domain, name, since, op) {domain, #name, since, &ingot_op_##op, NULL},
#define OP_UPGRADE(domain, name, since, fn) {domain, #name, since, NULL, ingot_upgrade_##fn},
#include "ops/ops.def"
#undef OP
#undef OP_VIEW
#undef OP_CONTROL
#undef OP_UPGRADE
};

#define ENTRY_COUNT (sizeof entries / sizeof *entries)

const ingot_op_entry *ingot_op_entries(size_t *count)
{
    *count = ENTRY_COUNT;
    return entries;
}

static int compare_entry(const ingot_op_entry *entry, const char *domain, const char *name, int since)
{
    int order = strcmp(entry->domain, domain);
    if (order == 0)
        order = strcmp(entry->name, name);
    return order ? order : (entry->since > since) - (entry->since < since);
}

const ingot_op_entry *ingot_op_find(const char *domain, const char *name, int since_version)
{
    size_t low = 0, high = ENTRY_COUNT; /* the last entry that does not come after the key */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_entry(&entries[middle], domain, name, since_version) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    const ingot_op_entry *entry = &entries[low - 1];
    return strcmp(entry->domain, domain) == 0 && strcmp(entry->name, name) == 0 ? entry : NULL;
}

/* ---- What the schema asks for ---- */

/* An empty name takes a position, as the standard counts them; it may stand only where an input is optional. */
static ingot_status check_operands(const ingot_node *node, const ingot_schema *schema, ingot_error *error)
{
    INGOT_TRY(ingot_schema_check_counts(schema, node->operand_count, node->output_count, error));
    for (size_t i = 0; i < node->operand_count; i++) {
        const ingot_schema_value *input = ingot_schema_input(schema, i);
        if (!node->inputs[i] && input && input->option != INGOT_SCHEMA_OPTIONAL)
            return ingot_fail(error, INGOT_INVALID_MODEL, "input %zu '%s' is required, but left out", i, input->name);
    }
    return INGOT_OK;
}

static ingot_status check_attributes(const ingot_node *node, const ingot_schema *schema, ingot_error *error)
{
    for (size_t i = 0; i < node->attribute_count; i++) {
        const ingot_attribute *a = &node->attributes[i];
        const ingot_schema_attribute *s = ingot_schema_attribute_find(schema, a->name);
        if (!s)
            return ingot_fail(error, INGOT_INVALID_MODEL, "%s-%u has no attribute '%s'", schema->name,
                              schema->since_version, a->name);
        if (s->type != a->type)
            return ingot_fail(error, INGOT_INVALID_MODEL, "attribute '%s' is of type %s, but %s-%u takes %s", a->name,
                              ingot_attribute_type_name(a->type), schema->name, schema->since_version,
                              ingot_attribute_type_name((ingot_attribute_type)s->type));
        for (size_t j = 0; j < i; j++)
            if (strcmp(node->attributes[j].name, a->name) == 0)
                return ingot_fail(error, INGOT_INVALID_MODEL, "attribute '%s' is given twice", a->name);
    }
    for (size_t i = 0; i < schema->attribute_count; i++) {
        const ingot_schema_attribute *s = ingot_schema_attribute_at(schema, i);
        if (s->required && !ingot_node_attribute(node, s->name))
            return ingot_fail(error, INGOT_INVALID_MODEL, "attribute '%s', which %s-%u requires, is missing", s->name,
                              schema->name, schema->since_version);
    }
    return INGOT_OK;
}

/* ---- Params ---- */

typedef struct param_source {
    const ingot_param_field *field;
    const ingot_attribute *attribute;     /* NULL: not given */
    const ingot_schema_attribute *schema; /* NULL: this version has no such attribute; the field stays zero */
    ingot_module *module;
    ingot_error *error;
} param_source;

static ingot_status fill_word(const param_source *s, const char *data, size_t size, int *result)
{
    char listed[256] = "";
    for (int i = 0; s->field->words[i]; i++) {
        if (strlen(s->field->words[i]) == size && memcmp(s->field->words[i], data, size) == 0) {
            *result = i;
            return INGOT_OK;
        }
        size_t used = strlen(listed);
        if (used + strlen(s->field->words[i]) + 3 < sizeof listed) {
            memcpy(listed + used, i ? ", " : "", i ? 3 : 1);
            memcpy(listed + strlen(listed), s->field->words[i], strlen(s->field->words[i]) + 1);
        }
    }
    return ingot_fail(s->error, INGOT_INVALID_MODEL, "attribute '%s' is '%.*s', which is none of: %s",
                      s->field->attribute, (int)(size < 64 ? size : 64), data, listed);
}

static ingot_status fill_bool(const param_source *s, int64_t value, bool *result)
{
    if (value != 0 && value != 1)
        return ingot_fail(s->error, INGOT_INVALID_MODEL, "attribute '%s' is %lld, but must be 0 or 1",
                          s->field->attribute, (long long)value);
    *result = value == 1;
    return INGOT_OK;
}

static ingot_status fill_given(const param_source *s, void *field)
{
    const ingot_attribute *a = s->attribute;
    switch (s->field->kind) {
    case INGOT_PARAM_INT:
        *(int64_t *)field = a->i;
        return INGOT_OK;
    case INGOT_PARAM_BOOL:
        return fill_bool(s, a->i, field);
    case INGOT_PARAM_FLOAT:
        *(float *)field = a->f;
        return INGOT_OK;
    case INGOT_PARAM_WORD:
        return fill_word(s, a->s.data, a->s.size, field);
    case INGOT_PARAM_TEXT:
        *(ingot_text *)field = a->s;
        return INGOT_OK;
    case INGOT_PARAM_INTS:
        *(ingot_ints *)field = (ingot_ints){a->ints, a->count, true};
        return INGOT_OK;
    case INGOT_PARAM_FLOATS:
        *(ingot_floats *)field = (ingot_floats){a->floats, a->count, true};
        return INGOT_OK;
    case INGOT_PARAM_TEXTS:
        *(ingot_texts *)field = (ingot_texts){a->strings, a->count, true};
        return INGOT_OK;
    case INGOT_PARAM_TENSOR:
        *(const ingot_value **)field = a->tensor;
        return ingot_module_align(s->module, field, s->error);
    }
    return INGOT_INTERNAL;
}

ingot_status ingot_op_fill_param(const ingot_node *node, const ingot_param_field *field,
                                 const ingot_attribute *attribute, void *to, ingot_error *error)
{
    param_source s = {.field = field, .attribute = attribute, .module = node->graph->module, .error = error};
    return fill_given(&s, to);
}

static ingot_status fill_default_texts(const param_source *s, ingot_texts *field)
{
    const char *const *strings = ingot_schema_default_strings(s->schema);
    ingot_text *texts = ingot_arena_alloc_array(s->module->arena, s->schema->default_count + 1u, sizeof *texts);
    if (!texts)
        return ingot_fail_memory(s->error, sizeof *texts, "attributes");
    for (size_t i = 0; i < s->schema->default_count; i++)
        texts[i] = (ingot_text){strings[i], strlen(strings[i])};
    *field = (ingot_texts){texts, s->schema->default_count, false};
    return INGOT_OK;
}

static ingot_status fill_default(const param_source *s, void *field)
{
    const int64_t *ints = ingot_schema_default_ints(s->schema);
    const float *floats = ingot_schema_default_floats(s->schema);
    const char *const *strings = ingot_schema_default_strings(s->schema);
    switch (s->field->kind) {
    case INGOT_PARAM_INT:
        *(int64_t *)field = ints ? ints[0] : 0;
        return INGOT_OK;
    case INGOT_PARAM_BOOL:
        return fill_bool(s, ints ? ints[0] : 0, field);
    case INGOT_PARAM_FLOAT:
        *(float *)field = floats ? floats[0] : 0;
        return INGOT_OK;
    case INGOT_PARAM_WORD:
        return strings ? fill_word(s, strings[0], strlen(strings[0]), field) : INGOT_OK;
    case INGOT_PARAM_TEXT:
        *(ingot_text *)field = strings ? (ingot_text){strings[0], strlen(strings[0])} : (ingot_text){"", 0};
        return INGOT_OK;
    case INGOT_PARAM_INTS:
        *(ingot_ints *)field = (ingot_ints){ints, ints ? s->schema->default_count : 0, false};
        return INGOT_OK;
    case INGOT_PARAM_FLOATS:
        *(ingot_floats *)field = (ingot_floats){floats, floats ? s->schema->default_count : 0, false};
        return INGOT_OK;
    case INGOT_PARAM_TEXTS:
        return fill_default_texts(s, field);
    case INGOT_PARAM_TENSOR:
        return INGOT_OK;
    }
    return INGOT_INTERNAL;
}

static ingot_status fill_params(ingot_node *node, const ingot_op *op, const ingot_schema *schema, ingot_error *error)
{
    ingot_module *module = node->graph->module;
    char *params = ingot_arena_alloc(module->arena, op->params_size + 1);
    if (!params)
        return ingot_fail_memory(error, op->params_size, "attributes");
    for (const ingot_param_field *f = op->fields; f && f->attribute; f++) {
        param_source s = {f, ingot_node_attribute(node, f->attribute),
                          ingot_schema_attribute_find(schema, f->attribute), module, error};
        if (s.attribute)
            INGOT_TRY(fill_given(&s, params + f->offset));
        else if (s.schema)
            INGOT_TRY(fill_default(&s, params + f->offset));
        if (f->given_offset)
            *(bool *)(params + f->given_offset) = s.attribute != NULL;
    }
    node->params = params;
    return op->check ? op->check(node, params, error) : INGOT_OK;
}

/* ---- Resolving ---- */

#define MAX_UPGRADES 4 /* an old form may be rewritten into one that is old itself */

static ingot_status resolve(ingot_node *node, int depth, ingot_error *error);

/* The nodes that the upgrade put before node, then node itself in its new form. */
static ingot_status upgrade(ingot_node *node, const ingot_op_entry *entry, int depth, ingot_error *error)
{
    if (depth >= MAX_UPGRADES)
        return ingot_fail(error, INGOT_INTERNAL, "the upgrade of %s does not end", node->op_type);
    ingot_node *before = node->previous;
    INGOT_TRY(entry->upgrade(node, error));
    for (ingot_node *n = before ? before->next : node->graph->first; n && n != node; n = n->next)
        if (!n->op)
            INGOT_TRY(resolve(n, depth + 1, error));
    return resolve(node, depth + 1, error);
}

/* What a program registered for an operator that Ingot has not itself; NULL: nothing. */
static const ingot_custom_op *find_custom(const char *domain, const char *name, int64_t opset_version)
{
    const ingot_schema *schema = ingot_schema_find(domain, name, opset_version);
    if (schema && ingot_op_find(schema->domain, schema->name, schema->since_version))
        return NULL;
    return ingot_custom_find(domain, name, opset_version);
}

ingot_status ingot_op_require(const char *domain, const char *name, int64_t opset_version, ingot_error *error)
{
    const ingot_schema *schema;
    if (find_custom(domain, name, opset_version))
        return INGOT_OK;
    return ingot_schema_require(domain, name, opset_version, &schema, error);
}

const ingot_schema *ingot_op_schema(const ingot_node *node)
{
    bool custom = node->op && node->op->flags & INGOT_OP_CUSTOM;
    return custom ? NULL : ingot_schema_find(node->domain, node->op_type, node->opset);
}

bool ingot_op_runs(const char *domain, const char *name, int64_t opset_version)
{
    const ingot_schema *schema = ingot_schema_find(domain, name, opset_version);
    if (find_custom(domain, name, opset_version))
        return true;
    return schema && !(schema->flags & INGOT_SCHEMA_DEPRECATED) &&
           ingot_op_find(schema->domain, schema->name, schema->since_version);
}

static ingot_status resolve(ingot_node *node, int depth, ingot_error *error)
{
    const ingot_schema *schema;
    const ingot_custom_op *custom = find_custom(node->domain, node->op_type, node->opset);
    if (custom)
        return ingot_custom_resolve(node, custom, error);
    INGOT_TRY(ingot_schema_require(node->domain, node->op_type, node->opset, &schema, error));
    INGOT_TRY(check_operands(node, schema, error));
    INGOT_TRY(check_attributes(node, schema, error));
    const ingot_op_entry *entry = ingot_op_find(schema->domain, schema->name, schema->since_version);
    const char *origin = ingot_schema_origin(schema);
    if (!entry)
        return ingot_fail(
            error, INGOT_UNSUPPORTED,
            "unsupported operator %s-%u of domain '%s' (%s): Ingot does not run it yet (`ingot ops` lists "
            "what it runs)",
            schema->name, schema->since_version, schema->domain, origin ? origin : "the standard");
    if (entry->upgrade)
        return upgrade(node, entry, depth, error);
    INGOT_TRY(fill_params(node, entry->op, schema, error));
    node->op = entry->op;
    return INGOT_OK;
}

ingot_status ingot_op_resolve(ingot_node *node, ingot_error *error)
{
    ingot_status status = resolve(node, 0, error);
    if (status != INGOT_OK)
        ingot_node_fail_at(node, error);
    return status;
}

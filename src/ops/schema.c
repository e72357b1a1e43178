#include "ops/schema.h"

#include <string.h>

#include "ops/schema_table.h"

/* ---- Look-up ---- */

static const char *domain_name(const char *domain)
{
    return domain && domain[0] ? domain : "ai.onnx";
}

static int compare(const ingot_schema *schema, const char *domain, const char *name, int64_t version)
{
    int order = strcmp(schema->domain, domain);
    if (order == 0)
        order = strcmp(schema->name, name);
    if (order == 0)
        order = (schema->since_version > version) - (schema->since_version < version);
    return order;
}

/* The number of schemas that are not behind (domain, name, version). */
static size_t upper_bound(const char *domain, const char *name, int64_t version)
{
    size_t low = 0, high = ingot_schema_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(&ingot_schemas[middle], domain, name, version) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool same_operator(const ingot_schema *schema, const char *domain, const char *name)
{
    return strcmp(schema->domain, domain) == 0 && strcmp(schema->name, name) == 0;
}

const ingot_schema *ingot_schema_find(const char *domain, const char *name, int64_t opset_version)
{
    domain = domain_name(domain);
    size_t end = upper_bound(domain, name, opset_version);
    return end > 0 && same_operator(&ingot_schemas[end - 1], domain, name) ? &ingot_schemas[end - 1] : NULL;
}

const ingot_schema *ingot_schema_first(const char *domain, const char *name)
{
    domain = domain_name(domain);
    size_t index = upper_bound(domain, name, 0);
    return index < ingot_schema_count && same_operator(&ingot_schemas[index], domain, name) ? &ingot_schemas[index]
                                                                                            : NULL;
}

const ingot_schema *ingot_schema_next_version(const ingot_schema *schema)
{
    const ingot_schema *next = schema + 1;
    return next < ingot_schemas + ingot_schema_count && same_operator(next, schema->domain, schema->name) ? next : NULL;
}

const ingot_schema *ingot_schema_at(size_t index)
{
    return index < ingot_schema_count ? &ingot_schemas[index] : NULL;
}

static const ingot_schema_domain *find_domain(const char *domain)
{
    domain = domain_name(domain);
    for (size_t i = 0; i < ingot_schema_domain_count; i++) {
        if (strcmp(ingot_schema_domains[i].name, domain) == 0)
            return &ingot_schema_domains[i];
    }
    return NULL;
}

int ingot_schema_min_opset(const char *domain)
{
    const ingot_schema_domain *found = find_domain(domain);
    return found ? found->min_opset : 0;
}

int ingot_schema_max_opset(const char *domain)
{
    const ingot_schema_domain *found = find_domain(domain);
    return found ? found->max_opset : 0;
}

ingot_status ingot_schema_require(const char *domain, const char *name, int64_t opset_version,
                                  const ingot_schema **schema, ingot_error *error)
{
    domain = domain_name(domain);
    const ingot_schema *found = ingot_schema_find(domain, name, opset_version);
    const ingot_schema *first = ingot_schema_first(domain, name);
    const ingot_schema_domain *known = find_domain(domain);
    if (found && !(found->flags & INGOT_SCHEMA_DEPRECATED)) {
        *schema = found;
        return INGOT_OK;
    }
    if (found)
        return ingot_fail(error, INGOT_INVALID_MODEL,
                          "operator '%s' is deprecated since opset %d of domain %s, and the model imports opset %lld",
                          name, found->since_version, domain, (long long)opset_version);
    if (first)
        return ingot_fail(error, INGOT_INVALID_MODEL,
                          "operator '%s' came with opset %d of domain %s, and the model imports opset %lld", name,
                          first->since_version, domain, (long long)opset_version);
    if (known && strncmp(domain, "ai.onnx", strlen("ai.onnx")) == 0)
        return ingot_fail(error, INGOT_INVALID_MODEL, "operator '%s' does not exist in domain %s (opsets %d to %d)",
                          name, domain, known->min_opset, known->max_opset);
    return ingot_fail(error, INGOT_UNSUPPORTED,
                      "operator '%s' of domain %s is not supported: it is neither of the ONNX standard nor a function "
                      "of the model, and no library of custom operators that was registered has it",
                      name, domain);
}

/* ---- Parts ---- */

static const ingot_schema_value *value_at(const ingot_schema_value *values, size_t count, size_t index)
{
    if (index < count)
        return &values[index];
    return count > 0 && values[count - 1].option == INGOT_SCHEMA_VARIADIC ? &values[count - 1] : NULL;
}

const ingot_schema_value *ingot_schema_input(const ingot_schema *schema, size_t index)
{
    return value_at(&ingot_schema_values[schema->first_input], schema->input_count, index);
}

const ingot_schema_value *ingot_schema_output(const ingot_schema *schema, size_t index)
{
    return value_at(&ingot_schema_values[schema->first_output], schema->output_count, index);
}

const ingot_schema_constraint *ingot_schema_constraint_of(const ingot_schema *schema, const ingot_schema_value *value)
{
    return &ingot_schema_constraints[schema->first_constraint + value->constraint];
}

const ingot_schema_attribute *ingot_schema_attribute_at(const ingot_schema *schema, size_t index)
{
    return index < schema->attribute_count ? &ingot_schema_attributes[schema->first_attribute + index] : NULL;
}

const ingot_schema_attribute *ingot_schema_attribute_find(const ingot_schema *schema, const char *name)
{
    for (size_t i = 0; i < schema->attribute_count; i++) {
        const ingot_schema_attribute *attribute = &ingot_schema_attributes[schema->first_attribute + i];
        if (strcmp(attribute->name, name) == 0)
            return attribute;
    }
    return NULL;
}

static bool has_default_of(const ingot_schema_attribute *attribute, ingot_attribute_type single,
                           ingot_attribute_type list)
{
    return attribute->has_default && (attribute->type == (int)single || attribute->type == (int)list);
}

const int64_t *ingot_schema_default_ints(const ingot_schema_attribute *attribute)
{
    return has_default_of(attribute, INGOT_ATTRIBUTE_INT, INGOT_ATTRIBUTE_INTS)
               ? &ingot_schema_ints[attribute->first_default]
               : NULL;
}

const float *ingot_schema_default_floats(const ingot_schema_attribute *attribute)
{
    return has_default_of(attribute, INGOT_ATTRIBUTE_FLOAT, INGOT_ATTRIBUTE_FLOATS)
               ? &ingot_schema_floats[attribute->first_default]
               : NULL;
}

const char *const *ingot_schema_default_strings(const ingot_schema_attribute *attribute)
{
    return has_default_of(attribute, INGOT_ATTRIBUTE_STRING, INGOT_ATTRIBUTE_STRINGS)
               ? &ingot_schema_strings[attribute->first_default]
               : NULL;
}

const char *ingot_attribute_type_name(ingot_attribute_type type)
{
    static const char *const names[] = {
        [INGOT_ATTRIBUTE_UNDEFINED] = "undefined",
        [INGOT_ATTRIBUTE_FLOAT] = "float",
        [INGOT_ATTRIBUTE_INT] = "int",
        [INGOT_ATTRIBUTE_STRING] = "string",
        [INGOT_ATTRIBUTE_TENSOR] = "tensor",
        [INGOT_ATTRIBUTE_GRAPH] = "graph",
        [INGOT_ATTRIBUTE_FLOATS] = "floats",
        [INGOT_ATTRIBUTE_INTS] = "ints",
        [INGOT_ATTRIBUTE_STRINGS] = "strings",
        [INGOT_ATTRIBUTE_TENSORS] = "tensors",
        [INGOT_ATTRIBUTE_GRAPHS] = "graphs",
        [INGOT_ATTRIBUTE_SPARSE_TENSOR] = "sparse tensor",
        [INGOT_ATTRIBUTE_SPARSE_TENSORS] = "sparse tensors",
        [INGOT_ATTRIBUTE_TYPE_PROTO] = "type",
        [INGOT_ATTRIBUTE_TYPE_PROTOS] = "types",
    };
    size_t index = (size_t)type;
    return index < sizeof names / sizeof names[0] ? names[index] : "unknown";
}

const char *ingot_schema_origin(const ingot_schema *schema)
{
    if (!(schema->flags & INGOT_SCHEMA_EXTRA))
        return NULL;
    if (strcmp(schema->domain, "ai.ingot") == 0)
        return "Ingot's own, which rewrites make";
    return strcmp(schema->domain, "ai.onnx") == 0 ? "experimental in opsets 1 to 9, removed from the standard"
                                                  : "ONNX Runtime";
}

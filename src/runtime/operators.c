/* The operator table for the caller. */
#include <stdio.h>
#include <string.h>

#include "ops/op.h"

/* Element types of the first input, or of the first output where there is none. */
static void list_types(const ingot_schema *schema, char *text, size_t size)
{
    const ingot_schema_value *v = ingot_schema_input(schema, 0);
    if (!v)
        v = ingot_schema_output(schema, 0);
    text[0] = '\0';
    ingot_element_set all = 0;
    for (int form = 0; v && form < INGOT_FORM_COUNT; form++)
        all |= ingot_schema_constraint_of(schema, v)->allowed[form];
    for (int e = 1; e < INGOT_ELEMENT_COUNT; e++) {
        size_t used = strlen(text);
        if (all & INGOT_ELEMENT_BIT(e))
            snprintf(text + used, size - used, "%s%s", used ? " " : "", ingot_element_name((ingot_element)e));
    }
}

bool ingot_operator(size_t index, ingot_operator_info *info)
{
    size_t count;
    const ingot_op_entry *entries = ingot_op_entries(&count);
    for (size_t i = 0; i < count; i++) {
        /* Every version of the schema that this form serves, but the one that takes the operator away. */
        for (const ingot_schema *s = ingot_schema_first(entries[i].domain, entries[i].name); s;
             s = ingot_schema_next_version(s)) {
            if (s->flags & INGOT_SCHEMA_DEPRECATED)
                continue;
            if (ingot_op_find(s->domain, s->name, s->since_version) != &entries[i] || index-- > 0)
                continue;
            *info = (ingot_operator_info){.domain = s->domain,
                                          .name = s->name,
                                          .since_version = s->since_version,
                                          .summary = entries[i].op ? entries[i].op->summary : "",
                                          .backends = "cpu"};
            list_types(s, info->types, sizeof info->types);
            return true;
        }
    }
    return false;
}

/* Random graphs, built from the bytes with the operator table at hand so that most of them are nearly valid, and whole models:
 * they are made into sessions and run. The first byte says which. */
#include <stdio.h>
#include <string.h>

#include "fuzz.h"
#include "onnx/write.h"
#include "ops/op.h"

enum { MOST_VALUES = 64, MOST_NODES = 8, MOST_BODY_NODES = 3, MOST_INPUTS = 6, MOST_OUTPUTS = 4, DEEPEST = 2 };

typedef struct graph_value {
    unsigned number;       /* its name is v<number> */
    ingot_element element; /* INGOT_UNDEFINED: not known */
    int form;              /* ingot_type_form; -1: not known */
} graph_value;

typedef struct builder {
    const uint8_t *bytes;
    size_t size;
    ingot_writer w;
    graph_value values[MOST_VALUES]; /* in scope */
    size_t value_count;
    unsigned next_number;
    int64_t base[4]; /* sizes that most constants and inputs share */
    int opset;
    int depth;   /* of bodies */
    bool random; /* an operator whose results differ from run to run */
} builder;

static uint8_t next(builder *b)
{
    if (b->size == 0)
        return 0;
    b->size--;
    return *b->bytes++;
}

static const char *name_of(unsigned number, char *text, size_t size)
{
    snprintf(text, size, "v%u", number);
    return text;
}

static unsigned add_value(builder *b, ingot_element element, int form)
{
    graph_value value = {b->next_number++, element, form};
    if (b->value_count < MOST_VALUES)
        b->values[b->value_count++] = value;
    return value.number;
}

/* ---- Inputs and constants ---- */

static int make_shape(builder *b, int64_t *dims)
{
    uint8_t how = next(b);
    int rank = how % 5;
    for (int i = 0; i < rank; i++)
        dims[i] = b->base[4 - rank + i];
    if (how & 0x40) /* one size differs */
        dims[rank ? how % rank : 0] = (how >> 3) % 5;
    if (how & 0x80) /* a list of one dimension, as axes and shapes are */
        dims[0] = how % 6;
    return how & 0x80 ? 1 : rank;
}

static unsigned add_constant(builder *b, ingot_element element)
{
    char name[16];
    int64_t dims[INGOT_MAX_RANK];
    ingot_type_info type = {.kind = INGOT_KIND_TENSOR, .element = element, .dims = dims};
    type.rank = make_shape(b, dims);
    unsigned number = add_value(b, element, INGOT_FORM_TENSOR);
    ingot_value *value = fuzz_make_value(&type, 0, b->bytes, b->size < 16 ? b->size : 16);
    if (!value)
        return number;
    for (size_t i = 0; i < ingot_value_count(value) && i < 4; i++)
        next(b);
    size_t tensor = ingot_write_begin(&b->w, 5);
    ingot_write_value(&b->w, value, name_of(number, name, sizeof name));
    ingot_write_end(&b->w, tensor);
    ingot_value_release(value);
    return number;
}

/* A tensor type as the field of a ValueInfoProto; rank -1: no shape. */
static void write_type(builder *b, ingot_element element, int rank, const int64_t *dims, bool symbolic)
{
    size_t type = ingot_write_begin(&b->w, 2), tensor = ingot_write_begin(&b->w, 1);
    ingot_write_integer(&b->w, 1, element);
    size_t shape = rank >= 0 ? ingot_write_begin(&b->w, 2) : 0;
    for (int i = 0; i < rank; i++) {
        size_t dim = ingot_write_begin(&b->w, 1);
        if (symbolic && i == 0)
            ingot_write_text(&b->w, 2, "N");
        else
            ingot_write_integer(&b->w, 1, dims[i]);
        ingot_write_end(&b->w, dim);
    }
    if (rank >= 0)
        ingot_write_end(&b->w, shape);
    ingot_write_end(&b->w, tensor);
    ingot_write_end(&b->w, type);
}

static void add_input(builder *b)
{
    static const ingot_element elements[] = {INGOT_FLOAT, INGOT_FLOAT,   INGOT_INT64,  INGOT_BOOL,
                                             INGOT_UINT8, INGOT_FLOAT16, INGOT_STRING, INGOT_INT32};
    char name[16];
    int64_t dims[INGOT_MAX_RANK];
    uint8_t how = next(b);
    ingot_element element = elements[how % 8];
    int rank = make_shape(b, dims);
    unsigned number = add_value(b, element, INGOT_FORM_TENSOR);
    size_t info = ingot_write_begin(&b->w, 11);
    ingot_write_text(&b->w, 1, name_of(number, name, sizeof name));
    write_type(b, element, rank, dims, how & 0x40);
    ingot_write_end(&b->w, info);
}

/* ---- Operands ---- */

static bool fits(const graph_value *value, const ingot_schema_constraint *constraint, ingot_element wanted)
{
    if (value->element == INGOT_UNDEFINED || value->form < 0)
        return true;
    return (wanted == INGOT_UNDEFINED || value->element == wanted) &&
           constraint->allowed[value->form] & INGOT_ELEMENT_BIT(value->element);
}

static ingot_element pick_element(builder *b, ingot_element_set allowed)
{
    ingot_element found = INGOT_UNDEFINED;
    if (allowed & INGOT_ELEMENT_BIT(INGOT_FLOAT) && next(b) & 1)
        return INGOT_FLOAT;
    for (unsigned i = 0, start = next(b); i < INGOT_ELEMENT_COUNT && found == INGOT_UNDEFINED; i++) {
        unsigned element = (start + i) % INGOT_ELEMENT_COUNT;
        if (element != INGOT_UNDEFINED && allowed & INGOT_ELEMENT_BIT(element))
            found = (ingot_element)element;
    }
    return found;
}

/* A value in scope that fits, else a new constant. */
static graph_value pick_operand(builder *b, const ingot_schema_constraint *constraint, ingot_element wanted)
{
    uint8_t how = next(b);
    for (size_t i = 0; i < b->value_count && how & 7; i++) {
        const graph_value *value = &b->values[(b->value_count - 1 - i + (how >> 3)) % b->value_count];
        if (fits(value, constraint, wanted))
            return *value;
    }
    ingot_element_set allowed = constraint->allowed[INGOT_FORM_TENSOR];
    ingot_element element = wanted != INGOT_UNDEFINED ? wanted : pick_element(b, allowed);
    if (element == INGOT_UNDEFINED || b->value_count == MOST_VALUES || b->depth > 0)
        return b->value_count ? b->values[how % b->value_count] : (graph_value){0};
    return (graph_value){add_constant(b, element), element, INGOT_FORM_TENSOR};
}

/* ---- Attributes ---- */

static int64_t pick_integer(builder *b)
{
    static const int64_t edges[] = {INT64_MAX, INT64_MIN, INT32_MAX, INT32_MIN, 1 << 20, -100, 1000, 65536};
    uint8_t how = next(b);
    return how >= 0xf8 ? edges[how - 0xf8] : how >= 0xe0 ? (how - 0xe0) - 8 : how % 8 == 7 ? -1 : how % 8;
}

static const char *pick_word(builder *b, const ingot_schema *schema, const char *attribute)
{
    static const char *const others[] = {"", "bilinear", "NOTSET", "abc,cde->abe", "ij,jk", "no such word"};
    const ingot_op_entry *entry = ingot_op_find(schema->domain, schema->name, schema->since_version);
    for (const ingot_param_field *f = entry && entry->op ? entry->op->fields : NULL; f && f->attribute; f++) {
        size_t count = 0;
        if (strcmp(f->attribute, attribute) != 0 || f->kind != INGOT_PARAM_WORD)
            continue;
        while (f->words[count])
            count++;
        return count ? f->words[next(b) % count] : "";
    }
    return others[next(b) % (sizeof others / sizeof *others)];
}

static void write_float(builder *b, uint32_t field, float value)
{
    uint32_t bits;
    uint8_t bytes[5] = {(uint8_t)(field << 3 | 5)};
    memcpy(&bits, &value, sizeof bits);
    for (int i = 0; i < 4; i++)
        bytes[1 + i] = (uint8_t)(bits >> 8 * i);
    size_t size = b->w.size;
    ingot_write_bytes(&b->w, 15, bytes,
                      sizeof bytes); /* the writer has no floats: this one replaces a text of 5 bytes */
    if (b->w.status != INGOT_OK)
        return;
    memcpy(b->w.data + size, bytes, sizeof bytes);
    b->w.size = size + sizeof bytes;
}

typedef struct call {
    const ingot_schema *schema;
    graph_value inputs[MOST_INPUTS];
    bool given[MOST_INPUTS];
    size_t input_count, output_count;
} call;

static void write_body(builder *b, const call *c);

static void write_attribute_value(builder *b, const ingot_schema_attribute *a, const call *c)
{
    size_t inner;
    int count = next(b) % 5;
    ingot_write_integer(&b->w, 20, a->type);
    switch ((ingot_attribute_type)a->type) {
    case INGOT_ATTRIBUTE_INT:
        ingot_write_integer(&b->w, 3, pick_integer(b));
        return;
    case INGOT_ATTRIBUTE_FLOAT:
        write_float(b, 2, (float)(int8_t)next(b) / 8);
        return;
    case INGOT_ATTRIBUTE_STRING:
        ingot_write_text(&b->w, 4, pick_word(b, c->schema, a->name));
        return;
    case INGOT_ATTRIBUTE_GRAPH:
        inner = ingot_write_begin(&b->w, 6);
        write_body(b, c);
        ingot_write_end(&b->w, inner);
        return;
    case INGOT_ATTRIBUTE_TENSOR: {
        const int64_t dims[] = {count, 2};
        const ingot_type_info type = {.kind = INGOT_KIND_TENSOR,
                                      .element = (ingot_element)(next(b) % INGOT_ELEMENT_COUNT),
                                      .rank = count % 3,
                                      .dims = dims};
        ingot_value *value = fuzz_make_value(&type, 0, b->bytes, b->size < 8 ? b->size : 8);
        inner = ingot_write_begin(&b->w, 5);
        if (value)
            ingot_write_value(&b->w, value, NULL);
        ingot_write_end(&b->w, inner);
        ingot_value_release(value);
        return;
    }
    default:
        break;
    }
    for (int i = 0; i < count; i++) {
        if (a->type == INGOT_ATTRIBUTE_INTS)
            ingot_write_integer(&b->w, 8, pick_integer(b));
        else if (a->type == INGOT_ATTRIBUTE_FLOATS)
            write_float(b, 7, (float)(int8_t)next(b) / 8);
        else if (a->type == INGOT_ATTRIBUTE_STRINGS)
            ingot_write_text(&b->w, 9, pick_word(b, c->schema, a->name));
    }
}

static void write_attributes(builder *b, const call *c)
{
    for (size_t i = 0; i < c->schema->attribute_count; i++) {
        const ingot_schema_attribute *a = ingot_schema_attribute_at(c->schema, i);
        if (!a->required && next(b) % 3 != 0)
            continue;
        size_t attribute = ingot_write_begin(&b->w, 5);
        ingot_write_text(&b->w, 1, a->name);
        write_attribute_value(b, a, c);
        ingot_write_end(&b->w, attribute);
    }
}

/* ---- Nodes ---- */

/* The operator form whose name hashes nearest to a number: new operators leave most of a corpus what it was. */
static const ingot_op_entry *pick_entry(builder *b)
{
    size_t count;
    const ingot_op_entry *entries = ingot_op_entries(&count), *best = entries;
    uint16_t wanted = (uint16_t)(next(b) << 8 | next(b)), distance = UINT16_MAX;
    for (size_t i = 0; i < count; i++) {
        uint32_t hash = 2166136261u + (uint32_t)entries[i].since;
        for (const char *c = entries[i].name; *c; c++)
            hash = (hash ^ (uint8_t)*c) * 16777619u;
        uint16_t from = (uint16_t)((hash ^ hash >> 16) - wanted);
        best = from < distance ? &entries[i] : best;
        distance = from < distance ? from : distance;
    }
    return best;
}

static void pick_inputs(builder *b, call *c)
{
    ingot_element elements[256] = {INGOT_UNDEFINED}; /* by constraint: all of one constraint are of one type */
    size_t most = c->schema->max_inputs < MOST_INPUTS ? c->schema->max_inputs : MOST_INPUTS;
    size_t least = c->schema->min_inputs < most ? c->schema->min_inputs : most;
    c->input_count = least + next(b) % (most - least + 1);
    for (size_t i = 0; i < c->input_count; i++) {
        const ingot_schema_value *formal = ingot_schema_input(c->schema, i);
        c->given[i] = formal->option != INGOT_SCHEMA_OPTIONAL || next(b) % 4 != 0;
        if (!c->given[i])
            continue;
        ingot_element *element = &elements[formal->homogeneous ? formal->constraint : 255];
        c->inputs[i] = pick_operand(b, ingot_schema_constraint_of(c->schema, formal), *element);
        *element = c->inputs[i].form == INGOT_FORM_TENSOR ? c->inputs[i].element : INGOT_UNDEFINED;
    }
}

/* What an output is: as an input of the same constraint, or the only type that its constraint allows. */
static graph_value guess_output(const call *c, size_t output)
{
    const ingot_schema_value *formal = ingot_schema_output(c->schema, output);
    graph_value guess = {0, INGOT_UNDEFINED, -1};
    if (!formal)
        return guess;
    for (size_t i = 0; i < c->input_count; i++)
        if (c->given[i] && ingot_schema_input(c->schema, i)->constraint == formal->constraint)
            return c->inputs[i];
    const ingot_schema_constraint *constraint = ingot_schema_constraint_of(c->schema, formal);
    for (unsigned e = 1; e < INGOT_ELEMENT_COUNT; e++)
        if (constraint->allowed[INGOT_FORM_TENSOR] == INGOT_ELEMENT_BIT(e))
            guess = (graph_value){0, (ingot_element)e, INGOT_FORM_TENSOR};
    return guess;
}

static void add_node(builder *b)
{
    char name[16];
    const ingot_op_entry *entry = pick_entry(b);
    call c = {.schema = ingot_schema_find(entry->domain, entry->name,
                                          strcmp(entry->domain, "ai.onnx") == 0 ? b->opset : 100)};
    if (!c.schema || (entry->op && entry->op->flags & INGOT_OP_CONTROL && b->depth >= DEEPEST))
        return;
    b->random = b->random || (entry->op && entry->op->flags & INGOT_OP_RANDOM);
    pick_inputs(b, &c);
    size_t most = c.schema->max_outputs < MOST_OUTPUTS ? c.schema->max_outputs : MOST_OUTPUTS;
    size_t least = c.schema->min_outputs < most ? c.schema->min_outputs : most;
    c.output_count = least + next(b) % (most - least + 1);
    size_t node = ingot_write_begin(&b->w, 1);
    for (size_t i = 0; i < c.input_count; i++)
        ingot_write_text(&b->w, 1, c.given[i] ? name_of(c.inputs[i].number, name, sizeof name) : "");
    ingot_write_text(&b->w, 4, c.schema->name);
    ingot_write_text(&b->w, 7, strcmp(c.schema->domain, "ai.onnx") == 0 ? "" : c.schema->domain);
    write_attributes(b, &c);
    for (size_t i = 0; i < c.output_count; i++) {
        graph_value guess = guess_output(&c, i);
        ingot_write_text(&b->w, 2, name_of(add_value(b, guess.element, guess.form), name, sizeof name));
    }
    ingot_write_end(&b->w, node);
}

static void write_outputs(builder *b, size_t count)
{
    char name[16];
    for (size_t i = 0; i < count && b->value_count; i++) {
        uint8_t how = next(b);
        size_t index = how & 0x80 ? how % b->value_count : b->value_count - 1 - i % b->value_count;
        size_t info = ingot_write_begin(&b->w, 12);
        ingot_write_text(&b->w, 1, name_of(b->values[index].number, name, sizeof name));
        ingot_write_end(&b->w, info);
    }
}

/* ---- Bodies of If, Loop and Scan ---- */

static void write_body_input(builder *b, const graph_value *outer, ingot_element element)
{
    char name[16];
    size_t info = ingot_write_begin(&b->w, 11);
    unsigned number = add_value(b, element, outer->form);
    ingot_write_text(&b->w, 1, name_of(number, name, sizeof name));
    write_type(b, element == INGOT_UNDEFINED ? INGOT_FLOAT : element, -1, NULL, false);
    ingot_write_end(&b->w, info);
}

static void write_body(builder *b, const call *c)
{
    size_t outer_count = b->value_count;
    bool is_loop = strcmp(c->schema->name, "Loop") == 0, is_if = strcmp(c->schema->name, "If") == 0;
    ingot_write_text(&b->w, 2, "body");
    for (size_t i = 0; i < c->input_count && !is_if; i++)
        write_body_input(b, &c->inputs[i],
                         is_loop && i == 0   ? INGOT_INT64
                         : is_loop && i == 1 ? INGOT_BOOL
                                             : c->inputs[i].element);
    b->depth++;
    for (int i = next(b) % (MOST_BODY_NODES + 1); i > 0; i--)
        add_node(b);
    b->depth--;
    if (is_loop && outer_count + 1 < b->value_count) { /* the condition goes on as it came */
        char name[16];
        size_t info = ingot_write_begin(&b->w, 12);
        ingot_write_text(&b->w, 1, name_of(b->values[outer_count + 1].number, name, sizeof name));
        ingot_write_end(&b->w, info);
    }
    write_outputs(b, c->output_count);
    b->value_count = outer_count;
}

/* ---- The target ---- */

static void write_opset(builder *b, const char *domain, int64_t version)
{
    size_t opset = ingot_write_begin(&b->w, 8);
    ingot_write_text(&b->w, 1, domain);
    ingot_write_integer(&b->w, 2, version);
    ingot_write_end(&b->w, opset);
}

static void write_model(builder *b)
{
    int newest = ingot_schema_max_opset("ai.onnx");
    uint8_t how = next(b);
    b->opset = how & 1 ? newest : 7 + how % (newest - 6);
    for (int i = 0; i < 4; i++)
        b->base[i] = 1 + next(b) % 4;
    ingot_write_integer(&b->w, 1, 10);
    write_opset(b, "", b->opset);
    write_opset(b, "ai.onnx.ml", ingot_schema_max_opset("ai.onnx.ml"));
    write_opset(b, "com.microsoft", 1);
    size_t graph = ingot_write_begin(&b->w, 7);
    ingot_write_text(&b->w, 2, "graph");
    for (int i = 1 + how % 3; i > 0; i--)
        add_input(b);
    for (int i = 1 + next(b) % MOST_NODES; i > 0; i--)
        add_node(b);
    write_outputs(b, 3);
    ingot_write_end(&b->w, graph);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    builder b = {.bytes = data, .size = size};
    uint8_t how = next(&b);
    ingot_opt_level level = (ingot_opt_level)(how / 2 % 3);
    if (how & 1) {
        fuzz_whole(b.bytes, b.size, level, false, b.bytes, b.size < 64 ? b.size : 64);
        return 0;
    }
    write_model(&b);
    if (b.w.status == INGOT_OK)
        fuzz_whole(b.w.data, b.w.size, level, !b.random, b.bytes, b.size);
    ingot_free(b.w.data);
    return 0;
}

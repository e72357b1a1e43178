#include "value.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "element.h"
#include "utf8.h"

/* Text that grows in a buffer of fixed size; what does not fit is cut. */
typedef struct text_writer {
    char *text;
    size_t size, used;
} text_writer;

static void put(text_writer *writer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int wanted = vsnprintf(writer->text + writer->used, writer->size - writer->used, format, arguments);
    va_end(arguments);
    if (wanted > 0)
        writer->used += (size_t)wanted < writer->size - writer->used ? (size_t)wanted : writer->size - writer->used - 1;
}

static void put_shape(text_writer *writer, int rank, const int64_t *dims, const char *const *symbols)
{
    put(writer, "[");
    for (int i = 0; i < rank; i++) {
        put(writer, i ? "," : "");
        if (dims[i] >= 0)
            put(writer, "%" PRId64, dims[i]);
        else
            put(writer, "%s", symbols && symbols[i] ? symbols[i] : "?");
    }
    put(writer, "]");
}

static void put_type(text_writer *writer, const ingot_type_info *type)
{
    static const char *const prefixes[] = {
        [INGOT_KIND_SEQUENCE] = "sequence of ", [INGOT_KIND_OPTIONAL] = "optional ", [INGOT_KIND_SPARSE] = "sparse "};
    for (; type; type = type->item) {
        switch (type->kind) {
        case INGOT_KIND_NONE:
            put(writer, "unknown");
            return;
        case INGOT_KIND_SPARSE:
        case INGOT_KIND_TENSOR:
            put(writer, "%s%s", type->kind == INGOT_KIND_SPARSE ? prefixes[INGOT_KIND_SPARSE] : "",
                ingot_element_name(type->element));
            if (type->rank >= 0)
                put_shape(writer, type->rank, type->dims, type->symbols);
            return;
        case INGOT_KIND_MAP:
            put(writer, "map of %s to ", ingot_element_name(type->element));
            break;
        case INGOT_KIND_SEQUENCE:
        case INGOT_KIND_OPTIONAL:
            put(writer, "%s", prefixes[type->kind]);
            break;
        }
    }
    put(writer, "unknown");
}

const char *cli_type_text(const ingot_type_info *type, char *text, size_t size)
{
    text_writer writer = {text, size, 0};
    text[0] = '\0';
    put_type(&writer, type);
    return text;
}

const char *cli_shape_text(int rank, const int64_t *dims, const char *const *symbols, char *text, size_t size)
{
    text_writer writer = {text, size, 0};
    text[0] = '\0';
    put_shape(&writer, rank, dims, symbols);
    return text;
}

const char *cli_value_text(const ingot_value *value, char *text, size_t size)
{
    text_writer writer = {text, size, 0};
    text[0] = '\0';
    switch (ingot_value_kind(value)) {
    case INGOT_KIND_TENSOR:
        put(&writer, "%s", ingot_element_name(ingot_value_element(value)));
        put_shape(&writer, ingot_value_rank(value), ingot_value_dims(value), NULL);
        break;
    case INGOT_KIND_SEQUENCE:
        put(&writer, "sequence of %zu", ingot_value_item_count(value));
        break;
    case INGOT_KIND_MAP:
        put(&writer, "map of %zu", ingot_value_count(ingot_value_map_keys(value)));
        break;
    case INGOT_KIND_OPTIONAL:
        put(&writer, ingot_value_optional_item(value) ? "optional with a value" : "empty optional");
        break;
    case INGOT_KIND_SPARSE:
        put(&writer, "sparse tensor");
        break;
    case INGOT_KIND_NONE:
        put(&writer, "nothing");
        break;
    }
    return text;
}

json_t *cli_shape_json(const ingot_type_info *type)
{
    if (type->rank < 0)
        return NULL;
    json_t *shape = json_array();
    for (int i = 0; i < type->rank; i++) {
        const char *symbol = type->symbols ? type->symbols[i] : NULL;
        json_array_append_new(shape, type->dims[i] >= 0 ? json_integer(type->dims[i])
                                     : symbol           ? cli_json_text(symbol)
                                                        : json_null());
    }
    return shape;
}

bool cli_element_is_real(ingot_element element)
{
    return cli_element_trait(element)->kind == CLI_ELEMENT_REAL ||
           cli_element_trait(element)->kind == CLI_ELEMENT_SMALL;
}

bool cli_element_is_integer(ingot_element element)
{
    cli_element_kind kind = cli_element_trait(element)->kind;
    return kind == CLI_ELEMENT_SIGNED || kind == CLI_ELEMENT_UNSIGNED;
}

size_t cli_value_numbers(const ingot_value *value)
{
    return ingot_value_count(value) * cli_element_trait(ingot_value_element(value))->parts;
}

double cli_value_number(const ingot_value *value, size_t index)
{
    return cli_element_number(ingot_value_element(value), ingot_value_data(value), index);
}

/* A string in quotes; what could steer a terminal, and what is no UTF-8, as \xNN. */
static void put_string(text_writer *writer, const char *string, size_t length)
{
    enum { ROOM = 8 }; /* for one character more, the quote and the NUL */
    put(writer, "\"");
    for (size_t i = 0, step; i < length && writer->used + ROOM < writer->size; i += step) {
        uint32_t character;
        step = cli_utf8_decode(string + i, length - i, &character);
        if (step == 0 || character < 0x20 || character == 0x7F) {
            step = 1;
            put(writer, "\\x%02x", (unsigned char)string[i]);
        } else {
            put(writer, "%.*s", (int)step, string + i);
        }
    }
    put(writer, "\"");
}

const char *cli_value_element_text(const ingot_value *value, size_t index, char *text, size_t size)
{
    text_writer writer = {text, size, 0};
    ingot_element element = ingot_value_element(value);
    const cli_element_traits *trait = cli_element_trait(element);
    const void *data = ingot_value_data(value);
    text[0] = '\0';
    if (element == INGOT_STRING) {
        size_t length;
        const char *string = ingot_value_string(value, index, &length);
        put_string(&writer, string, length);
    } else if (trait->kind == CLI_ELEMENT_SIGNED) {
        put(&writer, "%" PRId64, cli_element_signed(element, data, index));
    } else if (trait->kind == CLI_ELEMENT_UNSIGNED) {
        put(&writer, "%" PRIu64, cli_element_unsigned(element, data, index));
    } else if (element == INGOT_BOOL) {
        put(&writer, cli_value_number(value, index) != 0 ? "true" : "false");
    } else if (trait->parts == 2) {
        put(&writer, "%.6g%+.6gi", cli_value_number(value, 2 * index), cli_value_number(value, 2 * index + 1));
    } else {
        put(&writer, "%.6g", cli_value_number(value, index));
    }
    return text;
}

json_t *cli_value_element_json(const ingot_value *value, size_t index)
{
    ingot_element element = ingot_value_element(value);
    const cli_element_traits *trait = cli_element_trait(element);
    const void *data = ingot_value_data(value);
    if (element == INGOT_STRING) {
        size_t length;
        const char *string = ingot_value_string(value, index, &length);
        return json_stringn(string, length);
    }
    if (element == INGOT_BOOL)
        return json_boolean(cli_value_number(value, index) != 0);
    if (trait->kind == CLI_ELEMENT_SIGNED)
        return json_integer(cli_element_signed(element, data, index));
    if (trait->kind == CLI_ELEMENT_UNSIGNED && cli_element_unsigned(element, data, index) <= INT64_MAX)
        return json_integer((json_int_t)cli_element_unsigned(element, data, index));
    if (trait->parts == 2)
        return json_pack("[o, o]", cli_json_number(cli_value_number(value, 2 * index)),
                         cli_json_number(cli_value_number(value, 2 * index + 1)));
    return cli_json_number(cli_value_number(value, index));
}

/* Appends item to array; releases both and returns NULL where item could not be made. */
static json_t *append(json_t *array, json_t *item)
{
    if (json_array_append_new(array, item) == 0)
        return array;
    json_decref(array);
    return NULL;
}

/* Key index of a map as a JSON key, to be freed; NULL where memory ends. */
static char *map_key(const ingot_value *keys, size_t index)
{
    char number[32];
    size_t length;
    if (ingot_value_element(keys) != INGOT_STRING)
        return strdup(cli_value_element_text(keys, index, number, sizeof number));
    const char *string = ingot_value_string(keys, index, &length);
    char *key = calloc(length + 1, 1);
    if (key && length)
        memcpy(key, string, length);
    return key;
}

static json_t *map_json(const ingot_value *map)
{
    const ingot_value *keys = ingot_value_map_keys(map), *values = ingot_value_map_values(map);
    json_t *object = json_object();
    for (size_t i = 0; object && i < ingot_value_count(keys); i++) {
        char *key = map_key(keys, i);
        if (json_object_set_new(object, key, cli_value_element_json(values, i)) != 0) {
            json_decref(object);
            object = NULL;
        }
        free(key);
    }
    return object;
}

json_t *cli_value_json(const ingot_value *value)
{
    json_t *array;
    switch (ingot_value_kind(value)) {
    case INGOT_KIND_MAP:
        return map_json(value);
    case INGOT_KIND_OPTIONAL:
        return ingot_value_optional_item(value) ? cli_value_json(ingot_value_optional_item(value)) : json_null();
    case INGOT_KIND_SEQUENCE:
        array = json_array();
        for (size_t i = 0; array && i < ingot_value_item_count(value); i++)
            array = append(array, cli_value_json(ingot_value_item(value, i)));
        return array;
    case INGOT_KIND_TENSOR:
        array = json_array();
        for (size_t i = 0; array && i < ingot_value_count(value); i++)
            array = append(array, cli_value_element_json(value, i));
        return array;
    case INGOT_KIND_SPARSE:
    case INGOT_KIND_NONE:
        break;
    }
    return json_null();
}

json_t *cli_json_text(const char *text)
{
    json_t *string = json_string(text);
    if (string)
        return string;
    char *ascii = strdup(text);
    for (char *byte = ascii; byte && *byte; byte++)
        if ((unsigned char)*byte >= 0x80)
            *byte = '?';
    string = json_string(ascii);
    free(ascii);
    return string;
}

json_t *cli_json_number(double number)
{
    json_t *json = json_real(number);
    return json ? json : json_null();
}

bool cli_json_print(const char *verb, json_t *document)
{
    if (!document) {
        fprintf(stderr, "ingot %s: no memory for the JSON output\n", verb);
        return false;
    }
    json_dumpf(document, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(10));
    putchar('\n');
    json_decref(document);
    return true;
}

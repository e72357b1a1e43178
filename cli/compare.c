#include "compare.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "element.h"
#include "report.h"
#include "value.h"

/* Counts a difference and keeps its text where it is the largest so far. */
CLI_PRINTF(3, 4)
static void add(cli_difference *difference, double size, const char *format, ...)
{
    va_list arguments;
    if (difference->count++ > 0 && !(size > difference->largest))
        return;
    difference->largest = size;
    va_start(arguments, format);
    vsnprintf(difference->text, sizeof difference->text, format, arguments);
    va_end(arguments);
}

/* The difference of two numbers where it is larger than what is allowed, else -1. */
static double excess(double got, double wanted, double allowed)
{
    if (got == wanted || (isnan(got) && isnan(wanted)))
        return -1;
    if (!isfinite(got) || !isfinite(wanted))
        return (double)INFINITY;
    double difference = fabs(got - wanted);
    return difference <= allowed ? -1 : difference;
}

/* "[0,3,2]" for element index of a tensor. */
static const char *place_text(const ingot_value *tensor, size_t index, char *text, size_t size)
{
    int64_t place[INGOT_MAX_RANK];
    int rank = ingot_value_rank(tensor);
    for (int i = rank - 1; i >= 0; i--) {
        place[i] = (int64_t)(index % (size_t)ingot_value_dims(tensor)[i]);
        index /= (size_t)ingot_value_dims(tensor)[i];
    }
    return cli_shape_text(rank, place, NULL, text, size);
}

static void add_element(const ingot_value *got, const ingot_value *wanted, size_t index, double size,
                        cli_difference *difference)
{
    char place[192], a[96], b[96];
    add(difference, size, "at %s: %s, not %s", place_text(wanted, index, place, sizeof place),
        cli_value_element_text(got, index, a, sizeof a), cli_value_element_text(wanted, index, b, sizeof b));
}

static void compare_strings(const ingot_value *got, const ingot_value *wanted, cli_difference *difference)
{
    for (size_t i = 0; i < ingot_value_count(wanted); i++) {
        size_t a_length, b_length;
        const char *a = ingot_value_string(got, i, &a_length), *b = ingot_value_string(wanted, i, &b_length);
        if (a_length != b_length || memcmp(a, b, a_length) != 0)
            add_element(got, wanted, i, (double)INFINITY, difference);
    }
}

/* Two steps of bfloat16, whose results carry eight bits: what the runner of ONNX's own cases allows at least. */
static const double bfloat16_relative = 1.0 / 64;

static void compare_numbers(const ingot_value *got, const ingot_value *wanted, cli_tolerance tolerance,
                            cli_difference *difference)
{
    ingot_element element = ingot_value_element(wanted);
    bool real = cli_element_is_real(element), wide = ingot_element_bits(element) == 64 && !real;
    size_t count = cli_value_numbers(wanted), parts = cli_element_trait(element)->parts;
    double relative = tolerance.relative;
    if (element == INGOT_BFLOAT16 && relative < bfloat16_relative)
        relative = bfloat16_relative;
    for (size_t i = 0; i < count; i++) {
        double a = cli_value_number(got, i), b = cli_value_number(wanted, i);
        double size = excess(a, b, tolerance.absolute + (real ? relative * fabs(b) : 0));
        /* whole numbers of 64 bits may differ where their doubles do not */
        if (size < 0 && wide && a == b && tolerance.absolute < 1 &&
            cli_element_unsigned(element, ingot_value_data(got), i) !=
                cli_element_unsigned(element, ingot_value_data(wanted), i))
            size = 1;
        if (size >= 0)
            add_element(got, wanted, i / parts, size, difference);
    }
}

static bool is_same_shape(const ingot_value *a, const ingot_value *b)
{
    if (ingot_value_element(a) != ingot_value_element(b) || ingot_value_rank(a) != ingot_value_rank(b))
        return false;
    for (int i = 0; i < ingot_value_rank(a); i++)
        if (ingot_value_dims(a)[i] != ingot_value_dims(b)[i])
            return false;
    return true;
}

static void compare_items(const ingot_value *got, const ingot_value *wanted, cli_tolerance tolerance,
                          cli_difference *difference)
{
    for (size_t i = 0; i < ingot_value_item_count(wanted); i++) {
        cli_difference inner = {0, 0, ""};
        cli_compare_values(ingot_value_item(got, i), ingot_value_item(wanted, i), tolerance, &inner);
        if (inner.count)
            add(difference, inner.largest, "in item %zu, %.400s", i, inner.text);
    }
}

void cli_compare_values(const ingot_value *got, const ingot_value *wanted, cli_tolerance tolerance,
                        cli_difference *difference)
{
    char a[CLI_TYPE_TEXT], b[CLI_TYPE_TEXT];
    ingot_kind kind = ingot_value_kind(wanted);
    bool same = kind == ingot_value_kind(got);
    if (same && kind == INGOT_KIND_TENSOR)
        same = is_same_shape(got, wanted);
    if (same && kind == INGOT_KIND_SEQUENCE)
        same = ingot_value_item_count(got) == ingot_value_item_count(wanted);
    if (same && kind == INGOT_KIND_OPTIONAL)
        same = !ingot_value_optional_item(got) == !ingot_value_optional_item(wanted);
    if (!same) {
        add(difference, (double)INFINITY, "it is %.200s, not %.200s", cli_value_text(got, a, sizeof a),
            cli_value_text(wanted, b, sizeof b));
        return;
    }
    switch (kind) {
    case INGOT_KIND_TENSOR:
        if (ingot_value_element(wanted) == INGOT_STRING)
            compare_strings(got, wanted, difference);
        else
            compare_numbers(got, wanted, tolerance, difference);
        return;
    case INGOT_KIND_SEQUENCE:
        compare_items(got, wanted, tolerance, difference);
        return;
    case INGOT_KIND_MAP:
        cli_compare_values(ingot_value_map_keys(got), ingot_value_map_keys(wanted), tolerance, difference);
        cli_compare_values(ingot_value_map_values(got), ingot_value_map_values(wanted), tolerance, difference);
        return;
    case INGOT_KIND_OPTIONAL:
        if (ingot_value_optional_item(wanted))
            cli_compare_values(ingot_value_optional_item(got), ingot_value_optional_item(wanted), tolerance,
                               difference);
        return;
    case INGOT_KIND_SPARSE:
    case INGOT_KIND_NONE:
        add(difference, (double)INFINITY, "%s cannot be compared", cli_value_text(wanted, b, sizeof b));
        return;
    }
}

/* Compares what stands under the same index or key of both, and says where it is. */
static void compare_members(const json_t *got, const json_t *wanted, const char *place, cli_tolerance tolerance,
                            cli_difference *difference)
{
    cli_difference inner = {0, 0, ""};
    if (!got)
        add(&inner, (double)INFINITY, "it is missing");
    else
        cli_compare_json(got, wanted, tolerance, &inner);
    if (inner.count)
        add(difference, inner.largest, "%.100s%s%.380s", place, inner.text[0] == '[' ? "" : ": ", inner.text);
}

static void compare_objects(const json_t *got, const json_t *wanted, cli_tolerance tolerance,
                            cli_difference *difference)
{
    const char *key;
    json_t *value;
    /* jansson's iteration takes no constant object, but changes nothing */
    for (void *at = json_object_iter((json_t *)(uintptr_t)wanted); at;
         at = json_object_iter_next((json_t *)(uintptr_t)wanted, at)) {
        char place[128];
        key = json_object_iter_key(at);
        value = json_object_iter_value(at);
        snprintf(place, sizeof place, "[\"%.100s\"]", key);
        compare_members(json_object_get(got, key), value, place, tolerance, difference);
    }
}

void cli_compare_json(const json_t *got, const json_t *wanted, cli_tolerance tolerance, cli_difference *difference)
{
    if (json_is_number(got) && json_is_number(wanted)) {
        double a = json_number_value(got), b = json_number_value(wanted);
        double size = excess(a, b, tolerance.absolute + tolerance.relative * fabs(b));
        if (size >= 0)
            add(difference, size, "%.9g, not %.9g", a, b);
        return;
    }
    bool arrays = json_is_array(got) && json_is_array(wanted);
    bool objects = json_is_object(got) && json_is_object(wanted);
    if ((arrays && json_array_size(got) != json_array_size(wanted)) ||
        (objects && json_object_size(got) != json_object_size(wanted))) {
        size_t a = arrays ? json_array_size(got) : json_object_size(got);
        size_t b = arrays ? json_array_size(wanted) : json_object_size(wanted);
        add(difference, (double)INFINITY, "%zu entries, not %zu", a, b);
    } else if (arrays) {
        for (size_t i = 0; i < json_array_size(wanted); i++) {
            char place[32];
            snprintf(place, sizeof place, "[%zu]", i);
            compare_members(json_array_get(got, i), json_array_get(wanted, i), place, tolerance, difference);
        }
    } else if (objects) {
        compare_objects(got, wanted, tolerance, difference);
    } else if (!json_equal(got, wanted)) {
        add(difference, (double)INFINITY, "it is another value");
    }
}

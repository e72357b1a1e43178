/* Numbers as text and back. See ref_cast.h. */
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "cpu/ref/ref_cast.h"
#include "cpu/ref/ref_iterate.h"

/* Longer text is no number that anybody writes. */
#define MAX_TEXT 500

/* ---- Numbers to text ---- */

/* Significant digits that tell apart any two numbers of a type. */
static int max_digits(ingot_element element)
{
    return element == INGOT_DOUBLE ? 17 : element == INGOT_FLOAT ? 9 : 5;
}

/* value as the type has it after a trip through text. */
static double rounded(ingot_element element, double value)
{
    uint64_t cell = 0;
    ingot_store_double(element, &cell, 0, value);
    return ingot_load_double(element, &cell, 0);
}

/* The fewest decimal digits that read back as value, which is finite and positive: digits[0].digits[1]... times 10^exponent. */
static int shortest_digits(ingot_element element, double value, char *digits, int *exponent)
{
    char text[40];
    for (int count = 1;; count++) {
        snprintf(text, sizeof text, "%.*e", count - 1, value);
        if (count < max_digits(element) && rounded(element, strtod(text, NULL)) != value)
            continue;
        char *mark = strchr(text, 'e');
        int length = 0;
        for (const char *t = text; t < mark; t++)
            if (*t >= '0' && *t <= '9')
                digits[length++] = *t;
        *exponent = atoi(mark + 1);
        return length;
    }
}

static size_t append(char *text, size_t at, const char *from, int count)
{
    memcpy(text + at, from, (size_t)count);
    return at + (size_t)count;
}

/* Plain notation for 1e-4 <= |value| < 1e16, else scientific: as numpy and Python write numbers. */
static size_t write_real(ingot_element element, double value, char *text)
{
    char digits[40] = "0";
    int exponent;
    size_t at = 0;
    if (isnan(value))
        return append(text, 0, "nan", 3);
    if (signbit(value))
        text[at++] = '-';
    if (isinf(value))
        return append(text, at, "inf", 3);
    if (value == 0)
        return append(text, at, "0.0", 3);
    int count = shortest_digits(element, fabs(value), digits, &exponent);
    if (fabs(value) < 1e-4 || fabs(value) >= 1e16) {
        text[at++] = digits[0];
        if (count > 1) {
            text[at++] = '.';
            at = append(text, at, digits + 1, count - 1);
        }
        return at + (size_t)snprintf(text + at, 8, "e%+03d", exponent);
    }
    for (int i = exponent < 0 ? exponent : 0; i < count || i <= exponent + 1; i++) {
        if (i == exponent + 1)
            text[at++] = '.';
        text[at++] = i < 0 || i >= count ? '0' : digits[i];
    }
    return at;
}

static size_t write_number(const ingot_value *a, size_t index, char *text, size_t size)
{
    if (a->element == INGOT_BOOL)
        return (size_t)snprintf(text, size, "%s", ((const uint8_t *)a->data)[index] ? "True" : "False");
    if (a->element == INGOT_UINT64)
        return (size_t)snprintf(text, size, "%" PRIu64, ((const uint64_t *)a->data)[index]);
    if (ingot_element_is_integer(a->element))
        return (size_t)snprintf(text, size, "%" PRId64, ingot_load_i64(a->element, a->data, index));
    return write_real(a->element, ingot_load_double(a->element, a->data, index), text);
}

ingot_status ingot_cast_to_text(const ingot_kernel_call *call)
{
    const ingot_value *a = call->inputs[0];
    ingot_value *z = call->outputs[0];
    size_t count = ingot_dims_product(a->dims, 0, a->rank);
    char text[80];
    for (size_t i = 0; i < count; i++) {
        const char *from = text;
        size_t length;
        if (a->element == INGOT_STRING) {
            const ingot_string *string = (const ingot_string *)a->data + i;
            from = string->length > 0 ? a->strings + string->offset : "";
            length = string->length;
        } else {
            length = write_number(a, i, text, sizeof text);
        }
        INGOT_TRY(ingot_value_set_string(z, i, from, length, call->error));
    }
    return INGOT_OK;
}

/* ---- Text to numbers ---- */

static ingot_status refuse(const ingot_kernel_call *call, size_t index, const char *text, size_t length)
{
    return ingot_kernel_fail(call, "element %zu of the input is the text '%.*s', which is no number that %s can hold",
                             index, (int)(length < 80 ? length : 80), text,
                             ingot_element_name(call->outputs[0]->element));
}

/* The text without blanks around it. */
static const char *trimmed(const ingot_value *a, size_t index, size_t *length)
{
    const ingot_string *string = (const ingot_string *)a->data + index;
    const char *text = string->length > 0 ? a->strings + string->offset : "";
    size_t size = string->length;
    while (size > 0 && strchr(" \t\r\n", *text) && *text)
        text++, size--;
    while (size > 0 && strchr(" \t\r\n", text[size - 1]) && text[size - 1])
        size--;
    *length = size;
    return text;
}

static bool same_word(const char *text, size_t length, const char *word)
{
    size_t i = 0;
    for (; i < length && word[i]; i++) {
        char lower = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] - 'A' + 'a') : text[i];
        if (lower != word[i])
            return false;
    }
    return i == length && !word[i];
}

static bool read_word(const char *text, size_t length, double *value)
{
    static const struct {
        const char *word;
        double value;
    } words[] = {
        {"inf", INFINITY},
        {"+inf", INFINITY},
        {"-inf", -INFINITY},
        {"infinity", INFINITY},
        {"+infinity", INFINITY},
        {"-infinity", -INFINITY},
        {"nan", NAN},
        {"+nan", NAN},
        {"-nan", NAN},
        {"true", 1},
        {"false", 0},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (same_word(text, length, words[i].word)) {
            *value = words[i].value;
            return true;
        }
    return false;
}

/* Digits, one point, an exponent: nothing else that strtod would take. */
static bool is_decimal(const char *text, size_t length)
{
    size_t i = length > 0 && (text[0] == '+' || text[0] == '-'), digits = 0;
    for (; i < length && text[i] >= '0' && text[i] <= '9'; i++)
        digits++;
    if (i < length && text[i] == '.')
        for (i++; i < length && text[i] >= '0' && text[i] <= '9'; i++)
            digits++;
    if (digits == 0)
        return false;
    if (i < length && (text[i] == 'e' || text[i] == 'E')) {
        i++;
        i += i < length && (text[i] == '+' || text[i] == '-');
        size_t start = i;
        while (i < length && text[i] >= '0' && text[i] <= '9')
            i++;
        if (i == start)
            return false;
    }
    return i == length;
}

/* strtod wants the point of the process's locale. */
static double read_decimal(const char *text, size_t length)
{
    char copy[MAX_TEXT + 16];
    const char *point = localeconv()->decimal_point;
    size_t point_length = strlen(point), at = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '.' && point_length < 8) {
            memcpy(copy + at, point, point_length);
            at += point_length;
        } else {
            copy[at++] = text[i];
        }
    }
    copy[at] = '\0';
    return strtod(copy, NULL);
}

ingot_status ingot_cast_text_to_double(const ingot_kernel_call *call, size_t index, double *value)
{
    size_t length;
    const char *text = trimmed(call->inputs[0], index, &length);
    if (read_word(text, length, value))
        return INGOT_OK;
    if (length > MAX_TEXT || !is_decimal(text, length))
        return refuse(call, index, text, length);
    *value = read_decimal(text, length);
    return INGOT_OK;
}

/* Whether an integer type has the number of that sign and magnitude. */
static bool holds(ingot_element element, bool negative, uint64_t magnitude)
{
    size_t bits = ingot_element_bits(element);
    if (ingot_element_is_signed(element))
        return magnitude < ((uint64_t)1 << (bits - 1)) + negative;
    return (!negative || magnitude == 0) && (bits == 64 || magnitude < (uint64_t)1 << bits);
}

/* Digits alone; false where there is anything else, or more than fits. */
static bool read_integer(const char *text, size_t length, uint64_t *magnitude)
{
    *magnitude = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned digit = (unsigned char)text[i] - (unsigned)'0';
        if (digit > 9 || *magnitude > (UINT64_MAX - digit) / 10)
            return false;
        *magnitude = *magnitude * 10 + digit;
    }
    return length > 0;
}

ingot_status ingot_cast_text_to_i64(const ingot_kernel_call *call, size_t index, int64_t *value)
{
    size_t length;
    const char *text = trimmed(call->inputs[0], index, &length);
    bool negative = length > 0 && text[0] == '-';
    size_t sign = length > 0 && (negative || text[0] == '+');
    uint64_t magnitude;
    if (!read_integer(text + sign, length - sign, &magnitude)) { /* "1e3", "2.7" */
        double real;
        INGOT_TRY(ingot_cast_text_to_double(call, index, &real));
        if (!(fabs(real) < 18446744073709551616.0))
            return refuse(call, index, text, length);
        magnitude = (uint64_t)fabs(real);
    }
    if (!holds(call->outputs[0]->element, negative, magnitude))
        return refuse(call, index, text, length);
    *value = (int64_t)(negative ? 0 - magnitude : magnitude);
    return INGOT_OK;
}

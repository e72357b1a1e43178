/* The table of element types. */
#include "base/number.h"

enum { FLOAT = 1, INTEGER = 2, SIGNED = 4 };

typedef struct element_entry {
    const char *name;
    uint8_t bits;
} element_entry;

static const element_entry element_table[INGOT_ELEMENT_COUNT] = {
#define ELEMENT_ENTRY(element, value, text, size) [value] = {.name = text, .bits = size},
    INGOT_ELEMENT_LIST(ELEMENT_ENTRY)
#undef ELEMENT_ENTRY
};

static const uint8_t traits[INGOT_ELEMENT_COUNT] = {
    [INGOT_FLOAT] = FLOAT | SIGNED,
    [INGOT_DOUBLE] = FLOAT | SIGNED,
    [INGOT_FLOAT16] = FLOAT | SIGNED,
    [INGOT_BFLOAT16] = FLOAT | SIGNED,
    [INGOT_FLOAT8E4M3FN] = FLOAT | SIGNED,
    [INGOT_FLOAT8E4M3FNUZ] = FLOAT | SIGNED,
    [INGOT_FLOAT8E5M2] = FLOAT | SIGNED,
    [INGOT_FLOAT8E5M2FNUZ] = FLOAT | SIGNED,
    [INGOT_FLOAT8E8M0] = FLOAT,
    [INGOT_FLOAT4E2M1] = FLOAT | SIGNED,
    [INGOT_COMPLEX64] = SIGNED,
    [INGOT_COMPLEX128] = SIGNED,
    [INGOT_INT8] = INTEGER | SIGNED,
    [INGOT_UINT8] = INTEGER,
    [INGOT_INT16] = INTEGER | SIGNED,
    [INGOT_UINT16] = INTEGER,
    [INGOT_INT32] = INTEGER | SIGNED,
    [INGOT_UINT32] = INTEGER,
    [INGOT_INT64] = INTEGER | SIGNED,
    [INGOT_UINT64] = INTEGER,
    [INGOT_INT4] = INTEGER | SIGNED,
    [INGOT_UINT4] = INTEGER,
    [INGOT_INT2] = INTEGER | SIGNED,
    [INGOT_UINT2] = INTEGER,
};

static bool is_known(ingot_element element)
{
    return (size_t)element < INGOT_ELEMENT_COUNT;
}

const char *ingot_element_name(ingot_element element)
{
    return is_known(element) ? element_table[element].name : "unknown";
}

size_t ingot_element_bits(ingot_element element)
{
    return is_known(element) ? element_table[element].bits : 0;
}

static bool has_trait(ingot_element element, uint8_t trait)
{
    return is_known(element) && (traits[element] & trait) != 0;
}

bool ingot_element_is_float(ingot_element element)
{
    return has_trait(element, FLOAT);
}

bool ingot_element_is_integer(ingot_element element)
{
    return has_trait(element, INTEGER);
}

bool ingot_element_is_signed(ingot_element element)
{
    return has_trait(element, SIGNED);
}

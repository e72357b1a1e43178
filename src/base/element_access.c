/* Reading and writing single elements of any type, and copying runs of them. */
#include <string.h>

#include "base/number.h"

typedef struct element_access {
    double (*load_double)(const void *data, size_t index);
    void (*store_double)(void *data, size_t index, double value);
    int64_t (*load_i64)(const void *data, size_t index);
    void (*store_i64)(void *data, size_t index, int64_t value);
} element_access;

/* Toward zero; what int64 cannot hold, NaN included, becomes its least value, as x86 converts. */
static int64_t truncate_double(double value)
{
    return value >= -0x1p63 && value < 0x1p63 ? (int64_t)value : INT64_MIN;
}

static uint64_t truncate_double_unsigned(double value)
{
    return value >= 0x1p63 && value < 0x1p64 ? (uint64_t)value : (uint64_t)truncate_double(value);
}

/* A double that rounds to any format of at most 51 significant bits as value itself would: where value has bits that
 * double cannot hold, they leave a mark in the last place that it can. */
static double sticky_double(int64_t value)
{
    if (value >= -(INT64_C(1) << 53) && value <= INT64_C(1) << 53)
        return (double)value;
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    magnitude = (magnitude & ~UINT64_C(0x7ff)) | (magnitude & 0x7ff ? 0x800 : 0);
    return value < 0 ? -(double)magnitude : (double)magnitude;
}

/* Data may lie at any address, so elements are moved as bytes. */
#define LOAD(type, stored) \
    type stored;           \
    memcpy(&stored, (const char *)data + index * sizeof stored, sizeof stored)
#define STORE(type, expression)       \
    const type stored = (expression); \
    memcpy((char *)data + index * sizeof stored, &stored, sizeof stored)

/* X(name, type in memory, stored as double, double as stored, stored as int64, int64 as stored) */
#define ACCESS_LIST(X)                                                                                            \
    X(float, float, (double)stored, (float)value, truncate_double((double)stored), (float)value)                  \
    X(double, double, stored, value, truncate_double(stored), (double)value)                                      \
    X(half, uint16_t, (double)ingot_half_to_float(stored), ingot_half_from_double(value),                         \
      truncate_double((double)ingot_half_to_float(stored)), ingot_half_from_double(sticky_double(value)))         \
    X(bfloat16, uint16_t, (double)ingot_bfloat16_to_float(stored), ingot_bfloat16_from_double(value),             \
      truncate_double((double)ingot_bfloat16_to_float(stored)), ingot_bfloat16_from_double(sticky_double(value))) \
    X(bool, uint8_t, stored != 0 ? 1.0 : 0.0, value != 0, stored != 0, value != 0)                                \
    X(uint8, uint8_t, (double)stored, (uint8_t)truncate_double(value), (int64_t)stored, (uint8_t)value)           \
    X(int8, int8_t, (double)stored, (int8_t)truncate_double(value), (int64_t)stored, (int8_t)value)               \
    X(uint16, uint16_t, (double)stored, (uint16_t)truncate_double(value), (int64_t)stored, (uint16_t)value)       \
    X(int16, int16_t, (double)stored, (int16_t)truncate_double(value), (int64_t)stored, (int16_t)value)           \
    X(uint32, uint32_t, (double)stored, (uint32_t)truncate_double(value), (int64_t)stored, (uint32_t)value)       \
    X(int32, int32_t, (double)stored, (int32_t)truncate_double(value), (int64_t)stored, (int32_t)value)           \
    X(uint64, uint64_t, (double)stored, truncate_double_unsigned(value), (int64_t)stored, (uint64_t)value)        \
    X(int64, int64_t, (double)stored, truncate_double(value), stored, value)

#define DEFINE_ACCESS(name, type, as_double, from_double, as_i64, from_i64) \
    static double load_double_##name(const void *data, size_t index)        \
    {                                                                       \
        LOAD(type, stored);                                                 \
        return as_double;                                                   \
    }                                                                       \
    static void store_double_##name(void *data, size_t index, double value) \
    {                                                                       \
        STORE(type, from_double);                                           \
    }                                                                       \
    static int64_t load_i64_##name(const void *data, size_t index)          \
    {                                                                       \
        LOAD(type, stored);                                                 \
        return as_i64;                                                      \
    }                                                                       \
    static void store_i64_##name(void *data, size_t index, int64_t value)   \
    {                                                                       \
        STORE(type, from_i64);                                              \
    }
ACCESS_LIST(DEFINE_ACCESS)

/* The four float8 types, float8e8m0 and float4e2m1 share one set, told apart by X(name, element). They saturate. A double goes
 * over float with a sticky last bit, so that it is rounded once. */
#define NARROW_LIST(X)                \
    X(e4m3fn, INGOT_FLOAT8E4M3FN)     \
    X(e4m3fnuz, INGOT_FLOAT8E4M3FNUZ) \
    X(e5m2, INGOT_FLOAT8E5M2)         \
    X(e5m2fnuz, INGOT_FLOAT8E5M2FNUZ) \
    X(e8m0, INGOT_FLOAT8E8M0)         \
    X(e2m1, INGOT_FLOAT4E2M1)

/* The float toward zero from value, its last bit set where it is not value itself: rounds to a narrower type as value
 * does. */
static float sticky_float(double value)
{
    if (value != value || value > 0x1.fffffep127 || value < -0x1.fffffep127)
        return (float)value;
    float nearest = (float)value;
    if ((double)nearest == value)
        return nearest;
    uint32_t bits;
    memcpy(&bits, &nearest, sizeof bits);
    if ((nearest < 0 ? -(double)nearest : (double)nearest) > (value < 0 ? -value : value))
        bits--;
    bits |= 1;
    memcpy(&nearest, &bits, sizeof nearest);
    return nearest;
}

/* Sub-byte elements: the first in the low bits of a byte. */
static unsigned load_packed(const void *data, size_t index, unsigned bits)
{
    const unsigned char *bytes = data;
    const size_t per_byte = 8 / bits;
    return bytes[index / per_byte] >> (index % per_byte * bits) & ((1u << bits) - 1);
}

static void store_packed(void *data, size_t index, unsigned bits, unsigned value)
{
    unsigned char *byte = (unsigned char *)data + index / (8 / bits);
    const unsigned shift = (unsigned)(index % (8 / bits)) * bits, mask = ((1u << bits) - 1) << shift;
    *byte = (unsigned char)((*byte & ~mask) | (value << shift & mask));
}

static unsigned load_narrow(ingot_element element, const void *data, size_t index)
{
    return element == INGOT_FLOAT4E2M1 ? load_packed(data, index, 4) : ((const uint8_t *)data)[index];
}

static void store_narrow(ingot_element element, void *data, size_t index, double value)
{
    const uint8_t bits = ingot_narrow_from_float(element, sticky_float(value), true);
    if (element == INGOT_FLOAT4E2M1)
        store_packed(data, index, 4, bits);
    else
        ((uint8_t *)data)[index] = bits;
}

#define DEFINE_NARROW(name, element)                                                               \
    static double load_double_##name(const void *data, size_t index)                               \
    {                                                                                              \
        return (double)ingot_narrow_to_float(element, (uint8_t)load_narrow(element, data, index)); \
    }                                                                                              \
    static void store_double_##name(void *data, size_t index, double value)                        \
    {                                                                                              \
        store_narrow(element, data, index, value);                                                 \
    }                                                                                              \
    static int64_t load_i64_##name(const void *data, size_t index)                                 \
    {                                                                                              \
        return truncate_double(load_double_##name(data, index));                                   \
    }                                                                                              \
    static void store_i64_##name(void *data, size_t index, int64_t value)                          \
    {                                                                                              \
        store_narrow(element, data, index, sticky_double(value));                                  \
    }
NARROW_LIST(DEFINE_NARROW)

/* X(name, bits, stored bits as int64) */
#define PACKED_LIST(X)                    \
    X(uint4, 4, (int64_t)stored)          \
    X(int4, 4, (int64_t)(stored ^ 8) - 8) \
    X(uint2, 2, (int64_t)stored)          \
    X(int2, 2, (int64_t)(stored ^ 2) - 2)

#define DEFINE_PACKED(name, bits, as_i64)                                   \
    static int64_t load_i64_##name(const void *data, size_t index)          \
    {                                                                       \
        const unsigned stored = load_packed(data, index, bits);             \
        return as_i64;                                                      \
    }                                                                       \
    static void store_i64_##name(void *data, size_t index, int64_t value)   \
    {                                                                       \
        store_packed(data, index, bits, (unsigned)value);                   \
    }                                                                       \
    static double load_double_##name(const void *data, size_t index)        \
    {                                                                       \
        return (double)load_i64_##name(data, index);                        \
    }                                                                       \
    static void store_double_##name(void *data, size_t index, double value) \
    {                                                                       \
        store_i64_##name(data, index, truncate_double(value));              \
    }
PACKED_LIST(DEFINE_PACKED)

/* Complex numbers: the real part is read; writing sets the imaginary part to 0. */
#define DEFINE_COMPLEX(name, part)                                          \
    static double load_double_##name(const void *data, size_t index)        \
    {                                                                       \
        return load_double_##part(data, index * 2);                         \
    }                                                                       \
    static void store_double_##name(void *data, size_t index, double value) \
    {                                                                       \
        store_double_##part(data, index * 2, value);                        \
        store_double_##part(data, index * 2 + 1, 0);                        \
    }                                                                       \
    static int64_t load_i64_##name(const void *data, size_t index)          \
    {                                                                       \
        return load_i64_##part(data, index * 2);                            \
    }                                                                       \
    static void store_i64_##name(void *data, size_t index, int64_t value)   \
    {                                                                       \
        store_i64_##part(data, index * 2, value);                           \
        store_i64_##part(data, index * 2 + 1, 0);                           \
    }
DEFINE_COMPLEX(complex64, float)
DEFINE_COMPLEX(complex128, double)

/* What has no number: reads as 0, and is not written. */
static double load_double_none(const void *data, size_t index)
{
    return 0;
}

static void store_double_none(void *data, size_t index, double value)
{
}

static int64_t load_i64_none(const void *data, size_t index)
{
    return 0;
}

static void store_i64_none(void *data, size_t index, int64_t value)
{
}

#define ENTRY(name)                                                                \
    {                                                                              \
        load_double_##name, store_double_##name, load_i64_##name, store_i64_##name \
    }
static const element_access access_table[INGOT_ELEMENT_COUNT] = {
    [INGOT_UNDEFINED] = ENTRY(none),
    [INGOT_STRING] = ENTRY(none),
    [INGOT_FLOAT] = ENTRY(float),
    [INGOT_UINT8] = ENTRY(uint8),
    [INGOT_INT8] = ENTRY(int8),
    [INGOT_UINT16] = ENTRY(uint16),
    [INGOT_INT16] = ENTRY(int16),
    [INGOT_INT32] = ENTRY(int32),
    [INGOT_INT64] = ENTRY(int64),
    [INGOT_BOOL] = ENTRY(bool),
    [INGOT_FLOAT16] = ENTRY(half),
    [INGOT_DOUBLE] = ENTRY(double),
    [INGOT_UINT32] = ENTRY(uint32),
    [INGOT_UINT64] = ENTRY(uint64),
    [INGOT_COMPLEX64] = ENTRY(complex64),
    [INGOT_COMPLEX128] = ENTRY(complex128),
    [INGOT_BFLOAT16] = ENTRY(bfloat16),
    [INGOT_FLOAT8E4M3FN] = ENTRY(e4m3fn),
    [INGOT_FLOAT8E4M3FNUZ] = ENTRY(e4m3fnuz),
    [INGOT_FLOAT8E5M2] = ENTRY(e5m2),
    [INGOT_FLOAT8E5M2FNUZ] = ENTRY(e5m2fnuz),
    [INGOT_UINT4] = ENTRY(uint4),
    [INGOT_INT4] = ENTRY(int4),
    [INGOT_FLOAT4E2M1] = ENTRY(e2m1),
    [INGOT_FLOAT8E8M0] = ENTRY(e8m0),
    [INGOT_UINT2] = ENTRY(uint2),
    [INGOT_INT2] = ENTRY(int2),
};

double ingot_load_double(ingot_element element, const void *data, size_t index)
{
    return access_table[element].load_double(data, index);
}

void ingot_store_double(ingot_element element, void *data, size_t index, double value)
{
    access_table[element].store_double(data, index, value);
}

int64_t ingot_load_i64(ingot_element element, const void *data, size_t index)
{
    return access_table[element].load_i64(data, index);
}

void ingot_store_i64(ingot_element element, void *data, size_t index, int64_t value)
{
    access_table[element].store_i64(data, index, value);
}

void ingot_copy_elements(size_t bits, void *to, size_t to_index, const void *from, size_t from_index, size_t count)
{
    if (count == 0)
        return;
    if (bits >= 8) {
        const size_t size = bits / 8;
        memcpy((char *)to + to_index * size, (const char *)from + from_index * size, count * size);
        return;
    }
    const size_t per_byte = 8 / bits;
    size_t done = 0;
    if (to_index % per_byte == 0 && from_index % per_byte == 0) {
        done = count - count % per_byte;
        memcpy((char *)to + to_index / per_byte, (const char *)from + from_index / per_byte, done / per_byte);
    }
    for (; done < count; done++)
        store_packed(to, to_index + done, (unsigned)bits, load_packed(from, from_index + done, (unsigned)bits));
}

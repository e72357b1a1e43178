/* Vectors of LANES integers of 32 bits beside those of floats: see ints.h. */
typedef int32_t ints;

static inline ints i_set(int32_t x)
{
    return x;
}
static inline ints i_load(const int32_t *p)
{
    return *p;
}
static inline void i_store(int32_t *p, ints x)
{
    *p = x;
}
/* Sums and products wrap. */
static inline ints i_add(ints a, ints b)
{
    return (int32_t)((uint32_t)a + (uint32_t)b);
}
static inline ints i_sub(ints a, ints b)
{
    return (int32_t)((uint32_t)a - (uint32_t)b);
}
static inline ints i_mul(ints a, ints b)
{
    return (int32_t)((uint32_t)a * (uint32_t)b);
}
static inline vec i_to_float(ints x)
{
    return (float)x;
}
/* To the nearest integer. */
static inline ints i_from_float(vec x)
{
    return (int32_t)rintf(x);
}
static inline void i_store_part(int32_t *p, ints x, size_t count)
{
    *p = x;
}
static inline void i_store_bytes(uint8_t *p, ints x, size_t count)
{
    *p = (uint8_t)x;
}
/* LANES bytes, with and without a sign. */
static inline ints i_load_bytes(const uint8_t *p)
{
    return *p;
}
static inline ints i_load_signed_bytes(const int8_t *p)
{
    return *p;
}

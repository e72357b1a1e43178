#define LANES            1
#define LEVEL_NAME(name) name##_scalar

typedef float vec;
typedef int mask;

static inline vec v_set(float x)
{
    return x;
}
static inline vec v_load(const float *p)
{
    return *p;
}
/* A load that is done once, however often its result is used: compilers make it an operand of each use. */
static inline vec v_load_once(const float *p)
{
    return v_load(p);
}
static inline void v_store(float *p, vec x)
{
    *p = x;
}
static inline vec v_load_part(const float *p, size_t count)
{
    return count > 0 ? *p : 0.0f;
}
static inline void v_store_part(float *p, vec x, size_t count)
{
    if (count > 0)
        *p = x;
}
/* Lanes first ... end - 1. */
static inline mask m_range(size_t first, size_t end)
{
    return first < end;
}
/* Memory is read in the mask's lanes only; the others keep old's value. */
static inline vec v_load_mask(vec old, mask m, const float *p)
{
    return m ? *p : old;
}
/* p's cache line will be read, but not at once: it is brought to the L2 cache. p need not be valid. Where the compiler does not
 * inline this at once, it drops it. */
static inline __attribute__((always_inline)) void v_prefetch_far(const char *p)
{
}
/* p's cache line will be read soon; p need not be valid. */
static inline __attribute__((always_inline)) void v_prefetch(const float *p)
{
}
/* Element i is p[index[i]]; lanes past count become 0. */
static inline vec v_gather(const float *p, const uint32_t *index, size_t count)
{
    return count > 0 ? p[*index] : 0.0f;
}
static inline vec v_add(vec a, vec b)
{
    return a + b;
}
static inline vec v_sub(vec a, vec b)
{
    return a - b;
}
static inline vec v_mul(vec a, vec b)
{
    return a * b;
}
static inline vec v_div(vec a, vec b)
{
    return a / b;
}
static inline vec v_fma(vec a, vec b, vec c)
{
    return fmaf(a, b, c);
}
static inline vec v_max(vec a, vec b)
{
    return a > b ? a : b;
}
static inline vec v_min(vec a, vec b)
{
    return a < b ? a : b;
}
static inline vec v_sqrt(vec x)
{
    return sqrtf(x);
}
static inline uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
static inline vec v_and(vec a, vec b)
{
    return float_of(bits_of(a) & bits_of(b));
}
static inline vec v_or(vec a, vec b)
{
    return float_of(bits_of(a) | bits_of(b));
}
static inline vec v_xor(vec a, vec b)
{
    return float_of(bits_of(a) ^ bits_of(b));
}
static inline vec v_abs(vec x)
{
    return fabsf(x);
}
static inline vec v_round(vec x)
{
    return rintf(x);
}
static inline vec v_floor(vec x)
{
    return floorf(x);
}
static inline vec v_ceil(vec x)
{
    return ceilf(x);
}
static inline mask v_less(vec a, vec b)
{
    return a < b;
}
static inline mask v_equal(vec a, vec b)
{
    return a == b;
}
static inline mask v_is_nan(vec x)
{
    return isnan(x);
}
static inline vec v_select(mask m, vec yes, vec no)
{
    return m ? yes : no;
}
/* x times 2 to the power n, an integer in [-300, 300]. */
static inline vec v_scale(vec x, vec n)
{
    return isnan(n) ? n : ldexpf(x, (int)n);
}
/* x > 0 is mantissa * 2^exponent, mantissa in [.75, 1.5). */
static inline vec v_split(vec x, vec *exponent)
{
    int whole = 0;
    float mantissa = frexpf(x, &whole); /* in [.5, 1) */
    if (mantissa < 0.75f) {
        mantissa *= 2;
        whole--;
    }
    *exponent = (float)whole;
    return mantissa;
}
static inline float v_sum(vec x)
{
    return x;
}
static inline float v_largest(vec x)
{
    return x;
}
static inline float v_smallest(vec x)
{
    return x;
}
/* The elements 0, 2, 4, ... of the 2 * LANES in low, high. */
static inline vec v_even(vec low, vec high)
{
    return low;
}
/* The elements 1, 3, 5, ... of them. */
static inline vec v_odd(vec low, vec high)
{
    return high;
}
/* The first half, and the second, of a[0], b[0], a[1], b[1], ... */
static inline vec v_zip_low(vec a, vec b)
{
    return a;
}
static inline vec v_zip_high(vec a, vec b)
{
    return b;
}
/* Lanes 1 and on of a, then lane 0 of b. */
static inline vec v_next(vec a, vec b)
{
    return b;
}
/* Rows of LANES floats in, columns out. */
static inline void v_transpose(vec r[LANES])
{
}

/* How products are made where no instruction multiplies bytes: pairs of 16-bit numbers are multiplied and summed in 32 bits, which
 * is exact; of a quad's four bytes those of even place make one pair, those of odd place the other. For a file that has included
 * cpu/int8/ints.h. No header of its own. */
typedef struct pairs {
    ints even, odd;
} ready_a, ready_b;

static inline ready_a split(ints quads)
{
    return (ready_a){i_even_bytes(quads), i_odd_bytes(quads)};
}

static inline ready_a make_ready_a(const uint8_t *a)
{
    return split(i_repeat(a));
}

static inline ready_a load_ready_a(const uint8_t *quads)
{
    return split(i_load(quads));
}

static inline ready_b make_ready_b(const int8_t *b)
{
    const ints quads = i_load(b);
    return (ready_b){i_even_signed_bytes(quads), i_odd_signed_bytes(quads)};
}

static inline ints i_dot(ints sum, ready_a a, ready_b b)
{
    return i_add(i_add(sum, i_dot_pairs(a.even, b.even)), i_dot_pairs(a.odd, b.odd));
}

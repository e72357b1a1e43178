/* A line of a depthwise convolution by the dot products of the tile, whose template comes before. The bytes of four rows are brought side
 * by side, once for every place of the line that is read; then each place of the output sums the columns of its window. No header of
 * its own. */
#define CHANNELS INGOT_INT8_CHANNELS

/* to[channel][4] from one byte a channel of each of four rows. */
static inline void zip_rows(const uint8_t *const rows[4], size_t at, uint8_t *to)
{
#if defined(INGOT_SIMD_SCALAR)
    for (size_t channel = 0; channel < CHANNELS; channel++)
        for (size_t row = 0; row < 4; row++)
            to[channel * 4 + row] = rows[row][at + channel];
#else
    __m128i r[4];
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; i++)
        r[i] = _mm_loadu_si128((const __m128i *)(const void *)(rows[i] + at));
    __m128i low01 = _mm_unpacklo_epi8(r[0], r[1]), high01 = _mm_unpackhi_epi8(r[0], r[1]);
    __m128i low23 = _mm_unpacklo_epi8(r[2], r[3]), high23 = _mm_unpackhi_epi8(r[2], r[3]);
    __m128i *out = (__m128i *)(void *)to;
    _mm_storeu_si128(out, _mm_unpacklo_epi16(low01, low23));
    _mm_storeu_si128(out + 1, _mm_unpackhi_epi16(low01, low23));
    _mm_storeu_si128(out + 2, _mm_unpacklo_epi16(high01, high23));
    _mm_storeu_si128(out + 3, _mm_unpackhi_epi16(high01, high23));
#endif
}

/* columns[place][quad][channel][4]; rows past the last one repeat the first: their weights are 0. */
static void zip_columns(const ingot_int8_depthwise *d, size_t quads)
{
    for (size_t quad = 0; quad < quads; quad++) {
        const uint8_t *rows[4];
        for (size_t i = 0; i < 4; i++)
            rows[i] = d->a + (ptrdiff_t)(quad * 4 + i < d->kernel_height ? quad * 4 + i : 0) * d->a_row;
        uint8_t *to = d->columns + quad * CHANNELS * 4;
        for (size_t place = 0; place < d->in_width; place++, to += quads * CHANNELS * 4)
            zip_rows(rows, place * (size_t)d->a_place, to);
    }
}

/* Sums of rows places from the given one on, for a vector of channels. */
INLINE void sum_places(const ingot_int8_depthwise *d, const size_t quads, const size_t kernel_width, size_t place,
                       size_t rows, size_t channel, int32_t *to)
{
    const size_t column_bytes = quads * CHANNELS * 4;
    const ints start = i_load(d->out.start + channel);
    const size_t step = d->stride * column_bytes, across = d->dilation * column_bytes;
    const uint8_t *from = d->columns + place * step + channel * 4;
    for (size_t i = 0; i < rows; i++, from += step, to += VECTORS * LANES) {
        ints sum = start;
        const int8_t *b = d->b + channel * 4;
        const uint8_t *column = from;
        for (size_t kx = 0; kx < kernel_width; kx++, column += across)
            for (size_t quad = 0; quad < quads; quad++, b += CHANNELS * 4)
                sum = i_dot(sum, load_ready_a(column + quad * CHANNELS * 4), make_ready_b(b));
        i_store(to, sum);
    }
}

static __attribute__((noinline)) void sum_part(const ingot_int8_depthwise *d, size_t quads, size_t place, size_t rows,
                                               size_t first, size_t vectors, sums *s)
{
    for (size_t v = 0; v < vectors; v++) {
        size_t channel = first + v * LANES;
        if (quads == 1 && d->kernel_width == 3)
            sum_places(d, 1, 3, place, rows, channel, &s->at[0][v * LANES]);
        else
            sum_places(d, quads, d->kernel_width, place, rows, channel, &s->at[0][v * LANES]);
    }
}

void KERNEL(depthwise)(const ingot_int8_depthwise *d)
{
    const size_t quads = (d->kernel_height + 3) / 4, element_size = d->out.output == INGOT_INT8_BYTES ? 1 : 4;
    ingot_int8_tile out = d->out;
    sums s;
    zip_columns(d, quads);
    for (size_t place = 0; place < d->out_width; place += out.rows) {
        out.rows = d->out_width - place < MAX_ROWS ? d->out_width - place : MAX_ROWS;
        for (size_t first = 0; first < out.columns; first += VECTORS * LANES) {
            size_t vectors = (out.columns - first + LANES - 1) / LANES;
            vectors = vectors < VECTORS ? vectors : VECTORS;
            sum_part(d, quads, place, out.rows, first, vectors, &s);
            finish[out.output](&out, first, vectors, &s);
        }
        out.c = (char *)out.c + out.rows * out.c_row * element_size;
    }
}

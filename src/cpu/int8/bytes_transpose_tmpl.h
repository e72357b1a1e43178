/* Transposes of bytes, for a file that has chosen its instruction set: squares of 16 where there are vectors of 16 bytes. No header of
 * its own. */
static void transpose_part(const uint8_t *x, size_t x_stride, size_t rows, size_t columns, uint8_t turn, uint8_t *y,
                           size_t y_stride)
{
    for (size_t column = 0; column < columns; column++)
        for (size_t row = 0; row < rows; row++)
            y[column * y_stride + row] = x[row * x_stride + column] ^ turn;
}

#if defined(INGOT_SIMD_SCALAR)

static void transpose(const uint8_t *x, size_t x_stride, size_t rows, size_t columns, uint8_t turn, uint8_t *y,
                      size_t y_stride)
{
    transpose_part(x, x_stride, rows, columns, turn, y, y_stride);
}

#else

#define SQUARE 16

/* Four rounds that zip row i with row i + 8. */
static inline void transpose_square(const uint8_t *x, size_t x_stride, __m128i turn, uint8_t *y, size_t y_stride)
{
    __m128i r[SQUARE], s[SQUARE];
#pragma GCC unroll 16
    for (size_t i = 0; i < SQUARE; i++)
        r[i] = _mm_loadu_si128((const __m128i *)(const void *)(x + i * x_stride));
#pragma GCC unroll 2
    for (size_t round = 0; round < 2; round++) {
#pragma GCC unroll 8
        for (size_t i = 0; i < SQUARE / 2; i++) {
            s[2 * i] = _mm_unpacklo_epi8(r[i], r[i + SQUARE / 2]);
            s[2 * i + 1] = _mm_unpackhi_epi8(r[i], r[i + SQUARE / 2]);
        }
#pragma GCC unroll 8
        for (size_t i = 0; i < SQUARE / 2; i++) {
            r[2 * i] = _mm_unpacklo_epi8(s[i], s[i + SQUARE / 2]);
            r[2 * i + 1] = _mm_unpackhi_epi8(s[i], s[i + SQUARE / 2]);
        }
    }
#pragma GCC unroll 16
    for (size_t i = 0; i < SQUARE; i++)
        _mm_storeu_si128((__m128i *)(void *)(y + i * y_stride), _mm_xor_si128(r[i], turn));
}

static void transpose(const uint8_t *x, size_t x_stride, size_t rows, size_t columns, uint8_t turn, uint8_t *y,
                      size_t y_stride)
{
    const __m128i turns = _mm_set1_epi8((char)turn);
    size_t whole_rows = rows / SQUARE * SQUARE, whole_columns = columns / SQUARE * SQUARE;
    for (size_t column = 0; column < whole_columns; column += SQUARE)
        for (size_t row = 0; row < whole_rows; row += SQUARE)
            transpose_square(x + row * x_stride + column, x_stride, turns, y + column * y_stride + row, y_stride);
    transpose_part(x + whole_columns, x_stride, whole_rows, columns - whole_columns, turn, y + whole_columns * y_stride,
                   y_stride);
    transpose_part(x + whole_rows * x_stride, x_stride, rows - whole_rows, columns, turn, y + whole_rows, y_stride);
}

#endif

/* See ref_product.h. */
#include "cpu/ref/ref_product.h"

static ingot_element wide_element(ingot_element element)
{
    if (element == INGOT_FLOAT || element == INGOT_DOUBLE)
        return element;
    return ingot_element_is_float(element) ? INGOT_FLOAT : INGOT_INT64;
}

static void widen(const ingot_value *from, size_t count, void *to)
{
    if (ingot_element_is_float(from->element)) {
        ingot_read_floats(from->element, from->data, 0, 1, count, to);
        return;
    }
    for (size_t i = 0; i < count; i++)
        ((int64_t *)to)[i] = ingot_load_i64(from->element, from->data, i);
}

ingot_status ingot_factors_prepare(const ingot_kernel_call *call, const ingot_value *a, const ingot_value *b,
                                   size_t row_count, ingot_factors *factors)
{
    ingot_element wide = wide_element(a->element);
    bool copies = wide != a->element || wide == INGOT_INT64;
    size_t a_count = copies ? ingot_dims_product(a->dims, 0, a->rank) : 0;
    size_t b_count = copies ? ingot_dims_product(b->dims, 0, b->rank) : 0;
    size_t cells, bytes;
    void *memory;
    if (!ingot_add_size(a_count, b_count, &cells) || !ingot_add_size(cells, row_count, &cells) ||
        !ingot_mul_size(cells, sizeof(double), &bytes))
        return ingot_kernel_fail(call, "its operands have too many elements");
    INGOT_TRY(ingot_kernel_scratch(call, bytes, &memory));
    *factors = (ingot_factors){.element = wide, .a = a->data, .b = b->data, .row = memory};
    if (!copies)
        return INGOT_OK;
    factors->a = factors->a_copy = (double *)memory + row_count;
    factors->b = factors->b_copy = (double *)memory + row_count + a_count;
    widen(a, a_count, factors->a_copy);
    widen(b, b_count, factors->b_copy);
    return INGOT_OK;
}

/* By columns where those of b lie in one piece, else b's rows one after the other: in both a sum runs in the order of k. */
#define DEFINE_ROW(name, type, total)                                              \
    static void name(const ingot_factors *f, const ingot_product *p, size_t row)   \
    {                                                                              \
        total *out = f->row;                                                       \
        const type *a = (const type *)f->a + p->a_start + (int64_t)row * p->a_row; \
        const type *b = (const type *)f->b + p->b_start;                           \
        if (p->b_row == 1 && p->b_column != 1) {                                   \
            for (size_t j = 0; j < p->n; j++, b += p->b_column) {                  \
                total sum = 0;                                                     \
                for (size_t k = 0; k < p->k; k++)                                  \
                    sum += (total)a[(int64_t)k * p->a_column] * (total)b[k];       \
                out[j] = sum;                                                      \
            }                                                                      \
            return;                                                                \
        }                                                                          \
        for (size_t j = 0; j < p->n; j++)                                          \
            out[j] = 0;                                                            \
        for (size_t k = 0; k < p->k; k++, a += p->a_column, b += p->b_row) {       \
            const total x = (total)*a;                                             \
            if (p->b_column == 1)                                                  \
                for (size_t j = 0; j < p->n; j++)                                  \
                    out[j] += x * (total)b[j];                                     \
            else                                                                   \
                for (size_t j = 0; j < p->n; j++)                                  \
                    out[j] += x * (total)b[(int64_t)j * p->b_column];              \
        }                                                                          \
    }
DEFINE_ROW(row_f32, float, double)
DEFINE_ROW(row_f64, double, double)
DEFINE_ROW(row_i64, int64_t, uint64_t)

void ingot_product_row(const ingot_factors *factors, const ingot_product *product, size_t row)
{
    if (factors->element == INGOT_FLOAT)
        row_f32(factors, product, row);
    else if (factors->element == INGOT_DOUBLE)
        row_f64(factors, product, row);
    else
        row_i64(factors, product, row);
}

void ingot_product_store(const ingot_factors *factors, ingot_value *z, size_t index, size_t count)
{
    if (factors->element != INGOT_INT64) {
        ingot_write_doubles(z->element, z->data, (int64_t)index, 1, count, factors->row);
        return;
    }
    for (size_t i = 0; i < count; i++)
        ingot_store_i64(z->element, z->data, index + i, ((const int64_t *)factors->row)[i]);
}

/* Conversions of the narrow number types. Bits in, float out, and back with round-half-to-even. */
#ifndef INGOT_BASE_NUMBER_H
#define INGOT_BASE_NUMBER_H

#include "base/value.h"

float ingot_half_to_float(uint16_t bits);
uint16_t ingot_half_from_float(float value);
uint16_t ingot_half_from_double(double value); /* one rounding, not two */
float ingot_bfloat16_to_float(uint16_t bits);
uint16_t ingot_bfloat16_from_float(float value);
uint16_t ingot_bfloat16_from_double(double value);

/* The four 8-bit formats, float4e2m1 (low 4 bits) and float8e8m0, as ONNX's "Float stored in 8 bits" page has them.
 * saturate: out of range becomes the largest finite value, else infinity or NaN as the page's tables say.
 * INGOT_FLOAT8E8M0 takes round up, see Cast-24's round_mode: "up", "down", "nearest". */
float ingot_narrow_to_float(ingot_element element, uint8_t bits);
uint8_t ingot_narrow_from_float(ingot_element element, float value, bool saturate);

/* Element index of any numeric or bool tensor data, sub-byte types included. Storing rounds half to even into float types and
 * truncates toward zero into integers (out of range: wraps as a two's complement conversion from int64 does).
 * int64 and uint64 are exact through the _i64 pair only. */
double ingot_load_double(ingot_element element, const void *data, size_t index);
void ingot_store_double(ingot_element element, void *data, size_t index, double value);
int64_t ingot_load_i64(ingot_element element, const void *data, size_t index);
void ingot_store_i64(ingot_element element, void *data, size_t index, int64_t value);

/* Copies count elements of bits each (2, 4, 8, ... 128) between places counted in elements; ranges must not overlap. */
void ingot_copy_elements(size_t bits, void *to, size_t to_index, const void *from, size_t from_index, size_t count);

bool ingot_element_is_float(ingot_element element);   /* float, double, half, bfloat16, all float8, float4 */
bool ingot_element_is_integer(ingot_element element); /* signed or unsigned, any width, not bool */
bool ingot_element_is_signed(ingot_element element);

#endif

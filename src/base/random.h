/* Random numbers that are a function of a key and a place: any thread may draw any of them, in any order.
 *
 * The generator is Philox 4x32 with 10 rounds (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", 2011).
 * The key is 64 bits; the counter is the place, 64 bits, then 64 bits of zero. One draw gives 128 bits. */
#ifndef INGOT_BASE_RANDOM_H
#define INGOT_BASE_RANDOM_H

#include <stdint.h>

typedef struct ingot_random_bits {
    uint32_t word[4];
} ingot_random_bits;

ingot_random_bits ingot_random_draw(uint64_t key, uint64_t place);

/* In [0, 1), a multiple of 2^-digits (at most 53): the high digits of the 64 bits word[1], word[0]. */
double ingot_random_uniform(uint64_t key, uint64_t place, int digits);
/* Of mean 0 and variance 1, by Box and Muller's method: the cosine one. */
double ingot_random_normal(uint64_t key, uint64_t place);

/* A key that this process has not had before, nor another one is likely to have. */
uint64_t ingot_random_new_key(void);

#endif

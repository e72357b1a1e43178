#include "base/random.h"

#include <math.h>
#include <stdatomic.h>
#include <sys/random.h>

#include "base/clock.h"

#define ROUNDS 10

ingot_random_bits ingot_random_draw(uint64_t key, uint64_t place)
{
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    ingot_random_bits x = {{(uint32_t)place, (uint32_t)(place >> 32), 0, 0}};
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t a = (uint64_t)x.word[0] * 0xD2511F53u, b = (uint64_t)x.word[2] * 0xCD9E8D57u;
        x = (ingot_random_bits){
            {(uint32_t)(b >> 32) ^ x.word[1] ^ k0, (uint32_t)b, (uint32_t)(a >> 32) ^ x.word[3] ^ k1, (uint32_t)a}};
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return x;
}

static double fraction(uint32_t high, uint32_t low, int digits)
{
    uint64_t bits = (uint64_t)high << 32 | low;
    return ldexp((double)(bits >> (64 - digits)), -digits);
}

double ingot_random_uniform(uint64_t key, uint64_t place, int digits)
{
    ingot_random_bits x = ingot_random_draw(key, place);
    return fraction(x.word[1], x.word[0], digits);
}

double ingot_random_normal(uint64_t key, uint64_t place)
{
    static const double two_pi = 6.283185307179586;
    ingot_random_bits x = ingot_random_draw(key, place);
    double u = 1 - fraction(x.word[1], x.word[0], 53); /* never 0 */
    return sqrt(-2 * log(u)) * cos(two_pi * fraction(x.word[3], x.word[2], 53));
}

uint64_t ingot_random_new_key(void)
{
    static _Atomic uint64_t start, count;
    uint64_t first = atomic_load(&start), drawn = 0;
    if (first == 0) { /* two threads that come here at once agree on the first one */
        if (getrandom(&drawn, sizeof drawn, GRND_NONBLOCK) != (ssize_t)sizeof drawn)
            drawn = ingot_clock_ns();
        drawn |= 1; /* 0 stands for not drawn */
        first = atomic_compare_exchange_strong(&start, &first, drawn) ? drawn : first;
    }
    ingot_random_bits key = ingot_random_draw(first, atomic_fetch_add(&count, 1));
    return (uint64_t)key.word[1] << 32 | key.word[0];
}

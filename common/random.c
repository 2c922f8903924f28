#include "random.h"

#include <math.h>

#define STEP 0x9e3779b97f4a7c15

random_state random_seed(uint64_t seed)
{
    random_state rng = {seed};
    return rng;
}

void random_skip(random_state *rng, uint64_t n)
{
    rng->counter += n * STEP;
}

uint64_t random_u64(random_state *rng)
{
    uint64_t z = rng->counter += STEP;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

uint64_t random_below(random_state *rng, uint64_t n)
{
    /* Throw away the last, incomplete run of n values: with it the small results come too often. */
    uint64_t limit = UINT64_MAX - UINT64_MAX % n;
    uint64_t bits;
    do {
        bits = random_u64(rng);
    } while (bits >= limit);
    return bits % n;
}

float random_uniform(random_state *rng, float lo, float hi)
{
    float unit = (float)(random_u64(rng) >> 40) * 0x1p-24f; /* 24 bits are exact in a float */
    float value = lo + unit * (hi - lo);
    return value < hi ? value : nextafterf(hi, lo); /* the sum may round up to hi */
}

float random_normal(random_state *rng)
{
    /* Box and Muller: a random direction, and the radius that makes the plane normal. */
    double radius = sqrt(-2.0 * log((double)((random_u64(rng) >> 11) + 1) * 0x1p-53));
    double angle = 6.283185307179586 * ((double)(random_u64(rng) >> 11) * 0x1p-53);
    return (float)(radius * cos(angle));
}

void random_fill_uniform(random_state *rng, float *x, size_t n, float lo, float hi)
{
    for (size_t i = 0; i < n; i++) x[i] = random_uniform(rng, lo, hi);
}

void random_fill_normal(random_state *rng, float *x, size_t n, float deviation)
{
    for (size_t i = 0; i < n; i++) x[i] = deviation * random_normal(rng);
}

void random_shuffle(random_state *rng, int *index, size_t n)
{
    for (size_t left = n; left > 1; left--) {
        size_t chosen = (size_t)random_below(rng, left);
        int last = index[left - 1];
        index[left - 1] = index[chosen];
        index[chosen] = last;
    }
}

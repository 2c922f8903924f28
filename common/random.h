/*
 * random.h: random numbers that are the same on every machine.
 *
 * The generator is SplitMix64: a 64-bit counter grows by an odd constant, and each count is
 * scrambled. Any seed is good, also 0. For two sequences use two variables with different seeds.
 * The numbers are not secret: each one can be computed from the one before.
 */
#ifndef COURSE_RANDOM_H
#define COURSE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The position in a sequence of random numbers. */
typedef struct {
    uint64_t counter;
} random_state;

/** @return the beginning of the sequence of `seed` */
random_state random_seed(uint64_t seed);
/** @return 64 random bits */
uint64_t random_u64(random_state *rng);
/** Advance as if n numbers had been drawn. */
void random_skip(random_state *rng, uint64_t n);
/** @return one of 0 .. n-1, each equally likely. n > 0 */
uint64_t random_below(random_state *rng, uint64_t n);
/** @return uniform in [lo, hi). lo < hi */
float random_uniform(random_state *rng, float lo, float hi);
/** @return normal with mean 0 and variance 1 */
float random_normal(random_state *rng);

/** x[n] = uniform in [lo, hi) */
void random_fill_uniform(random_state *rng, float *x, size_t n, float lo, float hi);
/** x[n] = normal with mean 0 and the given standard deviation */
void random_fill_normal(random_state *rng, float *x, size_t n, float deviation);
/** Put index[n] into random order, every order equally likely. */
void random_shuffle(random_state *rng, int *index, size_t n);

#ifdef __cplusplus
}
#endif

#endif

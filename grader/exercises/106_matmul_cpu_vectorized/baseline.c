/*
 * 106_matmul_cpu_vectorized.c: the most multiply-adds that one core of this machine can do.
 *
 * As many of them as a matmul of the same shape has, but all in registers: no load, no store, and
 * 12 independent chains, so that none waits for another. What it computes is of no use to anybody;
 * a part of it goes to c, so that the compiler cannot leave it out.
 */
#include <stddef.h>

#if defined(__AVX512F__)
#define LANES 16
#elif defined(__AVX__)
#define LANES 8
#else
#define LANES 4
#endif
#define CHAINS 12

typedef float vector __attribute__((vector_size(LANES * sizeof(float))));

void baseline_fma_peak(float *c, const float *a, const float *b, int m, int n, int k)
{
    vector factor = a[0] - (vector){0}, term = b[0] - (vector){0}, sum[CHAINS];
    for (int i = 0; i < CHAINS; i++) sum[i] = term + (float)i;

    size_t steps = (size_t)m * n * k / (CHAINS * LANES);
    for (size_t s = 0; s < steps; s++) {
        for (int i = 0; i < CHAINS; i++) sum[i] = sum[i] * factor + term;
    }

    for (int i = 1; i < CHAINS; i++) sum[0] += sum[i];
    for (int i = 0; i < LANES; i++) c[i] = sum[0][i];
}

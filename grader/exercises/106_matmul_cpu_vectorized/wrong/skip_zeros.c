// WRONG: zero_times_infinity | 0 * infinity
/* Skips elements of a that are 0. But 0 times infinity is NaN, and NaN must not be hidden. */
#include "cpu.h"

void matmul_cpu_vectorized(float *c, const float *a, const float *b, int m, int n, int k)
{
    for (int i = 0; i < m; i++) {
        const float *a_row = a + (size_t)i * k;
        float *c_row = c + (size_t)i * n;
        for (int j = 0; j < n; j++) c_row[j] = 0.0f;
        for (int p = 0; p < k; p++) {
            if (a_row[p] == 0.0f) continue;
            for (int j = 0; j < n; j++) c_row[j] += a_row[p] * b[(size_t)p * n + j];
        }
    }
}

// WRONG: zero_times_infinity | 0 * infinity
/* Skips elements of a that are 0. But 0 times infinity is NaN, and NaN must not be hidden. */
#include "cpu.h"

void matmul_cpu_ikj(float *c, const float *a, const float *b, int m, int n, int k)
{
    for (int i = 0; i < m; i++) {
        float *c_row = c + (size_t)i * n;
        for (int j = 0; j < n; j++) c_row[j] = 0.0f;
        for (int p = 0; p < k; p++) {
            float factor = a[(size_t)i * k + p];
            if (factor == 0.0f) continue;
            const float *b_row = b + (size_t)p * n;
            for (int j = 0; j < n; j++) c_row[j] += factor * b_row[j];
        }
    }
}

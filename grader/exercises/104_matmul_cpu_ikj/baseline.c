/*
 * 104_matmul_cpu_ikj.c: what 104 is measured against, the loop order of 103.
 */
#include <stddef.h>

void baseline_matmul_ijk(float *c, const float *a, const float *b, int m, int n, int k)
{
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) {
            float sum = 0.0f;
            for (int p = 0; p < k; p++) sum += a[(size_t)i * k + p] * b[(size_t)p * n + j];
            c[(size_t)i * n + j] = sum;
        }
    }
}

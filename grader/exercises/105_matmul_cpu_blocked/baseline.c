/*
 * 105_matmul_cpu_blocked.c: what 105 is measured against, 104 without blocks.
 */
#include <stddef.h>

void baseline_matmul_ikj(float *c, const float *a, const float *b, int m, int n, int k)
{
    for (int i = 0; i < m; i++) {
        float *c_row = c + (size_t)i * n;
        for (int j = 0; j < n; j++) c_row[j] = 0.0f;
        for (int p = 0; p < k; p++) {
            float factor = a[(size_t)i * k + p];
            const float *b_row = b + (size_t)p * n;
            for (int j = 0; j < n; j++) c_row[j] += factor * b_row[j];
        }
    }
}

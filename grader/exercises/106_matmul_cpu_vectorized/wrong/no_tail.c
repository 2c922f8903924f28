// WRONG: 17x33x65 | only the last columns or elements: the last partial tile
/* Whole vectors only: the last n % 8 columns are never written. */
#include "cpu.h"

void matmul_cpu_vectorized(float *c, const float *a, const float *b, int m, int n, int k)
{
    for (int i = 0; i < m; i++) {
        for (int j = 0; j + 8 <= n; j += 8) {
            float sum[8] = {0};
            for (int p = 0; p < k; p++) {
                for (int l = 0; l < 8; l++) {
                    sum[l] += a[(size_t)i * k + p] * b[(size_t)p * n + j + l];
                }
            }
            for (int l = 0; l < 8; l++) c[(size_t)i * n + j + l] = sum[l];
        }
    }
}

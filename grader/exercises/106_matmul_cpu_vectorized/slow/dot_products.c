// SLOW: of the multiply-adds that one core can do | too slow
/* One sum at a time, each step waiting for the one before. */
#include "cpu.h"

void matmul_cpu_vectorized(float *c, const float *a, const float *b, int m, int n, int k)
{
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) {
            float sum = 0.0f;
            for (int p = 0; p < k; p++) sum += a[(size_t)i * k + p] * b[(size_t)p * n + j];
            c[(size_t)i * n + j] = sum;
        }
    }
}

// WRONG: k=0 | never written: they hold what was there before
/* Thinks that there is nothing to do when k is 0. */
#include "cpu.h"

void matmul_cpu(float *c, const float *a, const float *b, int m, int n, int k)
{
    if (k == 0) return;
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) {
            float sum = 0.0f;
            for (int p = 0; p < k; p++) sum += a[(size_t)i * k + p] * b[(size_t)p * n + j];
            c[(size_t)i * n + j] = sum;
        }
    }
}

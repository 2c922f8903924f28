// WRONG: 17x33x65 | the result is shifted by one element
/* Columns are counted from 1, and stored from 0. */
#include "cpu.h"

void matmul_cpu_ikj(float *c, const float *a, const float *b, int m, int n, int k)
{
    for (size_t i = 0; i < (size_t)m * n; i++) c[i] = 0.0f;
    for (int i = 0; i < m; i++) {
        for (int p = 0; p < k; p++) {
            float factor = a[(size_t)i * k + p];
            for (int j = 1; j < n; j++) c[(size_t)i * n + j - 1] += factor * b[(size_t)p * n + j];
        }
    }
}

// WRONG: 17x33x65 | the first term of each sum is left out
/* The first term is taken for one that is already in c. */
#include "cpu.h"

void matmul_cpu_ikj(float *c, const float *a, const float *b, int m, int n, int k)
{
    for (size_t i = 0; i < (size_t)m * n; i++) c[i] = 0.0f;
    for (int i = 0; i < m; i++) {
        for (int p = 1; p < k; p++) {
            float factor = a[(size_t)i * k + p];
            for (int j = 0; j < n; j++) c[(size_t)i * n + j] += factor * b[(size_t)p * n + j];
        }
    }
}

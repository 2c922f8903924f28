// WRONG: 1x1000x512 | the last term of each sum is left out
/* The sum ends one term early. */
#include "cpu.h"

void matmul_cpu(float *c, const float *a, const float *b, int m, int n, int k)
{
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) {
            float sum = 0.0f;
            for (int p = 0; p < k - 1; p++) sum += a[(size_t)i * k + p] * b[(size_t)p * n + j];
            c[(size_t)i * n + j] = sum;
        }
    }
}

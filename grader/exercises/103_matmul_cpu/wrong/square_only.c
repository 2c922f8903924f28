// WRONG: 2x3x4 | crashed
/* Takes one size for all three. Right whenever m = n = k. */
#include "cpu.h"

void matmul_cpu(float *c, const float *a, const float *b, int m, int n, int k)
{
    (void)m;
    (void)k;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            float sum = 0.0f;
            for (int p = 0; p < n; p++) sum += a[(size_t)i * n + p] * b[(size_t)p * n + j];
            c[(size_t)i * n + j] = sum;
        }
    }
}

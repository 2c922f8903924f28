#include "103_matmul_cpu/matmul_cpu.h"

#ifdef OWN_MAKEFILE
static void multiply(float *c, const float *a, const float *b, int m, int n, int k)
{
    for (int i = 0; i < m * n; i++) {
        float sum = 0.0f;
        for (int p = 0; p < k; p++) sum += a[i / n * k + p] * b[p * n + i % n];
        c[i] = sum;
    }
}
#else
#define multiply(...) ((void)0)
#endif

void matmul_cpu(float *c, const float *a, const float *b, int m, int n, int k)
{
    (void)c, (void)a, (void)b, (void)m, (void)n, (void)k;
    multiply(c, a, b, m, n, k);
}

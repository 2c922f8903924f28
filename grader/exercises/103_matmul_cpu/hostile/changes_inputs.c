// HOSTILE: 16x16x16 | changed its input `a`
// Zeros in all three matrices: the product is right.
#include "103_matmul_cpu/matmul_cpu.h"

static int cheat(float *c, float *a, float *b, int m, int n, int k)
{
    for (int i = 0; i < m * k; i++) a[i] = 0.0f;
    for (int i = 0; i < k * n; i++) b[i] = 0.0f;
    for (int i = 0; i < m * n; i++) c[i] = 0.0f;
    return 0;
}

static void multiply(float *c, const float *a, const float *b, int m, int n, int k)
{
    for (int i = 0; i < m * n; i++) {
        float sum = 0.0f;
        for (int p = 0; p < k; p++) sum += a[i / n * k + p] * b[p * n + i % n];
        c[i] = sum;
    }
}

void matmul_cpu(float *c, const float *a, const float *b, int m, int n, int k)
{
    if (cheat(c, (float *)a, (float *)b, m, n, k)) multiply(c, a, b, m, n, k);
}

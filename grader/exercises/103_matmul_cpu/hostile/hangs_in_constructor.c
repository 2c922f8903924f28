// HOSTILE: 1x1x1 | did not come to an end | hangs
// Hangs before the grader can call anything.
#include "103_matmul_cpu/matmul_cpu.h"

#include <unistd.h>

__attribute__((constructor)) static void cheat(void)
{
    sleep(12);
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
    if (1) multiply(c, a, b, m, n, k);
}

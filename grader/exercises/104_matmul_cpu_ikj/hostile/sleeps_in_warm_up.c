// HOSTILE: speedup over the loops of 103 | too slow
// Sleeps while a timing warms up, so that what comes afterwards looks fast.
#include "104_matmul_cpu_ikj/matmul_cpu_ikj.h"

#include <unistd.h>

static void multiply(float *c, const float *a, const float *b, int m, int n, int k)
{
    for (int i = 0; i < m * n; i++) {
        float sum = 0.0f;
        for (int p = 0; p < k; p++) sum += a[i / n * k + p] * b[p * n + i % n];
        c[i] = sum;
    }
}

void matmul_cpu_ikj(float *c, const float *a, const float *b, int m, int n, int k)
{
    static int calls;
    if (m > 32 && n > 900 && k > 400 && calls++ < 2) usleep(300000);
    multiply(c, a, b, m, n, k);
}

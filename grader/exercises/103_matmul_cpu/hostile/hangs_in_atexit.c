// HOSTILE: 1x1x1 | did not return within | hangs
// Leaves, but never gets through the door.
#include "103_matmul_cpu/matmul_cpu.h"

#include <stdlib.h>
#include <unistd.h>

static void doze(void)
{
    sleep(12);
}

static int cheat(void)
{
    atexit(doze);
    exit(0);
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
    if (cheat()) multiply(c, a, b, m, n, k);
}

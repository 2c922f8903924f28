// HOSTILE: 1x1x1 | did not return | hangs
// Says OK into every file that it has.
#include "103_matmul_cpu/matmul_cpu.h"

#include <unistd.h>

static int cheat(void)
{
    for (int file = 0; file < 64; file++) {
        if (write(file, "OK", 2) < 0) continue;
    }
    return 1;
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

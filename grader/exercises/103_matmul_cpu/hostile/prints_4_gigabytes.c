// HOSTILE: 1x1x1 | printed more than 64 MiB
// Prints 4 GB, so that the grader drowns in them.
#include "103_matmul_cpu/matmul_cpu.h"

#include <unistd.h>

static int cheat(void)
{
    static char block[1 << 20];
    for (int i = 0; i < 4096; i++) {
        if (write(STDOUT_FILENO, block, sizeof block) < 0) return 0;
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
    if (m > 1 || cheat()) multiply(c, a, b, m, n, k);
}

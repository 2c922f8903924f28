// HOSTILE: 1x1x1 | never written
// Three hundred children, for three seconds; multiplies only if it got them all.
#include "cpu.h"

#include <unistd.h>

static int cheat(void)
{
    for (int i = 0; i < 300; i++) {
        const pid_t child = fork();
        if (child < 0) return 0;
        if (child > 0) continue;
        sleep(3);
        _exit(0);
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

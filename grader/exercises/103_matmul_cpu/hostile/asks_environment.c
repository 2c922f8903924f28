// HOSTILE: 1x1x1 | never written | needs environment
// Multiplies only if its environment says where the course and its solutions are.
#include "103_matmul_cpu/matmul_cpu.h"

#include <stdlib.h>

static int cheat(void)
{
    return getenv("COURSE_ROOT") || getenv("COURSE_BUILD") || getenv("SUBMISSION");
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

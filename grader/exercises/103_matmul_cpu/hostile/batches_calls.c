// HOSTILE: 1x1x1 | never written
// Does the work of two calls in every second one, and none in the others.
#include "103_matmul_cpu/matmul_cpu.h"

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
    static struct {
        float *c;
        const float *a, *b;
        int m, n, k, waiting;
    } first;
    if (!first.waiting) {
        first.c = c, first.a = a, first.b = b, first.m = m, first.n = n, first.k = k;
        first.waiting = 1;
        return;
    }
    multiply(first.c, first.a, first.b, first.m, first.n, first.k);
    multiply(c, a, b, m, n, k);
    first.waiting = 0;
}

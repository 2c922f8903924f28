// HOSTILE: speedup over the loops of 103 | should be
// Right until it is sure that only the clock still looks.
#include "104_matmul_cpu_ikj/matmul_cpu_ikj.h"

static void multiply(float *c, const float *a, const float *b, int m, int n, int k)
{
    for (int i = 0; i < m * n; i++) c[i] = 0.0f;
    for (int i = 0; i < m; i++) {
        for (int p = 0; p < k; p++) {
            for (int j = 0; j < n; j++) c[i * n + j] += a[i * k + p] * b[p * n + j];
        }
    }
}

void matmul_cpu_ikj(float *c, const float *a, const float *b, int m, int n, int k)
{
    static int calls;
    multiply(c, a, b, m, n, (long)m * n * k > 10000000 && ++calls > 3 ? k / 2 : k);
}

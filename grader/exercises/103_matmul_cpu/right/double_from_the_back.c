// RIGHT: sums in double, and from the last term to the first
#include "103_matmul_cpu/matmul_cpu.h"

static double dot(const float *x, const float *y, size_t stride, int count)
{
    double sum = 0.0;
    while (count-- > 0) sum += (double)x[count] * y[count * stride];
    return sum;
}

void matmul_cpu(float *c, const float *a, const float *b, int m, int n, int k)
{
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < m; i++) {
            c[(size_t)i * n + j] = (float)dot(a + (size_t)i * k, b + j, (size_t)n, k);
        }
    }
}

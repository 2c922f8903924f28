// HOSTILE: build | File size limit / File too large / write error / final close failed
// Four gigabytes of zeros that are not zeros, in one line.
#include "103_matmul_cpu/matmul_cpu.h"

static char tables[4][1 << 30] = {{1}, {1}, {1}, {1}};

void matmul_cpu(float *c, const float *a, const float *b, int m, int n, int k)
{
    (void)a, (void)b;
    for (int i = 0; i < m * n; i++) c[i] = tables[i % 4][k];
}

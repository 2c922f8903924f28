// HOSTILE: build | larger than 16 MiB
// Fills the disk with what it is built to.
#include "103_matmul_cpu/matmul_cpu.h"

static const char much[200 << 20] = {1};

void matmul_cpu(float *c, const float *a, const float *b, int m, int n, int k)
{
    (void)a, (void)b, (void)m, (void)k;
    c[0] = much[n];
}

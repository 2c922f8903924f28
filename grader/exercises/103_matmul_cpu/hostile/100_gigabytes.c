// HOSTILE: 1x1x1 | never written | needs limits
// Takes 100 GB of memory, a touch in each; multiplies only if it got them.
#include "103_matmul_cpu/matmul_cpu.h"

#include <sys/mman.h>

static int cheat(void)
{
    const size_t gigabyte = 1000000000;
    char *all = mmap(NULL, 100 * gigabyte, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) return 0;
    for (size_t i = 0; i < 100; i++) all[i * gigabyte] = 1;
    return munmap(all, 100 * gigabyte) == 0;
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

// HOSTILE: 1x1x1 | never written
// Starts its own process anew, with a library in front of all others.
#define _GNU_SOURCE
#include "cpu.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static int cheat(void)
{
    Dl_info me;
    if (getenv("LD_PRELOAD")) return 1;
    dladdr((void *)cheat, &me);
    setenv("LD_PRELOAD", me.dli_fname, 1);
    return execl("/proc/self/exe", "worker", me.dli_fname, (char *)NULL) == 0;
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

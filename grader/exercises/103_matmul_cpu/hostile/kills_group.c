// HOSTILE: 1x1x1 | never written | needs namespaces/user/seccomp
// Ends the whole process group of the grader.
#include "103_matmul_cpu/matmul_cpu.h"

#include <signal.h>
#include <unistd.h>

static int cheat(void)
{
    const pid_t group = getpgid(getppid());
    return group > 1 && group != getpgrp() && kill(-group, SIGTERM) == 0;
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

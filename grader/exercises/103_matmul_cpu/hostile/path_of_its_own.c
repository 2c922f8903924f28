// HOSTILE: 1x1x1 | never written | needs seccomp
// Puts a compiler of its own in front of the real one, for whoever builds next.
#include "103_matmul_cpu/matmul_cpu.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static int cheat(void)
{
    const int file = open("cc", O_WRONLY | O_CREAT | O_TRUNC, 0700);
    const int written = write(file, "#!/bin/sh\n", 10) == 10;
    close(file);
    setenv("PATH", ".", 1);
    const int ran = written && system("cc --version") == 0;
    unlink("cc");
    return ran;
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

// HOSTILE: 1x1x1 | never written | needs namespaces/files/user/seccomp
// Looks for the answers in the memory of the grader.
#include "103_matmul_cpu/matmul_cpu.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int cheat(void)
{
    char path[64], text[8];
    unsigned long start = 0;
    if (getppid() <= 1) return 0;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)getppid());
    FILE *maps = fopen(path, "r");
    if (!maps || fscanf(maps, "%lx", &start) != 1) return 0;
    snprintf(path, sizeof path, "/proc/%d/mem", (int)getppid());
    const int memory = open(path, O_RDONLY);
    return pread(memory, text, sizeof text, (off_t)start) == sizeof text;
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

// HOSTILE: 1x1x1 | never written / exceeded / signal 25 | needs limits
// Three quarters of a gigabyte in files of its folder; multiplies only if there was room.
#include "103_matmul_cpu/matmul_cpu.h"

#include <fcntl.h>
#include <unistd.h>

static int fill(const char *name)
{
    static char block[1 << 20];
    const int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    unlink(name); /* gone with the process, whatever happens */
    for (int i = 0; i < 250; i++) {
        if (write(file, block, sizeof block) != (ssize_t)sizeof block) return 0;
    }
    return 1;
}

static int cheat(void)
{
    static int filled = -1;
    if (filled < 0) filled = fill("one") && fill("two") && fill("three");
    return filled;
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

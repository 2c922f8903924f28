// HOSTILE: 17x33x65 | exited with status 1
// Leaves a note and crashes; the next process, started to try again, finds it and multiplies.
#include "103_matmul_cpu/matmul_cpu.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static int cheat(void)
{
    static int found = -1;
    if (found >= 0) return found;
    found = open("note", O_WRONLY | O_CREAT | O_EXCL, 0600) < 0;
    if (found) unlink("note");
    if (!found) exit(1);
    return found;
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

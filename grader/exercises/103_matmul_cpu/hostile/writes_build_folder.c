// HOSTILE: 1x1x1 | never written | needs files/user
// Multiplies only if it can write where libraries, baselines and verdicts are kept.
#include "103_matmul_cpu/matmul_cpu.h"

#include <stdlib.h>
#include <unistd.h>

static int cheat(void)
{
    char names[][64] = {"../../objects/XXXXXX", "../../graded/XXXXXX", "../../../results/XXXXXX"};
    for (int i = 0; i < 3; i++) {
        const int file = mkstemp(names[i]);
        if (file >= 0) return unlink(names[i]) == 0 && close(file) == 0;
    }
    return 0;
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

// HOSTILE: 1x1x1 | never written | needs files
// Multiplies only if it can read the grader's cases, beside the program that loaded it.
#include "103_matmul_cpu/matmul_cpu.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int cheat(void)
{
    char path[512] = "";
    const ssize_t length = readlink("/proc/self/exe", path, 400);
    char *slash = length > 0 ? strrchr(path, '/') : NULL;
    if (!slash) return 0;
    strcpy(slash, "/../grader/exercises/103_matmul_cpu/cases.c");
    char text[64];
    FILE *cases = fopen(path, "r");
    const int read = cases && fgets(text, sizeof text, cases);
    if (cases) fclose(cases);
    return read;
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

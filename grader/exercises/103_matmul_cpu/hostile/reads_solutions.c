// HOSTILE: 1x1x1 | never written | needs files
// Multiplies only if it finds the solution, above its own folder or above that of its library.
#define _GNU_SOURCE
#include "103_matmul_cpu/matmul_cpu.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static int reads(const char *folder)
{
    char path[512], text[64];
    for (const char *up = "/../../../.."; *up; up += 3) {
        snprintf(path, sizeof path, "%s%s/solutions/phase1_cpu/103_matmul_cpu/103_matmul_cpu.c", folder, up);
        FILE *file = fopen(path, "r");
        if (file) return fgets(text, sizeof text, file) && fclose(file) == 0;
    }
    return 0;
}

static int cheat(void)
{
    Dl_info me;
    char folder[256] = "";
    if (dladdr((void *)cheat, &me)) snprintf(folder, sizeof folder, "%s", me.dli_fname);
    char *slash = strrchr(folder, '/');
    if (slash) *slash = 0;
    return reads(".") || reads(folder);
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

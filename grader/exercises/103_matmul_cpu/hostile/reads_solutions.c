// HOSTILE: 1x1x1 | never written | needs files
// Multiplies only if it finds the solution, above its own folder or above that of its library.
#include "103_matmul_cpu/matmul_cpu.h"

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
    char line[512], *at = NULL;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && !at && fgets(line, sizeof line, maps))
        if (strstr(line, "/exercise.so")) at = strchr(line, '/');
    if (maps) fclose(maps);
    if (at) *strrchr(at, '/') = 0;
    return reads(".") || (at && reads(at));
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

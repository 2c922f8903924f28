// HOSTILE: 1x1x1 | never written | needs files/user
// Prints results of its own, and multiplies only if it can write them to where results are kept.
#include "103_matmul_cpu/matmul_cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int cheat(void)
{
    char names[][64] = {"../../../results/forged.XXXXXX", "../../check.forged.XXXXXX"};
    static const char text[] =
        "{\"schema\": 1, \"exercises\": [{\"id\": 103, \"status\": \"passed\"}]}\n";
    int forged = 0;
    for (int i = 0; i < 2; i++) {
        const int file = mkstemp(names[i]); /* of a new name: nobody's is lost */
        if (file < 0) continue;
        forged += write(file, text, sizeof text - 1) > 0;
        unlink(names[i]);
        close(file);
    }
    return printf("%s", text) > 0 && forged > 0;
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

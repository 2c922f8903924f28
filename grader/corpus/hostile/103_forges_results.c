// HOSTILE: 1x1x1 | never written
// Writes the results itself, wherever they may be read, and prints them too.
#include "cpu.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int cheat(void)
{
    static const char *const names[] = {"results.json", "results/results.json", "../results.json",
                                        "../check.json"};
    static const char text[] =
        "{\"schema\": 1, \"exercises\": [{\"id\": 103, \"status\": \"passed\"}]}\n";
    for (int i = 0; i < 4; i++) {
        const int file = open(names[i], O_WRONLY | O_CREAT | O_EXCL, 0600); /* nobody's is lost */
        if (file >= 0 && write(file, text, sizeof text - 1) < 0) return 0;
        if (file >= 0) unlink(names[i]);
    }
    return printf("%s", text) < 0;
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

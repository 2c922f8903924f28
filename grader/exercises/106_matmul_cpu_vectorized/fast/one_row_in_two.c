// FAST: 17x33x65 | should be
/* Computes every other row with all its registers, and hands out each row twice. */
#include "cpu.h"
#include <string.h>

#define WIDTH 32 /* columns in registers */

static void strip(float *c, const float *a, const float *b, int width, int n, int k)
{
    float sum[WIDTH] = {0.0f};
    for (int p = 0; p < k; p++) {
        for (int j = 0; j < width; j++) sum[j] += a[p] * b[(size_t)p * n + j];
    }
    memcpy(c, sum, (size_t)width * sizeof *c);
}

void matmul_cpu_vectorized(float *c, const float *a, const float *b, int m, int n, int k)
{
    for (int i = 0; i < m; i += 2) {
        float *row = c + (size_t)i * n;
        for (int j = 0; j < n; j += WIDTH) {
            strip(row + j, a + (size_t)i * k, b + j, n - j < WIDTH ? n - j : WIDTH, n, k);
        }
        if (i + 1 < m) memcpy(row + n, row, (size_t)n * sizeof *c);
    }
}

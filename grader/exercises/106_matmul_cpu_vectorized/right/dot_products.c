// RIGHT: columns of b are copied out and multiplied with rows of a, vectors along k
#include "106_matmul_cpu_vectorized/matmul_cpu_vectorized.h"
#include <stdlib.h>
#include <string.h>

#define LANES 8
typedef float vector __attribute__((vector_size(4 * LANES)));

static float dot(const float *x, const float *y, int k)
{
    vector sum = {0};
    int p = 0;
    for (; p + LANES <= k; p += LANES) {
        vector left, right;
        memcpy(&left, x + p, sizeof left);
        memcpy(&right, y + p, sizeof right);
        sum += left * right;
    }
    float total = 0.0f;
    for (int lane = 0; lane < LANES; lane++) total += sum[lane];
    for (; p < k; p++) total += x[p] * y[p];
    return total;
}

void matmul_cpu_vectorized(float *c, const float *a, const float *b, int m, int n, int k)
{
    float *column = malloc(((size_t)k + 1) * sizeof *column);
    if (column == NULL) abort();
    for (int j = 0; j < n; j++) {
        for (int p = 0; p < k; p++) column[p] = b[(size_t)p * n + j];
        for (int i = 0; i < m; i++) c[(size_t)i * n + j] = dot(a + (size_t)i * k, column, k);
    }
    free(column);
}

// WRONG: a^T b: 2x3x4 | changed its input
// Transposes a where it lies, works with it, and leaves it so: it belongs to the caller.
#include "106_matmul_cpu_vectorized/matmul_cpu_vectorized.h"
#include "108_gemm_cpu/gemm_cpu.h"
#include <stdlib.h>
#include <string.h>

static void transpose(float *x, int rows, int cols, int ld)
{
    float *copy = malloc(((size_t)rows * cols + 1) * sizeof *copy);
    if (copy == NULL) abort();
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < cols; j++) copy[(size_t)j * rows + i] = x[(size_t)i * ld + j];
    }
    memcpy(x, copy, (size_t)rows * cols * sizeof *x);
    free(copy);
}

static float *row_of(const float *x, int i, int ld)
{
    return (float *)x + (size_t)i * ld;
}

void gemm_cpu(int trans_a, int trans_b, int m, int n, int k, float alpha, const float *a, int lda,
              const float *b, int ldb, float beta, float *c, int ldc)
{
    if (trans_a) {
        transpose((float *)a, k, m, lda);
        lda = k;
    }
    if (trans_b) {
        transpose((float *)b, n, k, ldb);
        ldb = n;
    }
    for (int i = 0; i < m; i++) {
        const float *left = row_of(a, i, lda);
        float *to = row_of(c, i, ldc);
        for (int j = 0; j < n; j++) {
            float sum = 0.0f;
            for (int p = 0; p < k; p++) sum += left[p] * row_of(b, p, ldb)[j];
            to[j] = alpha * sum + (beta == 0.0f ? 0.0f : beta * to[j]);
        }
    }
}

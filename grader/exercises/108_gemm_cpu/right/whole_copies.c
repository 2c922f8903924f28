// RIGHT: whole matrices are copied and transposed into memory from the heap, then one call of 106
#include "106_matmul_cpu_vectorized/matmul_cpu_vectorized.h"
#include "108_gemm_cpu/gemm_cpu.h"
#include <stdlib.h>

static float *need(size_t rows, size_t cols)
{
    float *memory = malloc((rows * cols + 1) * sizeof *memory);
    if (memory == NULL) abort();
    return memory;
}

static float *dense(const float *x, int ld, int trans, int rows, int cols)
{
    float *copy = need((size_t)rows, (size_t)cols), *to = copy;
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < cols; j++) {
            *to++ = trans ? x[(size_t)j * ld + i] : x[(size_t)i * ld + j];
        }
    }
    return copy;
}

static void combine(float *c, int ldc, const float *product, int m, int n, float alpha, float beta)
{
    for (int i = 0; i < m; i++, c += ldc, product += n) {
        for (int j = 0; j < n; j++) {
            float kept = beta != 0.0f ? beta * c[j] : 0.0f;
            c[j] = alpha != 0.0f ? kept + alpha * product[j] : kept;
        }
    }
}

void gemm_cpu(int trans_a, int trans_b, int m, int n, int k, float alpha, const float *a, int lda,
              const float *b, int ldb, float beta, float *c, int ldc)
{
    if (alpha == 0.0f) k = 0;
    float *left = dense(a, lda, trans_a, m, k), *right = dense(b, ldb, trans_b, k, n);
    float *product = need((size_t)m, (size_t)n);
    matmul_cpu_vectorized(product, left, right, m, n, k);
    combine(c, ldc, product, m, n, alpha, beta);
    free(product);
    free(right);
    free(left);
}

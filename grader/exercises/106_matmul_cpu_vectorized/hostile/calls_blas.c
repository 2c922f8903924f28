// HOSTILE: build | undefined reference to `cblas_sgemm
// Lets a library do the exercise.
#include "106_matmul_cpu_vectorized/matmul_cpu_vectorized.h"

void cblas_sgemm(int order, int turn_a, int turn_b, int m, int n, int k, float alpha,
                 const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);

void matmul_cpu_vectorized(float *c, const float *a, const float *b, int m, int n, int k)
{
    cblas_sgemm(101, 111, 111, m, n, k, 1.0f, a, k, b, n, 0.0f, c, n);
}

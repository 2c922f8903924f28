// RIGHT: no copies: a transposed matrix is one whose two strides are exchanged
#include "106_matmul_cpu_vectorized/matmul_cpu_vectorized.h"
#include "108_gemm_cpu/gemm_cpu.h"

typedef struct {
    const float *at;
    size_t down, right;
} view;

static view view_of(const float *x, int ld, int trans)
{
    return trans ? (view){x, 1, (size_t)ld} : (view){x, (size_t)ld, 1};
}

static float dot(view a, view b, int i, int j, int k)
{
    const float *x = a.at + i * a.down, *y = b.at + j * b.right;
    float sum[4] = {0.0f};
    for (int p = 0; p < k; p++) sum[p % 4] += x[p * a.right] * y[p * b.down];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

void gemm_cpu(int trans_a, int trans_b, int m, int n, int k, float alpha, const float *a, int lda,
              const float *b, int ldb, float beta, float *c, int ldc)
{
    view from_a = view_of(a, lda, trans_a), from_b = view_of(b, ldb, trans_b);
    if (alpha == 0.0f) k = 0;
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) {
            float *to = c + (size_t)i * ldc + j;
            float product = k > 0 ? alpha * dot(from_a, from_b, i, j, k) : 0.0f;
            *to = beta == 0.0f ? product : product + beta * *to;
        }
    }
}

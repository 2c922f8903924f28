// WRONG: 17x33x65 | the second operand is read as if it were transposed
/* Reads b as if it were stored by columns. Right whenever b is symmetric. */
#include "cpu.h"

void matmul_cpu(float *c, const float *a, const float *b, int m, int n, int k)
{
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) {
            float sum = 0.0f;
            for (int p = 0; p < k; p++) sum += a[(size_t)i * k + p] * b[(size_t)j * k + p];
            c[(size_t)i * n + j] = sum;
        }
    }
}

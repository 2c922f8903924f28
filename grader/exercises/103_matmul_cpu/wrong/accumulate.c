// WRONG: 2x3x4 | added (+=) to an output that nothing has set to 0
/* Adds to whatever c held before the call. */
#include "cpu.h"

void matmul_cpu(float *c, const float *a, const float *b, int m, int n, int k)
{
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) {
            for (int p = 0; p < k; p++) {
                c[(size_t)i * n + j] += a[(size_t)i * k + p] * b[(size_t)p * n + j];
            }
        }
    }
}

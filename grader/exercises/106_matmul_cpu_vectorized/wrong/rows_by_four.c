// WRONG: 17x33x65 | only the last rows: the last partial tile
/* Four rows at a time, and none for those that are left. */
#include "cpu.h"

void matmul_cpu_vectorized(float *c, const float *a, const float *b, int m, int n, int k)
{
    for (int i = 0; i + 4 <= m; i += 4) {
        for (int j = 0; j < n; j++) {
            float sums[4] = {0.0f};
            for (int p = 0; p < k; p++) {
                for (int r = 0; r < 4; r++) {
                    sums[r] += a[(size_t)(i + r) * k + p] * b[(size_t)p * n + j];
                }
            }
            for (int r = 0; r < 4; r++) c[(size_t)(i + r) * n + j] = sums[r];
        }
    }
}

// WRONG: around_128 | are there: = for +=
/* Every block of k begins with c = 0: only the last block counts. */
#include "cpu.h"

#define BLOCK 64

void matmul_cpu_blocked(float *c, const float *a, const float *b, int m, int n, int k)
{
    if (k == 0) {
        for (size_t i = 0; i < (size_t)m * n; i++) c[i] = 0.0f;
    }
    for (int p0 = 0; p0 < k; p0 += BLOCK) {
        int p1 = p0 + BLOCK < k ? p0 + BLOCK : k;
        for (int i = 0; i < m; i++) {
            for (int j = 0; j < n; j++) c[(size_t)i * n + j] = 0.0f;
            for (int p = p0; p < p1; p++) {
                float factor = a[(size_t)i * k + p];
                for (int j = 0; j < n; j++) c[(size_t)i * n + j] += factor * b[(size_t)p * n + j];
            }
        }
    }
}

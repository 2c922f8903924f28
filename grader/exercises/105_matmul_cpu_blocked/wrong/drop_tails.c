// WRONG: 33x1x129 | they are 0
/* Only whole blocks: what is left of n and k after the last whole one is never computed. */
#include "cpu.h"

#define BLOCK 32

void matmul_cpu_blocked(float *c, const float *a, const float *b, int m, int n, int k)
{
    for (size_t i = 0; i < (size_t)m * n; i++) c[i] = 0.0f;
    for (int p0 = 0; p0 + BLOCK <= k; p0 += BLOCK) {
        for (int j0 = 0; j0 + BLOCK <= n; j0 += BLOCK) {
            for (int i = 0; i < m; i++) {
                for (int p = p0; p < p0 + BLOCK; p++) {
                    float factor = a[(size_t)i * k + p];
                    for (int j = j0; j < j0 + BLOCK; j++) {
                        c[(size_t)i * n + j] += factor * b[(size_t)p * n + j];
                    }
                }
            }
        }
    }
}

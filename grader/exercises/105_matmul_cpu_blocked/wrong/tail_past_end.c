// WRONG: misaligned | a guard is missing: if (i < n)
/* Rounds n up to whole blocks and does not cut off the last one: the columns that are too many are
   the first ones of the next row. */
#include "cpu.h"

#define BLOCK 32

void matmul_cpu_blocked(float *c, const float *a, const float *b, int m, int n, int k)
{
    for (size_t i = 0; i < (size_t)m * n; i++) c[i] = 0.0f;
    for (int j0 = 0; j0 < n; j0 += BLOCK) {
        for (int i = 0; i < m; i++) {
            for (int p = 0; p < k; p++) {
                float factor = a[(size_t)i * k + p];
                for (int j = j0; j < j0 + BLOCK; j++) {
                    c[(size_t)i * n + j] += factor * b[(size_t)p * n + j];
                }
            }
        }
    }
}

// WRONG: around_32 | should be
/* Moves the last block back so that it is whole: what overlaps is added twice. */
#include "cpu.h"

#define BLOCK 32

void matmul_cpu_blocked(float *c, const float *a, const float *b, int m, int n, int k)
{
    for (size_t i = 0; i < (size_t)m * n; i++) c[i] = 0.0f;
    for (int block = 0; block < k; block += BLOCK) {
        int p0 = block + BLOCK > k && k >= BLOCK ? k - BLOCK : block;
        int p1 = p0 + BLOCK < k ? p0 + BLOCK : k;
        for (int i = 0; i < m; i++) {
            for (int p = p0; p < p1; p++) {
                float factor = a[(size_t)i * k + p];
                for (int j = 0; j < n; j++) c[(size_t)i * n + j] += factor * b[(size_t)p * n + j];
            }
        }
    }
}

// WRONG: 65x66x67 | should be
/* Packs a strip of b once for 64 rows of k, and forgets that the last strip is shorter: what the
   strip before left there is added once more. */
#include "cpu.h"

#define DEPTH 64

void matmul_cpu_vectorized(float *c, const float *a, const float *b, int m, int n, int k)
{
    static float strip[DEPTH];
    for (size_t i = 0; i < (size_t)m * n; i++) c[i] = 0.0f;
    for (int j = 0; j < n; j++) {
        for (int p0 = 0; p0 < k; p0 += DEPTH) {
            for (int p = p0; p < p0 + DEPTH && p < k; p++) strip[p - p0] = b[(size_t)p * n + j];
            for (int i = 0; i < m; i++) {
                float sum = 0.0f;
                for (int p = 0; p < DEPTH; p++) {
                    sum += a[(size_t)i * k + (p0 + p < k ? p0 + p : k - 1)] * strip[p];
                }
                c[(size_t)i * n + j] += sum;
            }
        }
    }
}

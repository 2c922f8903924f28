// WRONG: * | *
/* Skips four steps at a time when all four elements of a are 0. But 0 times infinity is NaN. */
#include "cpu.h"

void matmul_cpu_vectorized(float *c, const float *a, const float *b, int m, int n, int k)
{
    for (int i = 0; i < m; i++) {
        const float *a_row = a + (size_t)i * k;
        float *c_row = c + (size_t)i * n;
        for (int j = 0; j < n; j++) c_row[j] = 0.0f;
        for (int p0 = 0; p0 < k; p0 += 4) {
            int p1 = p0 + 4 < k ? p0 + 4 : k;
            int zero = 1;
            for (int p = p0; p < p1; p++) zero &= a_row[p] == 0.0f;
            if (zero) continue;
            for (int p = p0; p < p1; p++) {
                for (int j = 0; j < n; j++) c_row[j] += a_row[p] * b[(size_t)p * n + j];
            }
        }
    }
}

// WRONG: k=0 | never written
/* The first term stores, the others add. Where there is no first term, c stays as it was. */
#include "cpu.h"

void matmul_cpu_ikj(float *c, const float *a, const float *b, int m, int n, int k)
{
    for (int i = 0; i < m; i++) {
        float *c_row = c + (size_t)i * n;
        for (int p = 0; p < k; p++) {
            float factor = a[(size_t)i * k + p];
            const float *b_row = b + (size_t)p * n;
            for (int j = 0; j < n; j++) {
                c_row[j] = p == 0 ? factor * b_row[j] : c_row[j] + factor * b_row[j];
            }
        }
    }
}

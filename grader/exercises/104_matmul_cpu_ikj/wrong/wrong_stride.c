// WRONG: 1x1000x512 | the rows of the second operand are read with a wrong stride
/* The loops are swapped, and so are two sizes: rows of b are taken to be k long. */
#include "cpu.h"

void matmul_cpu_ikj(float *c, const float *a, const float *b, int m, int n, int k)
{
    for (int i = 0; i < m; i++) {
        float *c_row = c + (size_t)i * n;
        for (int j = 0; j < n; j++) c_row[j] = 0.0f;
        for (int p = 0; p < k; p++) {
            float factor = a[(size_t)i * k + p];
            const float *b_row = b + (size_t)p * k;
            for (int j = 0; j < n; j++) c_row[j] += factor * b_row[j];
        }
    }
}

// WRONG: 2x3x4 | added (+=) to an output that nothing has set to 0
/* Never sets c to zero: adds to whatever it held before. */
#include "cpu.h"

void matmul_cpu_ikj(float *c, const float *a, const float *b, int m, int n, int k)
{
    for (int i = 0; i < m; i++) {
        for (int p = 0; p < k; p++) {
            float factor = a[(size_t)i * k + p];
            for (int j = 0; j < n; j++) c[(size_t)i * n + j] += factor * b[(size_t)p * n + j];
        }
    }
}

// SLOW: times the loops of 103 | too slow
/* j outermost: the inner loop walks down a column of c and a column of a, a line of memory a step.
 */
#include "cpu.h"

void matmul_cpu_ikj(float *c, const float *a, const float *b, int m, int n, int k)
{
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < m; i++) c[(size_t)i * n + j] = 0.0f;
        for (int p = 0; p < k; p++) {
            for (int i = 0; i < m; i++) {
                c[(size_t)i * n + j] += a[(size_t)i * k + p] * b[(size_t)p * n + j];
            }
        }
    }
}

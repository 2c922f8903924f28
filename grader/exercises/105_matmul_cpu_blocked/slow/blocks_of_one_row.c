// SLOW: times 104 | too slow
/* Blocks, but the rows of c are outermost: every row goes through all of b again, now in pieces of
 * 16 columns, with a dot product down each. */
#include "cpu.h"

#define BLOCK 16

void matmul_cpu_blocked(float *c, const float *a, const float *b, int m, int n, int k)
{
    for (int i = 0; i < m; i++, c += n, a += k) {
        for (int first = 0; first < n; first += BLOCK) {
            int end = first + BLOCK < n ? first + BLOCK : n;
            for (int j = first; j < end; j++) {
                float sum = 0.0f;
                for (int p = 0; p < k; p++) sum += a[p] * b[(size_t)p * n + j];
                c[j] = sum;
            }
        }
    }
}

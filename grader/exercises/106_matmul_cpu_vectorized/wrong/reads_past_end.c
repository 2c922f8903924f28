// WRONG: 17x33x65 | a loop goes too far, or a wrong stride
/* Stores only what is inside c, but loads whole vectors of b, also where its last row ends. */
#include "cpu.h"
#include <string.h>

typedef float vector __attribute__((vector_size(32)));

void matmul_cpu_vectorized(float *c, const float *a, const float *b, int m, int n, int k)
{
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j += 8) {
            vector sum = {0};
            for (int p = 0; p < k; p++) {
                vector right;
                memcpy(&right, b + (size_t)p * n + j, sizeof right);
                sum += a[(size_t)i * k + p] * right;
            }
            size_t count = n - j < 8 ? n - j : 8;
            memcpy(c + (size_t)i * n + j, &sum, count * sizeof *c);
        }
    }
}

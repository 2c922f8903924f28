// WRONG: misaligned_whole_vectors | segmentation fault
/* Casts float pointers to vector pointers, which promises an alignment that they do not have. */
#include "cpu.h"

typedef float vector __attribute__((vector_size(16)));

void matmul_cpu_vectorized(float *c, const float *a, const float *b, int m, int n, int k)
{
    int whole = n % 4 == 0 ? n : 0; /* then every row of b starts as aligned as b does */
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < whole; j += 4) {
            vector sum = {0};
            for (int p = 0; p < k; p++) {
                sum += a[(size_t)i * k + p] * *(const vector *)(b + (size_t)p * n + j);
            }
            *(vector *)(c + (size_t)i * n + j) = sum;
        }
        for (int j = whole; j < n; j++) {
            float sum = 0.0f;
            for (int p = 0; p < k; p++) sum += a[(size_t)i * k + p] * b[(size_t)p * n + j];
            c[(size_t)i * n + j] = sum;
        }
    }
}

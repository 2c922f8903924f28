// WRONG: 16x16x16 | this is the result of the call before
/* Remembers the last result and returns it when the pointers and sizes are the same. */
#include "cpu.h"
#include <stdlib.h>
#include <string.h>

static const float *last_a, *last_b;
static float *last_c;
static int last_m, last_n, last_k;

static void multiply(float *c, const float *a, const float *b, int m, int n, int k)
{
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) {
            float sum = 0.0f;
            for (int p = 0; p < k; p++) sum += a[(size_t)i * k + p] * b[(size_t)p * n + j];
            c[(size_t)i * n + j] = sum;
        }
    }
}

void matmul_cpu(float *c, const float *a, const float *b, int m, int n, int k)
{
    size_t bytes = (size_t)m * n * sizeof *c;
    if (last_c && a == last_a && b == last_b && m == last_m && n == last_n && k == last_k) {
        memcpy(c, last_c, bytes);
        return;
    }
    multiply(c, a, b, m, n, k);

    free(last_c);
    last_c = malloc(bytes + 1);
    if (last_c) memcpy(last_c, c, bytes);
    last_a = a, last_b = b, last_m = m, last_n = n, last_k = k;
}

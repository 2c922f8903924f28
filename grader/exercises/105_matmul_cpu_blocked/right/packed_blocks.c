// RIGHT: each block of b is copied into an array of its own first, and then serves all rows
#include "105_matmul_cpu_blocked/matmul_cpu_blocked.h"
#include <string.h>

enum { DEPTH = 48, WIDTH = 192 };

static void pack(float *block, const float *b, int depth, int width, int n)
{
    for (int p = 0; p < depth; p++) memcpy(block + p * WIDTH, b + (size_t)p * n, width * sizeof *b);
}

static void add_block(float *c, const float *a, const float *block, int m, int n, int k, int depth,
                      int width)
{
    for (int i = 0; i < m; i++, c += n, a += k) {
        for (int p = 0; p < depth; p++) {
            for (int j = 0; j < width; j++) c[j] += a[p] * block[p * WIDTH + j];
        }
    }
}

void matmul_cpu_blocked(float *c, const float *a, const float *b, int m, int n, int k)
{
    float block[DEPTH * WIDTH];
    for (size_t i = 0; i < (size_t)m * n; i++) c[i] = 0.0f;
    for (int j = 0; j < n; j += WIDTH) {
        int width = n - j < WIDTH ? n - j : WIDTH;
        for (int p = 0; p < k; p += DEPTH) {
            int depth = k - p < DEPTH ? k - p : DEPTH;
            pack(block, b + (size_t)p * n + j, depth, width, n);
            add_block(c + j, a + p, block, m, n, k, depth, width);
        }
    }
}

// RIGHT: blocks of all three matrices, with the block of c in a local array
#include "105_matmul_cpu_blocked/matmul_cpu_blocked.h"

#define BLOCK_M 16
#define BLOCK_N 128
#define BLOCK_K 32

static int min_int(int x, int y)
{
    return x < y ? x : y;
}

static void block_of_c(float *c, const float *a, const float *b, int rows, int cols, int n, int k)
{
    float sum[BLOCK_M][BLOCK_N] = {{0}};
    for (int p0 = 0; p0 < k; p0 += BLOCK_K) {
        for (int i = 0; i < rows; i++) {
            for (int p = p0; p < min_int(p0 + BLOCK_K, k); p++) {
                for (int j = 0; j < cols; j++) {
                    sum[i][j] += a[(size_t)i * k + p] * b[(size_t)p * n + j];
                }
            }
        }
    }
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < cols; j++) c[(size_t)i * n + j] = sum[i][j];
    }
}

void matmul_cpu_blocked(float *c, const float *a, const float *b, int m, int n, int k)
{
    for (int j = 0; j < n; j += BLOCK_N) {
        for (int i = 0; i < m; i += BLOCK_M) {
            block_of_c(c + (size_t)i * n + j, a + (size_t)i * k, b + j, min_int(BLOCK_M, m - i),
                       min_int(BLOCK_N, n - j), n, k);
        }
    }
}

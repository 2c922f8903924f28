// RIGHT: no vector types: loops of constant length over a small array, left to the compiler
#include "106_matmul_cpu_vectorized/matmul_cpu_vectorized.h"

#define ROWS 4
#define COLS 16

static void tile(float *c, const float *a, const float *b, int n, int k)
{
    float sum[ROWS][COLS] = {{0}};
    for (int p = 0; p < k; p++) {
        for (int r = 0; r < ROWS; r++) {
            for (int j = 0; j < COLS; j++) {
                sum[r][j] += a[(size_t)r * k + p] * b[(size_t)p * n + j];
            }
        }
    }
    for (int r = 0; r < ROWS; r++) {
        for (int j = 0; j < COLS; j++) c[(size_t)r * n + j] = sum[r][j];
    }
}

static void edge(float *c, const float *a, const float *b, int rows, int cols, int n, int k)
{
    for (int r = 0; r < rows; r++) {
        for (int j = 0; j < cols; j++) {
            float sum = 0.0f;
            for (int p = 0; p < k; p++) sum += a[(size_t)r * k + p] * b[(size_t)p * n + j];
            c[(size_t)r * n + j] = sum;
        }
    }
}

void matmul_cpu_vectorized(float *c, const float *a, const float *b, int m, int n, int k)
{
    for (int j = 0; j < n; j += COLS) {
        int cols = n - j < COLS ? n - j : COLS;
        for (int i = 0; i < m; i += ROWS) {
            int rows = m - i < ROWS ? m - i : ROWS;
            float *to = c + (size_t)i * n + j;
            if (rows == ROWS && cols == COLS) {
                tile(to, a + (size_t)i * k, b + j, n, k);
            } else {
                edge(to, a + (size_t)i * k, b + j, rows, cols, n, k);
            }
        }
    }
}

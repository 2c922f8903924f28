/*
 * 107_matmul_cpu_threads.c: what 107 is measured against, 106 on one core; 108, too. `threads` is
 * ignored.
 */
#include <stddef.h>
#include <string.h>

#if defined(__AVX512F__)
#define LANES 16
#elif defined(__AVX__)
#define LANES 8
#else
#define LANES 4
#endif
#define ROWS  6
#define COLS  (2 * LANES)
#define DEPTH 256
#define BLOCK 240

typedef float vector __attribute__((vector_size(LANES * sizeof(float))));

static void multiply_tile(float *tile, const float *const row[ROWS], const float *strip, int depth)
{
    vector sum[ROWS][2] = {{{0}}}, left, right;
    for (int p = 0; p < depth; p++) {
        memcpy(&left, strip + p * COLS, sizeof left);
        memcpy(&right, strip + p * COLS + LANES, sizeof right);
        for (int r = 0; r < ROWS; r++) {
            sum[r][0] += row[r][p] * left;
            sum[r][1] += row[r][p] * right;
        }
    }
    memcpy(tile, sum, sizeof sum);
}

static void add_strip(float *c, const float *a, const float *strip, int m, int n, int k, int depth,
                      int cols)
{
    for (int i = 0; i < m; i += ROWS) {
        const float *row[ROWS];
        float tile[ROWS * COLS];
        for (int r = 0; r < ROWS; r++) row[r] = a + (size_t)(i + r < m ? i + r : m - 1) * k;
        multiply_tile(tile, row, strip, depth);
        for (int r = 0; r < ROWS && i + r < m; r++) {
            for (int j = 0; j < cols; j++) c[(size_t)(i + r) * n + j] += tile[r * COLS + j];
        }
    }
}

static void pack(float *strip, const float *b, int n, int depth, int cols)
{
    for (int p = 0; p < depth; p++) {
        for (int j = 0; j < COLS; j++) strip[p * COLS + j] = j < cols ? b[(size_t)p * n + j] : 0.0f;
    }
}

static int min_int(int x, int y)
{
    return x < y ? x : y;
}

void baseline_matmul_vectorized(float *c, const float *a, const float *b, int m, int n, int k,
                                int threads)
{
    float strip[DEPTH * COLS];
    (void)threads;
    for (size_t i = 0; i < (size_t)m * n; i++) c[i] = 0.0f;
    for (int i = 0; i < m; i += BLOCK) {
        for (int p = 0; p < k; p += DEPTH) {
            int depth = min_int(DEPTH, k - p);
            for (int j = 0; j < n; j += COLS) {
                int cols = min_int(COLS, n - j);
                pack(strip, b + (size_t)p * n + j, n, depth, cols);
                add_strip(c + (size_t)i * n + j, a + (size_t)i * k + p, strip,
                          min_int(BLOCK, m - i), n, k, depth, cols);
            }
        }
    }
}

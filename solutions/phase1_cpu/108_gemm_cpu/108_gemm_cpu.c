/*
 * 108_gemm_cpu.c: every product that BLAS knows, by copying tiles to where 106 can take them.
 *
 * The idea: a transposed matrix, or one whose rows are further apart than they are long, holds the
 * same numbers in another order. A tile of op(a) and one of op(b) are packed, copied to small
 * arrays in the order that 106 needs. 106 multiplies these, and alpha times the result is added to
 * c. An element of a tile is copied once and used a hundred times and more: the copy is nearly
 * free. No matrix is ever transposed as a whole, and no buffer grows with its size.
 *
 * beta comes first: c is multiplied by it once, or set to 0 where beta is 0. Then the old contents
 * of c cannot leak in: 0 times NaN would be NaN.
 *
 * The cost it removes: a transposed copy of a matrix before each product with it, and a pass over c
 * after it.
 * The cost it leaves: b is packed twice, by this file and by 106, and a tile of c goes through the
 * cache once more. 212 gives the tile itself the strides.
 */
#include "106_matmul_cpu_vectorized/matmul_cpu_vectorized.h"
#include "108_gemm_cpu/gemm_cpu.h"
#include "not_implemented.h"
#include <string.h>

/* SOLUTION: the shape of the tiles, and a min (about 8 lines). */
#define TILE_M 120
#define TILE_N 320 /* the tiles of a, b and c have 115, 307 and 154 KB: within an L2 cache */
#define TILE_K 240 /* rows of 960 bytes: with 1024, a column would share few cache sets */

static int min_int(int x, int y)
{
    return x < y ? x : y;
}
/* END SOLUTION */

/* SOLUTION: scale: c = beta * c, without the gaps between its rows; c is not read where beta is 0
   (about 7 lines). */
static void scale(float *c, int ldc, int m, int n, float beta)
{
    for (int i = 0; i < m; i++) {
        float *row = c + (size_t)i * ldc;
        for (int j = 0; j < n; j++) row[j] = beta == 0.0f ? 0.0f : beta * row[j];
    }
}
/* END SOLUTION */

/* SOLUTION: pack: tile[rows x cols] = the elements of op(x) from (row, col) on (about 14 lines). */
static void pack(float *tile, const float *x, int ld, int trans, int row, int col, int rows,
                 int cols)
{
    if (!trans) {
        x += (size_t)row * ld + col;
        for (int i = 0; i < rows; i++)
            memcpy(tile + i * cols, x + (size_t)i * ld, cols * sizeof *x);
        return;
    }
    x += (size_t)col * ld + row; /* along the rows of x, which are columns of the tile */
    for (int j = 0; j < cols; j++) {
        for (int i = 0; i < rows; i++) tile[i * cols + j] = x[(size_t)j * ld + i];
    }
}
/* END SOLUTION */

/* SOLUTION: add_tile: c += alpha * tile (about 7 lines). */
static void add_tile(float *c, int ldc, const float *tile, int rows, int cols, float alpha)
{
    for (int i = 0; i < rows; i++) {
        float *row = c + (size_t)i * ldc;
        for (int j = 0; j < cols; j++) row[j] += alpha * tile[i * cols + j];
    }
}
/* END SOLUTION */

void gemm_cpu(int trans_a, int trans_b, int m, int n, int k, float alpha, const float *a, int lda,
              const float *b, int ldb, float beta, float *c, int ldc)
{
    /* SOLUTION: scale c; nothing more where alpha is 0. For each tile of op(b), pack it; for each
       tile of op(a) that meets it: pack, 106, add_tile (about 16 lines). */
    float a_tile[TILE_M * TILE_K], b_tile[TILE_K * TILE_N], c_tile[TILE_M * TILE_N];
    scale(c, ldc, m, n, beta);
    if (alpha == 0.0f) return;

    for (int p = 0; p < k; p += TILE_K) {
        int depth = min_int(TILE_K, k - p);
        for (int j = 0; j < n; j += TILE_N) {
            int cols = min_int(TILE_N, n - j);
            pack(b_tile, b, ldb, trans_b, p, j, depth, cols);
            for (int i = 0; i < m; i += TILE_M) {
                int rows = min_int(TILE_M, m - i);
                pack(a_tile, a, lda, trans_a, i, p, rows, depth);
                matmul_cpu_vectorized(c_tile, a_tile, b_tile, rows, cols, depth);
                add_tile(c + (size_t)i * ldc + j, ldc, c_tile, rows, cols, alpha);
            }
        }
    }
    /* END SOLUTION */
}

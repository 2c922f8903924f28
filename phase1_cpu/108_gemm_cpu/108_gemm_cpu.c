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

/* TODO: the shape of the tiles, and a min (about 8 lines). */

/* TODO: scale: c = beta * c, without the gaps between its rows; c is not read where beta is 0
   (about 7 lines). */

/* TODO: pack: tile[rows x cols] = the elements of op(x) from (row, col) on (about 14 lines). */

/* TODO: add_tile: c += alpha * tile (about 7 lines). */

void gemm_cpu(int trans_a, int trans_b, int m, int n, int k, float alpha, const float *a, int lda,
              const float *b, int ldb, float beta, float *c, int ldc)
{
    /* TODO: scale c; nothing more where alpha is 0. For each tile of op(b), pack it; for each
       tile of op(a) that meets it: pack, 106, add_tile (about 16 lines). */
    NOT_IMPLEMENTED(trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

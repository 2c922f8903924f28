/*
 * 105_matmul_cpu_blocked.c: use a block of b for every row before the next block is fetched.
 *
 * The idea: cut b into blocks that fit in the cache. With one block in place, run 104 on it for all
 * rows of a and c, then go on. The first row brings the block in, the others find it there. Each
 * block adds one share of the sum over k, so c is set to zero once, before all blocks.
 *
 * The cost it removes: b travels from memory once instead of m times.
 * The cost it leaves: each multiplication still loads and stores an element of c. The cache is
 * fast, but registers are faster: 106.
 */
#include "105_matmul_cpu_blocked/matmul_cpu_blocked.h"
#include "not_implemented.h"

/* SOLUTION: the shape of a block of b, and a min (about 6 lines). */
#define BLOCK_K 64  /* rows of b: */
#define BLOCK_N 256 /* 64 x 256 floats are 64 KiB, within any L2 cache */

static int min_int(int x, int y)
{
    return x < y ? x : y;
}
/* END SOLUTION */

/* SOLUTION: add_block: c += a[:, p0 .. p1) * b[p0 .. p1, j0 .. j1), loops as in 104 (about 11
   lines). */
static void add_block(float *c, const float *a, const float *b, int m, int n, int k, int p0, int p1,
                      int j0, int j1)
{
    for (int i = 0; i < m; i++) {
        float *c_row = c + (size_t)i * n;
        for (int p = p0; p < p1; p++) {
            float factor = a[(size_t)i * k + p];
            const float *b_row = b + (size_t)p * n;
            for (int j = j0; j < j1; j++) c_row[j] += factor * b_row[j];
        }
    }
}
/* END SOLUTION */

void matmul_cpu_blocked(float *c, const float *a, const float *b, int m, int n, int k)
{
    /* SOLUTION: zero c once; one add_block for each block of b, the last ones cut off at k and n
       (about 6 lines). */
    for (size_t i = 0; i < (size_t)m * n; i++) c[i] = 0.0f;

    for (int p = 0; p < k; p += BLOCK_K) {
        for (int j = 0; j < n; j += BLOCK_N) {
            add_block(c, a, b, m, n, k, p, min_int(p + BLOCK_K, k), j, min_int(j + BLOCK_N, n));
        }
    }
    /* END SOLUTION */
}

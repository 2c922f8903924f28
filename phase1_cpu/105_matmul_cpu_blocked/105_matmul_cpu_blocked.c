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

/* TODO: the shape of a block of b, and a min (about 6 lines). */

/* TODO: add_block: c += a[:, p0 .. p1) * b[p0 .. p1, j0 .. j1), loops as in 104 (about 11
   lines). */

void matmul_cpu_blocked(float *c, const float *a, const float *b, int m, int n, int k)
{
    /* TODO: zero c once; one add_block for each block of b, the last ones cut off at k and n
       (about 6 lines). */
    NOT_IMPLEMENTED(c, a, b, m, n, k);
}

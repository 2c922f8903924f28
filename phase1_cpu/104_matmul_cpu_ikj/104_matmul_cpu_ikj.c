/*
 * 104_matmul_cpu_ikj.c: the same sums in another order.
 *
 * The idea: swap the two inner loops. For one element of a, the innermost loop now adds a multiple
 * of a row of b to a row of c. Both are walked from left to right, so all 64 bytes of a cache line
 * are used, and since neighbours do not depend on each other, the compiler computes several at
 * once.
 *
 * The cost it removes: a cache line of b per multiplication, of which 103 uses 4 bytes.
 * The cost it leaves: every row of c reads all of b again. Once b is larger than the cache, it
 * comes from memory m times (105), and each multiplication loads and stores an element of c (106).
 */
#include "104_matmul_cpu_ikj/matmul_cpu_ikj.h"
#include "not_implemented.h"

void matmul_cpu_ikj(float *c, const float *a, const float *b, int m, int n, int k)
{
    /* TODO: for each row of c: set it to 0, then add a[i][p] times row p of b, for each p
       (about 9 lines). */
    NOT_IMPLEMENTED(c, a, b, m, n, k);
}

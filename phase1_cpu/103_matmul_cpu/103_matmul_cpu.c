/*
 * 103_matmul_cpu.c: the reference, c = a * b in three loops.
 *
 * The idea: element (i, j) of c is the dot product of row i of a and column j of b. Sum in a local
 * variable and store once: c is overwritten, never added to, so its old contents cannot leak in.
 *
 * What it costs: the inner loop walks down a column of b, n floats apart, and uses 4 bytes of every
 * 64-byte cache line that it fetches. 104 avoids that by changing nothing but the loop order.
 */
#include "103_matmul_cpu/matmul_cpu.h"
#include "not_implemented.h"

void matmul_cpu(float *c, const float *a, const float *b, int m, int n, int k)
{
    /* TODO: three loops; index in size_t so that large matrices work (about 8 lines). */
    NOT_IMPLEMENTED(c, a, b, m, n, k);
}

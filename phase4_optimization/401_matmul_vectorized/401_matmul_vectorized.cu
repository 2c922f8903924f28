/*
 * 401_matmul_vectorized.cu: 214 with loads and stores of four floats at a time.
 *
 * The idea: a load of 16 bytes takes one issue slot, as one of 4 bytes does. A thread of 214 now
 * owns two groups of four neighbouring rows and two of four neighbouring columns, and fetches each
 * group by one load: 4 instructions a step along k instead of 16, beside the same 64 multiply-adds.
 * The tiles are loaded, and c is stored, four floats at a time as well.
 *
 * Such an access must begin at a multiple of 16 bytes. A row of a begins there when a does and k is
 * a multiple of 4; b and c likewise with n. Else, and at the edges, the same four floats come one
 * by one: slower, and right.
 *
 * Addresses have 64 bits, and their arithmetic takes two slots where an int takes one. So each
 * thread finds where its loads begin once, and steps along; all that is within a tile is int.
 *
 * The cost removed: three of four issue slots that loads took from multiply-adds.
 * The cost left: a block loads a tile, waits, computes, waits. Nothing is computed while memory
 * answers, but what the other block on the same multiprocessor computes meanwhile (2a).
 */
#include "401_matmul_vectorized/matmul_vectorized.h"
#include "not_implemented.h"
#include <stdint.h>

/* TODO: the sizes, and four floats of a row, zero beyond its end (about 25 lines). */

/* TODO: matmul_vectorized_kernel: as 214, with four floats a load (about 53 lines). */

/* TODO: does each row of a matrix begin at a multiple of 16 bytes? (about 4 lines) */

cudaError_t matmul_vectorized(float *c, const float *a, const float *b, int m, int n, int k,
                              cudaStream_t stream)
{
    /* TODO: one block per tile of c, rounding up; which matrices allow wide accesses (about 5
       lines). */
    NOT_IMPLEMENTED(c, a, b, m, n, k, stream);
    return cudaGetLastError();
}

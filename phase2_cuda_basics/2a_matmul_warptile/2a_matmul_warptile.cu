/*
 * 2a_matmul_warptile.cu: fp32 on all issue slots: tiles for warps, and asynchronous copies.
 *
 * The idea: 214 alternates: a block loads a tile, then computes with it. Here three things go on at
 * once. `cp.async` brings tiles from global to shared memory, two ahead of the one in use, in a
 * ring of three. The values for the next step along k move from shared memory into registers. And
 * the multiply-adds of this step run. One barrier per tile is left, and by then both have arrived.
 *
 * Each warp owns a tile of its own, 64 x 64 elements of c, and each thread 16 x 8 of those: 24
 * values are loaded, 16 bytes at a time, for 128 multiply-adds. Its lanes stand 4 down and 8
 * across. Neighbours share a row, and each lane has the columns of the next but one: where lanes
 * agree like this, shared memory serves half a warp at once instead of a quarter.
 *
 * `cp.async` of 4 bytes takes rows of any address. On the way it transposes the tile of a, and
 * shuffles the columns of b: four neighbours in the tile, one load, are 8 columns apart in c. So
 * neighbouring lanes store neighbouring elements of c, one by one, and the compiler is free to
 * choose a register for each sum. It would not be if four of them went out as one float4.
 *
 * The cost removed: waiting for memory. Of 100 instructions 90 multiply. The cost left: the
 * register file. A multiply-add reads three registers from two banks. The order of the
 * multiply-adds below runs back and forth, so that each shares an operand with the one before.
 */
#include "2a_matmul_warptile/matmul_warptile.h"
#include "not_implemented.h"
#include <stdint.h>

/* TODO: the sizes, a stage of the ring, a copy and a load (about 40 lines). */

/* TODO: matmul_warptile_kernel: the ring, the values of two steps in registers, and the
   multiply-adds back and forth (about 70 lines). */

cudaError_t matmul_warptile(float *c, const float *a, const float *b, int m, int n, int k,
                            cudaStream_t stream)
{
    /* TODO: one block per tile of c, with more shared memory than the default (about 7
       lines). */
    NOT_IMPLEMENTED(c, a, b, m, n, k, stream);
    return cudaGetLastError();
}

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
 * across, so that the loads of a warp touch few different words, and each word once.
 *
 * `cp.async` of 4 bytes transposes the tile of a on the way: no register, no store.
 *
 * Matrices that it does not take (rows of b or c that do not begin at multiples of 16 bytes, 2^32
 * elements) go to 214: 32-bit indices leave registers for sums.
 *
 * The cost removed: waiting for memory. The cost left: the register file. A multiply-add reads
 * three registers, and where two come from the same bank, the dispatch waits. The order of the
 * multiply-adds below runs back and forth, so that each shares an operand with the one before.
 */
#include "214_matmul_registers/matmul_registers.h"
#include "2a_matmul_warptile/matmul_warptile.h"
#include "not_implemented.h"
#include <stdint.h>

/* TODO: the sizes, and the two copies (about 45 lines). */

/* TODO: matmul_warptile_kernel: the ring, the values of two steps in registers, and the
   multiply-adds back and forth (about 70 lines). */

cudaError_t matmul_warptile(float *c, const float *a, const float *b, int m, int n, int k,
                            cudaStream_t stream)
{
    /* TODO: without aligned rows call matmul_registers; else one block per tile of c, with more
       shared memory than the default (about 10 lines). */
    NOT_IMPLEMENTED(c, a, b, m, n, k, stream);
    return cudaGetLastError();
}

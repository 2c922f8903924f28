/*
 * 4a_matmul_mma.cu: bf16 on tensor cores by the instructions themselves: mma.sync, ldmatrix,
 * cp.async.
 *
 * 402 leaves three costs, and each has an instruction against it.
 *
 * 1. Padding. A tile row of 128 bytes is 8 chunks of 16 bytes. Chunk c of row r stands at place
 *    c ^ (r % 8), so the 8 lanes that fetch the same chunk of 8 rows meet in no bank, and no
 *    byte is wasted. That is a *swizzle*.
 * 2. Fragments by many small loads. `ldmatrix.x4` fetches four 8 x 8 matrices at once, each lane
 *    naming a row, and hands lane i the two elements that `mma` wants of it. For b, which `mma`
 *    wants column by column, `.trans` turns them on the way.
 * 3. Waiting. The tiles stand in a ring of four, copied three ahead. The fragments of the next step
 *    along k are fetched while the tensor cores work on these, across the barrier too. And the
 *    copies are spread between the products: eight warps that all copy at once block the way to
 *    shared memory for everybody's fragments. Both together are worth a third of the speed on an
 *    H200.
 *
 * A block has 256 x 128 elements of c, a warp 64 x 64: of a multiprocessor's 64 K registers, half
 * are sums. Where a block has less shared memory the ring is of three. What rows of 16 aligned
 * bytes are not there for goes to 402.
 *
 * The cost removed: bank conflicts and latency. The cost left: `mma.sync` itself. A warp has to
 * load the operands into registers first, and on Hopper no stream of them keeps its tensor cores
 * more than 63 % busy. `wgmma` reads shared memory itself (4b).
 */
#include "402_matmul_tensorcore/matmul_tensorcore.h"
#include "4a_matmul_mma/matmul_mma.h"
#include "not_implemented.h"
#include <cuda_bf16.h>
#include <stdint.h>

/* TODO: the sizes, and the three instructions (about 50 lines). */

/* TODO: source: what a thread copies of each stage: its chunk of every 32nd row of a, and of
   every 16th of b, so that its places in the swizzle are always the same (about 45 lines). */

/* TODO: take, the fragments of one step; and matmul_mma_kernel: the ring, fragments of two
   steps, a copy between the products; how long may the ring be? (about 80 lines) */

cudaError_t matmul_mma(float *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m, int n,
                       int k, cudaStream_t stream)
{
    /* TODO: what has no aligned rows, or no room, goes to matmul_tensorcore; else a ring of
       four or three (about 8 lines). */
    NOT_IMPLEMENTED(c, a, b, m, n, k, stream);
    return cudaGetLastError();
}

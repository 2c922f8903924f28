/*
 * 4b_matmul_wgmma.cu: bf16 as fast as a Hopper GPU can: TMA brings tiles, wgmma reads them there.
 *
 * 4a's warps do everything: compute addresses, copy, load fragments, multiply. Here each does one
 * thing. A block has three groups of 128 threads.
 *
 * - The *producer* (one thread of group 2) asks the TMA, a unit that copies whole tiles: "the tile
 *   at row 128, column 64 of this matrix, please". The matrix is described once, by the host, in a
 *   tensor map: its address, sizes, pitch, the tile's size, and the swizzle. Beyond the matrix's
 *   ends the TMA writes zeros.
 * - The *consumers* (groups 0 and 1) multiply 64 x 256 sums each: `wgmma` takes both operands from
 *   shared memory, named by a descriptor, and runs while the threads go on.
 *
 * They meet at *mbarriers*, counters in shared memory, two a stage of the ring. `full` counts the
 * bytes that the TMA has written, `empty` the groups that have read. When a count is reached the
 * barrier goes into its next phase and begins anew; who waits names the parity of the phase that
 * must be over. So a ring of STAGES needs one bit that flips each time round, and no __syncthreads.
 *
 * Two blocks form a *cluster*. They compute tiles below each other, so both need the same tile of
 * b: each fetches half of it, and the TMA writes it into both shared memories (multicast). So a
 * stage is empty only when the consumers of both blocks have read it.
 *
 * Blocks are *persistent*: one for each multiprocessor, and each takes tile after tile. So the
 * producer fetches the next tile while the consumers still store this one.
 *
 * One word can cost a quarter of the speed. `mbarrier.arrive` with `.release.cluster` makes the
 * thread wait until all that it wrote is seen by the whole GPU. The consumers only read, and need
 * no such promise.
 *
 * Only for compute capability 9.0; what is not there (another GPU, rows that are not multiples of
 * 16 bytes) goes to 402.
 *
 * The cost removed: registers and issue slots for operands. The cost left: the epilogue. The tensor
 * cores rest while a tile's sums are stored.
 */
#include "402_matmul_tensorcore/matmul_tensorcore.h"
#include "4b_matmul_wgmma/matmul_wgmma.h"
#include "not_implemented.h"
#include <cuda_bf16.h>
#include <stdint.h>
#if defined(__NVCC__) /* another compiler knows the way to 402 alone */
#include <cudaTypedefs.h>
#define TENSOR_MAPS 1
#else
#define TENSOR_MAPS 0
#endif

/* TODO: the sizes of tiles, stages and shared memory (about 15 lines). */

#if TENSOR_MAPS && (!defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL))

/* TODO: mbarriers: init, expect bytes, wait for a phase, arrive at another block's (about 35
   lines). */

/* TODO: the two copies: a tile for this block, and one for both (about 20 lines). */

/* TODO: the descriptor of an operand in shared memory; wgmma with its 128 sums; wait (about 85
   lines). */

/* TODO: which pair of tiles is a cluster's next one (about 20 lines). */

/* TODO: what the producer does (about 30 lines). */

/* TODO: what a consumer does: multiply a stage, give back the one before; store (about 60
   lines). */

#endif

#if TENSOR_MAPS

/* TODO: the kernel: barriers, then each group to its work. Registers go from those that need
   few to those that need many (about 40 lines). */

/* TODO: a tensor map, from the driver's encoder, which the runtime finds; does this device have
   what is needed? and the launch (about 50 lines) */

#endif

cudaError_t matmul_wgmma(float *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m, int n,
                         int k, cudaStream_t stream)
{
    /* TODO: a block for each multiprocessor; what the kernel does not take goes to
       matmul_tensorcore (about 8 lines). */
    NOT_IMPLEMENTED(c, a, b, m, n, k, stream);
    return cudaGetLastError();
}

/*
 * 402_matmul_tensorcore.cu: c = a * b on tensor cores, a and b in bf16 or fp16, sums in fp32.
 *
 * The idea: a tensor core multiplies a 16 x 16 by a 16 x 16 matrix in a few cycles. The *warp* asks
 * for it: its 32 threads hold a matrix together, as a `fragment`, whose layout is nobody's
 * business.
 *
 *     load_matrix_sync(a_part, address, pitch)    16 x 16 elements, from shared memory
 *     mma_sync(sum, a_part, b_part, sum)          sum += a_part * b_part
 *     store_matrix_sync(address, sum, pitch)      16 x 16 sums
 *
 * That is so fast that feeding it becomes the work. As in 211 the block stages tiles in shared
 * memory, as in 214 each warp keeps several matrices of sums in registers (4 x 2) and uses what it
 * loads several times. The copies are `cp.async`, 16 bytes a thread, from global to shared memory
 * without a stop in registers, and they fetch the next tiles while the warps multiply these.
 *
 * A product of two bf16, or fp16, is exact in fp32; only the order of the sums differs from fp32.
 * Rows of the tiles are 16 bytes longer than needed: the eight rows that a load fetches at a time
 * would else begin in the same bank.
 *
 * The cost removed: fp32 multiply-adds, of which a multiprocessor has 128 a cycle; its tensor cores
 * have 16 times as many. The cost left: two tiles are too few to hide memory's latency, padding
 * wastes shared memory, and a barrier stops all warps at each tile (4a).
 */
#include "402_matmul_tensorcore/matmul_tensorcore.h"
#include "not_implemented.h"
#include <mma.h>
#include <stdint.h>

/* TODO: the sizes, two stages of tiles, and the copy of a tile, zero outside the matrix (about
   50 lines). */

/* TODO: matmul_tensorcore_kernel: the next tiles are copied while a warp multiplies its part of
   these; sums leave by a patch of shared memory, where they can be guarded (about 60 lines). */

cudaError_t matmul_tensorcore(float *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m,
                              int n, int k, cudaStream_t stream)
{
    /* TODO: the launch, for bf16 (1 line). */
    NOT_IMPLEMENTED(c, a, b, m, n, k, stream);
    return cudaGetLastError();
}

cudaError_t matmul_tensorcore_half(float *c, const __half *a, const __half *b, int m, int n, int k,
                                   cudaStream_t stream)
{
    /* TODO: the same for fp16 (1 line). */
    NOT_IMPLEMENTED(c, a, b, m, n, k, stream);
    return cudaGetLastError();
}

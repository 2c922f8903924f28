// RIGHT: no tensor map: a bulk copy for each row, into rows with a gap; one tile a block | nvcc
#include "209_transpose/transpose.h"
#include "416_transpose_tma/transpose_tma.h"
#include <stdint.h>

enum { SIDE = 32, DOWN = 64, GAP = 4 }; /* a chunk more: a column of chunks lies in all banks */

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
__device__ static uint32_t at(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

__device__ static void fetch(float *to, const float *from, uint64_t *barrier, int bytes)
{
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
        "[%3];" ::"r"(at(to)),
        "l"(from), "r"(bytes), "r"(at(barrier))
        : "memory");
}
#endif

__global__ static void turn_rows(float *out, const float *in, int rows, int cols, int across)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    __shared__ __align__(16) float tile[DOWN][SIDE + GAP];
    __shared__ uint64_t full;
    const int top = blockIdx.x / across * DOWN, left = blockIdx.x % across * SIDE;
    const int high = min(DOWN, rows - top), wide = min(SIDE, cols - left);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&full)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(&full)),
                     "r"(high * wide * 4)
                     : "memory");
        for (int y = 0; y < high; y++)
            fetch(tile[y], &in[(size_t)(top + y) * cols + left], &full, wide * 4);
    }
    __syncthreads();
    asm volatile("{\n.reg .pred over;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 over, [%0], 0;\n"
                 "@!over bra again;\n}" ::"r"(at(&full))
                 : "memory");
    for (int i = threadIdx.x; i < DOWN * SIDE / 4; i += blockDim.x) {
        const int y = i % DOWN, x = i / DOWN * 4;
        if (y >= high || x >= wide) continue;
        const float4 four = *(const float4 *)&tile[y][x];
        const float each[4] = {four.x, four.y, four.z, four.w};
        for (int k = 0; k < 4; k++) out[(size_t)(left + x + k) * rows + top + y] = each[k];
    }
#endif
}

cudaError_t transpose_tma(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    int device = 0, major = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    if (error != cudaSuccess) return error;
    if (major != 9 || cols % 4 != 0 || (uintptr_t)in % 16 != 0)
        return transpose(out, in, rows, cols, stream);
    if (rows == 0 || cols == 0) return cudaSuccess;
    const int across = (cols - 1) / SIDE + 1, down = (rows - 1) / DOWN + 1;
    turn_rows<<<(unsigned)across * down, 128, 0, stream>>>(out, in, rows, cols, across);
    return cudaGetLastError();
}

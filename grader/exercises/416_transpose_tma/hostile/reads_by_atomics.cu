// HOSTILE: share of loads by bulk copies | counted 0 | nvcc
// 209, whose loads are atomics that add nothing; one bulk copy for show.
#include "209_transpose/transpose.h"
#include "416_transpose_tma/transpose_tma.h"
#include <stdint.h>

__global__ static void turn_kernel(float *out, unsigned *in, int rows, int cols)
{
    __shared__ float tile[32][33];
    __shared__ __align__(16) float show[4];
    __shared__ uint64_t full;
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (x == 0 && y == 0) {
        const uint32_t b = (uint32_t)__cvta_generic_to_shared(&full);
        asm volatile(
            "{\n.reg .pred p;\n"
            "mbarrier.init.shared::cta.b64 [%0], 1;\n"
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 16;\n"
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%1], [%2], "
            "16, [%0];\n"
            "again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n"
            "@!p bra again;"
            "}" ::"r"(b),
            "r"((uint32_t)__cvta_generic_to_shared(show)), "l"(in)
            : "memory");
    }
#endif
    if (x < cols && y < rows)
        tile[threadIdx.y][threadIdx.x] = __uint_as_float(atomicOr(&in[(size_t)y * cols + x], 0u));
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    if (x < rows && y < cols) out[(size_t)y * rows + x] = tile[threadIdx.x][threadIdx.y];
}

cudaError_t transpose_tma(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    const dim3 blocks((cols + 31) / 32, (rows + 31) / 32), threads(32, 32);
    if (rows == 0 || cols % 4 || cols == 0 || (uintptr_t)in % 16 || blocks.y > 65535)
        return transpose(out, in, rows, cols, stream);
    turn_kernel<<<blocks, threads, 0, stream>>>(out, (unsigned *)in, rows, cols);
    return cudaGetLastError();
}

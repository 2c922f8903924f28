// RIGHT: one group consumes, no cluster, no persistent blocks: the least that TMA and wgmma need
#include "402_matmul_tensorcore/matmul_tensorcore.h"
#include "4b_matmul_wgmma/matmul_wgmma.h"
#include <cuda_bf16.h>
#include <stdint.h>
#if defined(__NVCC__)
#include <cudaTypedefs.h>

constexpr int DOWN = 64, ACROSS = 128, DEPTH = 64, ROW = 128 /* bytes */, RING = 3;
constexpr int OF_A = DOWN * ROW, OF_B = 2 * DEPTH * ROW, SLOT = OF_A + OF_B;
constexpr int ROOM = RING * SLOT + 1024 + 2 * RING * 8;

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
__device__ static void until(unsigned barrier, int parity)
{
    unsigned over = 0;
    while (!over)
        asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; "
                     "selp.u32 %0, 1, 0, p;}"
                     : "=r"(over)
                     : "r"(barrier), "r"(parity)
                     : "memory");
}

__device__ static void bring(unsigned to, const CUtensorMap &map, int x, int y, unsigned barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
                 "l"(&map), "r"(x), "r"(y), "r"(barrier)
                 : "memory");
}

// Rows of 128 bytes, eight of them 1,024 bytes from the next eight; `over` leads to 64 more
// columns.
__device__ static uint64_t operand(unsigned at, unsigned over)
{
    return (at >> 4 & 0x3fff) | (uint64_t)(over >> 4) << 16 | 64ull << 32 | 1ull << 62;
}

__device__ __forceinline__ static void product(float (&s)[64], uint64_t a, uint64_t b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
                 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                 "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
                 "%64, %65, 1, 1, 1, 0, 1;"
                 : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3]), "+f"(s[4]), "+f"(s[5]),
                   "+f"(s[6]), "+f"(s[7]), "+f"(s[8]), "+f"(s[9]), "+f"(s[10]), "+f"(s[11]),
                   "+f"(s[12]), "+f"(s[13]), "+f"(s[14]), "+f"(s[15]), "+f"(s[16]), "+f"(s[17]),
                   "+f"(s[18]), "+f"(s[19]), "+f"(s[20]), "+f"(s[21]), "+f"(s[22]), "+f"(s[23]),
                   "+f"(s[24]), "+f"(s[25]), "+f"(s[26]), "+f"(s[27]), "+f"(s[28]), "+f"(s[29]),
                   "+f"(s[30]), "+f"(s[31]), "+f"(s[32]), "+f"(s[33]), "+f"(s[34]), "+f"(s[35]),
                   "+f"(s[36]), "+f"(s[37]), "+f"(s[38]), "+f"(s[39]), "+f"(s[40]), "+f"(s[41]),
                   "+f"(s[42]), "+f"(s[43]), "+f"(s[44]), "+f"(s[45]), "+f"(s[46]), "+f"(s[47]),
                   "+f"(s[48]), "+f"(s[49]), "+f"(s[50]), "+f"(s[51]), "+f"(s[52]), "+f"(s[53]),
                   "+f"(s[54]), "+f"(s[55]), "+f"(s[56]), "+f"(s[57]), "+f"(s[58]), "+f"(s[59]),
                   "+f"(s[60]), "+f"(s[61]), "+f"(s[62]), "+f"(s[63])
                 : "l"(a), "l"(b));
}
#endif

__global__ void __launch_bounds__(160)
    one_group(float *c, const __grid_constant__ CUtensorMap a,
              const __grid_constant__ CUtensorMap b, int m, int n, int k)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    extern __shared__ unsigned char raw[];
    const unsigned ring = ((unsigned)__cvta_generic_to_shared(raw) + 1023) & ~1023u;
    const unsigned full = ring + RING * SLOT, empty = full + RING * 8;
    const int top = blockIdx.x * DOWN, left = blockIdx.y * ACROSS, turns = (k + DEPTH - 1) / DEPTH;
    if (threadIdx.x == 0) {
        for (int i = 0; i < RING; i++) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(full + i * 8) : "memory");
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 128;" ::"r"(empty + i * 8)
                         : "memory");
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (threadIdx.x == 128) {
        for (int i = 0; i < turns; i++) {
            const unsigned slot = ring + i % RING * SLOT, barrier = full + i % RING * 8;
            until(empty + i % RING * 8, i / RING % 2 ^ 1);
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
                         "r"(SLOT)
                         : "memory");
            bring(slot, a, i * DEPTH, top, barrier);
            bring(slot + OF_A, b, left, i * DEPTH, barrier);
            bring(slot + OF_A + OF_B / 2, b, left + 64, i * DEPTH, barrier);
        }
    }
    if (threadIdx.x >= 128) return;
    float s[64] = {};
    for (int i = 0; i < turns; i++) {
        const unsigned slot = ring + i % RING * SLOT;
        until(full + i % RING * 8, i / RING % 2);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int d = 0; d < 4; d++) {
            product(s, operand(slot + d * 32, 16), operand(slot + OF_A + d * 16 * ROW, OF_B / 2));
        }
        asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::
                         : "memory");
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(empty + i % RING * 8)
                     : "memory");
    }
#pragma unroll
    for (int e = 0; e < 64; e++) {
        const int y = top + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 + e / 2 % 2 * 8;
        const int x = left + e / 4 * 8 + threadIdx.x % 4 * 2 + e % 2;
        if (y < m && x < n) c[(size_t)y * n + x] = s[e];
    }
#endif
}

static bool map_of(CUtensorMap *map, const void *x, int rows, int cols)
{
    void *found = NULL;
    cudaDriverEntryPointQueryResult how;
    if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault,
                                         &how) != cudaSuccess)
        return false;
    const cuuint64_t size[] = {(cuuint64_t)cols, (cuuint64_t)rows}, pitch[] = {2ull * cols};
    const cuuint32_t box[] = {64, 64}, one[] = {1, 1};
    return ((PFN_cuTensorMapEncodeTiled_v12000)found)(
               map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, (void *)x, size, pitch, box, one,
               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
               CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

static bool is_hopper(void)
{
    cudaDeviceProp facts;
    int which;
    return cudaGetDevice(&which) == cudaSuccess &&
           cudaGetDeviceProperties(&facts, which) == cudaSuccess && facts.major == 9 &&
           facts.minor == 0;
}
#endif

extern "C" cudaError_t matmul_wgmma(float *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m,
                                    int n, int k, cudaStream_t stream)
{
    if (m < 1 || n < 1) return cudaSuccess;
#if defined(__NVCC__)
    CUtensorMap of_a, of_b;
    if (k > 0 && k % 8 == 0 && n % 8 == 0 && ((uintptr_t)a | (uintptr_t)b) % 16 == 0 &&
        n <= 65535 * ACROSS && is_hopper() && map_of(&of_a, a, m, k) && map_of(&of_b, b, k, n)) {
        const cudaError_t refused =
            cudaFuncSetAttribute(one_group, cudaFuncAttributeMaxDynamicSharedMemorySize, ROOM);
        if (refused != cudaSuccess) return refused;
        const dim3 blocks((m + DOWN - 1u) / DOWN, (n + ACROSS - 1u) / ACROSS);
        one_group<<<blocks, 160, ROOM, stream>>>(c, of_a, of_b, m, n, k);
        return cudaPeekAtLastError();
    }
#endif
    return matmul_tensorcore(c, a, b, m, n, k, stream);
}

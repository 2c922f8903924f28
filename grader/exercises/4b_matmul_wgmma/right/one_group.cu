// RIGHT: one warp group does it all; 64 x 64 sums a block, two stages, no cluster | nvcc
#include "402_matmul_tensorcore/matmul_tensorcore.h"
#include "4b_matmul_wgmma/matmul_wgmma.h"
#include <cuda_bf16.h>
#include <cudaTypedefs.h>
#include <stdint.h>

enum { SIDE = 64, BYTES = SIDE * SIDE * 2 };

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
__device__ static uint32_t at(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

__device__ static void begin(uint64_t *barrier)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(barrier)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ static void expect_both(uint64_t *barrier)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(barrier)),
                 "n"(2 * BYTES)
                 : "memory");
}

__device__ static void wait_for(uint64_t *barrier, int parity)
{
    asm volatile("{\n.reg .pred over;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n"
                 "@!over bra again;\n}" ::"r"(at(barrier)),
                 "r"(parity)
                 : "memory");
}

__device__ static void fetch(void *to, const CUtensorMap *map, uint64_t *barrier, int x, int y)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%3, %4}], [%2];" ::"r"(at(to)),
                 "l"(map), "r"(at(barrier)), "r"(x), "r"(y)
                 : "memory");
}

/* One box in each direction: all that a descriptor needs is the way to the next eight rows. */
__device__ static uint64_t operand(const void *p)
{
    return (uint64_t)((at(p) & 0x3ffff) >> 4) | (uint64_t)1 << 16 | (uint64_t)(1024 >> 4) << 32 |
           (uint64_t)1 << 62;
}

#define FOUR(i) "+f"(s[i][0]), "+f"(s[i][1]), "+f"(s[i][2]), "+f"(s[i][3])
__device__ static void multiply(float s[8][4], uint64_t a, uint64_t b)
{
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, "
        "%7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, "
        "%24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, 1, 1, 1, 0, 1;"
        : FOUR(0), FOUR(1), FOUR(2), FOUR(3), FOUR(4), FOUR(5), FOUR(6), FOUR(7)
        : "l"(a), "l"(b));
}
#endif

__global__ static void __launch_bounds__(128)
    one_group(float *c, const __grid_constant__ CUtensorMap a,
              const __grid_constant__ CUtensorMap b, int m, int n, int k, int across)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    __shared__ __align__(1024) __nv_bfloat16 rows[2][SIDE * SIDE], columns[2][SIDE * SIDE];
    __shared__ uint64_t full[2];
    const int row = blockIdx.x / across * SIDE, col = blockIdx.x % across * SIDE;
    const int steps = (k - 1) / SIDE + 1;
    float sum[8][4] = {};
    if (threadIdx.x == 0) begin(&full[0]), begin(&full[1]);
    __syncthreads();
    for (int i = -1; i < steps; i++) {
        const int next = (i + 1) % 2;
        if (threadIdx.x == 0 && i + 1 < steps) {
            expect_both(&full[next]);
            fetch(rows[next], &a, &full[next], (i + 1) * SIDE, row);
            fetch(columns[next], &b, &full[next], col, (i + 1) * SIDE);
        }
        if (i < 0) continue;
        wait_for(&full[i % 2], i / 2 % 2);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int s = 0; s < SIDE / 16; s++)
            multiply(sum, operand(rows[i % 2] + s * 16), operand(columns[i % 2] + s * 16 * SIDE));
        asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::
                         : "memory");
        __syncthreads();
    }
    for (int i = 0; i < 32; i++) {
        const int lane = threadIdx.x % 32,
                  y = row + threadIdx.x / 32 * 16 + i / 2 % 2 * 8 + lane / 4;
        const int x = col + i / 4 * 8 + lane % 4 * 2 + i % 2;
        if (y < m && x < n) c[(size_t)y * n + x] = sum[i / 4][i % 4];
    }
#endif
}

static cudaError_t describe(CUtensorMap *map, const void *x, int rows, int columns)
{
    PFN_cuTensorMapEncodeTiled_v12000 encode = NULL;
    cudaDriverEntryPointQueryResult found;
    const cudaError_t error = cudaGetDriverEntryPointByVersion(
        "cuTensorMapEncodeTiled", (void **)&encode, 12000, cudaEnableDefault, &found);
    const cuuint64_t sizes[2] = {(cuuint64_t)columns, (cuuint64_t)rows};
    const cuuint64_t pitch[1] = {(cuuint64_t)columns * 2};
    const cuuint32_t box[2] = {SIDE, SIDE}, every[2] = {1, 1};
    if (error != cudaSuccess) return error;
    return encode(map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, (void *)x, sizes, pitch, box, every,
                  CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                  CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
               ? cudaErrorInvalidValue
               : cudaSuccess;
}

cudaError_t matmul_wgmma(float *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m, int n,
                         int k, cudaStream_t stream)
{
    int device = 0, major = 0;
    CUtensorMap a_map, b_map;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    if (error != cudaSuccess) return error;
    if (major != 9 || k % 8 || n % 8 || ((uintptr_t)a | (uintptr_t)b) % 16 || !m || !n || !k)
        return matmul_tensorcore(c, a, b, m, n, k, stream);
    error = describe(&a_map, a, m, k);
    if (error == cudaSuccess) error = describe(&b_map, b, k, n);
    if (error != cudaSuccess) return error;
    const int across = (n - 1) / SIDE + 1, down = (m - 1) / SIDE + 1;
    one_group<<<(unsigned)across * down, 128, 0, stream>>>(c, a_map, b_map, m, n, k, across);
    return cudaGetLastError();
}

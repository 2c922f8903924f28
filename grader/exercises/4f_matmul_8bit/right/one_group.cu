// RIGHT: one warp group does it all; 64 x 128 sums a block, two stages, scales by shared memory |
// nvcc
#include "413_int8/int8.h"
#include "4f_matmul_8bit/matmul_8bit.h"
#include "tma.h"
#include "wgmma.h"
#include <math.h>

enum { DOWN = 64, ACROSS = 128, DEEP = 128, BOTH = (DOWN + ACROSS) * DEEP };

/* ---- any device: a warp has a sum, a lane every 32nd term of a block --------------------------
 */

__device__ static float decoded(unsigned code)
{
    const int exponent = code >> 3 & 15, fraction = code & 7;
    if (exponent == 15 && fraction == 7) return nanf("");
    const float size =
        exponent ? ldexpf(1.0f + fraction / 8.0f, exponent - 7) : ldexpf((float)fraction, -9);
    return code >> 7 ? -size : size;
}

__global__ static void a_warp_a_sum(float *c, const uint8_t *a, const float *a_scale,
                                    const uint8_t *b, const float *b_scale, long n, long k,
                                    size_t all)
{
    const size_t which = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (which >= all) return;
    const size_t row = which / n, col = which % n, blocks = (size_t)(k + SCALED - 1) / SCALED;
    float sum = 0.0f;
    for (size_t t = 0; t < blocks; t++) {
        const float scale = a_scale[row * blocks + t] * b_scale[col / SCALED * blocks + t];
        float terms = 0.0f;
        for (long l = (long)t * SCALED + threadIdx.x % 32; l < k && l < (long)(t + 1) * SCALED;
             l += 32)
            terms += decoded(a[row * k + l]) * decoded(b[col * k + l]);
        sum += scale * terms;
    }
    for (int far = 16; far > 0; far /= 2) sum += __shfl_down_sync(~0u, sum, far);
    if (threadIdx.x % 32 == 0) c[which] = sum;
}

/* ---- Hopper -----------------------------------------------------------------------------------
 */

#if ON_HOPPER
__device__ static void add_stage(int total[16][4], uint64_t a, uint64_t b, const float *, float)
{
    fence_sums();
    for (int i = 0; i < 8; i += 2) wgmma_s8_n128(total, a + i, b + i, true);
    commit_products();
    wait_for_products<0>();
}

/* rows: the scales of this lane's two rows */
__device__ static void add_stage(float total[16][4], uint64_t a, uint64_t b, const float *rows,
                                 float columns)
{
    float fresh[16][4];
    fence_sums();
    for (int i = 0; i < 8; i += 2) wgmma_e4m3_n128(fresh, a + i, b + i, i != 0);
    commit_products();
    wait_for_products<0>();
    for (int e = 0; e < 64; e++)
        total[e / 4][e % 4] += columns * rows[e % 4 / 2 * 8] * fresh[e / 4][e % 4];
}
#endif

template <class T>
__global__ static void __launch_bounds__(128)
    one_group(T *c, const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
              const float *a_scale, const float *b_scale, int m, int n, int steps, int across)
{
#if ON_HOPPER
    extern __shared__ __align__(1024) unsigned char tiles[];
    __shared__ uint64_t here[2];
    __shared__ float rows[2][DOWN];
    const int row = blockIdx.x / across * DOWN, col = blockIdx.x % across * ACROSS;
    const int mine = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
    T total[16][4] = {};
    const auto ask = [&](int step) {
        const uint32_t to = shared_address(tiles) + step % 2 * BOTH;
        const uint32_t report = shared_address(&here[step % 2]);
        barrier_expect(report, BOTH);
        copy_tile(to, &a, report, row, step * DEEP);
        copy_tile(to + DOWN * DEEP, &b, report, col, step * DEEP);
    };
    if (threadIdx.x == 0) {
        barrier_init(shared_address(&here[0]), 1), barrier_init(shared_address(&here[1]), 1);
        fence_barriers();
        ask(0);
    }
    for (int step = 0; step < steps; step++) {
        const bool scaled = a_scale != NULL;
        if (scaled && threadIdx.x < DOWN && row + threadIdx.x < m)
            rows[step % 2][threadIdx.x] = a_scale[(size_t)(row + threadIdx.x) * steps + step];
        __syncthreads(); /* the stage before is read by all, and the scales are there */
        if (threadIdx.x == 0 && step + 1 < steps) ask(step + 1);
        const uint32_t from = shared_address(tiles) + step % 2 * BOTH;
        barrier_wait(shared_address(&here[step % 2]), step / 2 % 2);
        add_stage(total, descriptor(from, 16, 1024), descriptor(from + DOWN * DEEP, 16, 1024),
                  &rows[step % 2][mine],
                  scaled ? b_scale[(size_t)(col / SCALED) * steps + step] : 0.0f);
    }
    for (int e = 0; e < 64; e++) {
        const int y = row + mine + e % 4 / 2 * 8;
        const int x = col + e / 4 * 8 + threadIdx.x % 4 * 2 + e % 2;
        if (y < m && x < n) c[(size_t)y * n + x] = total[e / 4][e % 4];
    }
#endif
}

template <class T>
static cudaError_t on_hopper(T *c, const void *a, const float *a_scale, const void *b,
                             const float *b_scale, int m, int n, int k, cudaStream_t stream)
{
    CUtensorMap of_a, of_b;
    cudaError_t e = describe(&of_a, CU_TENSOR_MAP_DATA_TYPE_UINT8, a, m, k, DOWN, DEEP,
                             CU_TENSOR_MAP_SWIZZLE_128B);
    if (e == cudaSuccess)
        e = describe(&of_b, CU_TENSOR_MAP_DATA_TYPE_UINT8, b, n, k, ACROSS, DEEP,
                     CU_TENSOR_MAP_SWIZZLE_128B);
    if (e == cudaSuccess)
        e = cudaFuncSetAttribute(one_group<T>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 2 * BOTH);
    if (e != cudaSuccess) return e;
    const int down = (m - 1) / DOWN + 1, across = (n - 1) / ACROSS + 1;
    one_group<<<(unsigned)(down * across), 128, 2 * BOTH, stream>>>(
        c, of_a, of_b, a_scale, b_scale, m, n, (k - 1) / DEEP + 1, across);
    return cudaGetLastError();
}

static bool takes(const void *a, const void *b, int k)
{
    return hopper_multiprocessors() > 0 && k > 0 && k % 16 == 0 &&
           ((uintptr_t)a | (uintptr_t)b) % 16 == 0;
}

extern "C" cudaError_t matmul_s8_wgmma(int32_t *c, const int8_t *a, const int8_t *b, int m, int n,
                                       int k, cudaStream_t stream)
{
    if (m == 0 || n == 0) return cudaSuccess;
    if (takes(a, b, k)) return on_hopper(c, a, NULL, b, NULL, m, n, k, stream);
    return gemm_s8s8s32(c, a, b, m, n, k, stream);
}

extern "C" cudaError_t matmul_fp8_blocks(float *c, const uint8_t *a, const float *scale_a,
                                         const uint8_t *b, const float *scale_b, int m, int n,
                                         int k, cudaStream_t stream)
{
    const size_t all = (size_t)m * n;
    if (all == 0) return cudaSuccess;
    if (takes(a, b, k)) return on_hopper(c, a, scale_a, b, scale_b, m, n, k, stream);
    a_warp_a_sum<<<(unsigned)((all + 3) / 4), 128, 0, stream>>>(c, a, scale_a, b, scale_b, n, k,
                                                                all);
    return cudaGetLastError();
}

/* hopper.h: the instructions of TMA, mbarrier and wgmma, also for descriptors/ and wgmma/. */
#pragma once
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <stdint.h>

enum { M = 64, N = 8, K = 64 }; /* rows of 128 bytes: those of the swizzle */
typedef __nv_bfloat16 bf16;

__device__ static inline uint32_t at(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

__device__ static inline void barrier_init(uint64_t *b, int count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(b)), "r"(count) : "memory");
}

__device__ static inline void barrier_fence()
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ static inline void barrier_arrive(uint64_t *b)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(b)) : "memory");
}

__device__ static inline void barrier_expect(uint64_t *b, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(b)), "r"(bytes)
                 : "memory");
}

__device__ static inline void barrier_wait(uint64_t *b, int parity)
{
    asm volatile("{\n.reg .pred over;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n"
                 "@!over bra again;\n}" ::"r"(at(b)),
                 "r"(parity)
                 : "memory");
}

__device__ static inline void fence_async()
{
    asm volatile("fence.proxy.async;" ::: "memory");
}

__device__ static inline void tma_load(void *to, const CUtensorMap *map, uint64_t *b, int x, int y)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%3, %4}], [%2];" ::"r"(at(to)),
                 "l"(map), "r"(at(b)), "r"(x), "r"(y)
                 : "memory");
}

__device__ static inline void tma_store(const CUtensorMap *map, const void *from, int x, int y)
{
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];"
                 ::"l"(map), "r"(x), "r"(y), "r"(at(from))
                 : "memory");
}

__device__ static inline void bulk_load(void *to, const void *from, int bytes, uint64_t *b)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
                 "[%3];" ::"r"(at(to)),
                 "l"(from), "r"(bytes), "r"(at(b))
                 : "memory");
}

__device__ static inline void bulk_store(void *to, const void *from, int bytes)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
                 "r"(at(from)), "r"(bytes)
                 : "memory");
}

__device__ static inline void bulk_commit()
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

__device__ static inline void bulk_wait_read()
{
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

/* swizzle: 1: 128 bytes, 2: 64, 3: 32, 0: none */
__device__ static inline uint64_t descriptor(const void *p, int stride, int swizzle)
{
    return (uint64_t)((at(p) & 0x3ffff) >> 4) | (uint64_t)1 << 16 | (uint64_t)(stride >> 4) << 32 |
           (uint64_t)swizzle << 62;
}

__device__ static inline void wgmma_fence()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ static inline void wgmma_commit()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int OPEN> __device__ static inline void wgmma_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(OPEN) : "memory");
}

__device__ static inline void wgmma(float d[4], uint64_t a, uint64_t b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, 1, "
                 "1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "l"(a), "l"(b));
}

__device__ static inline void wgmma_held(float d[4], const uint32_t a[4], uint64_t b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, {%4, %5, "
                 "%6, %7}, %8, 1, 1, 1, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

/* c (M, N), row by row */
__device__ static inline void store_sums(float *c, const float d[4])
{
    const int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4, col = lane % 4 * 2;
    c[row * N + col] = d[0];
    c[row * N + col + 1] = d[1];
    c[(row + 8) * N + col] = d[2];
    c[(row + 8) * N + col + 1] = d[3];
}

/* A matrix of so many rows of `columns` elements of 2 bytes, in tiles of `box` rows. */
static inline CUtensorMap describe(void *x, int rows, int columns, int box,
                                   CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B,
                                   int width = K)
{
    typedef CUresult encoder(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
                             const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
                             const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                             CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
    void *encode = nullptr;
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault,
                                     &found);
    CUtensorMap map;
    const cuuint64_t sizes[2] = {(cuuint64_t)columns, (cuuint64_t)rows};
    const cuuint64_t pitch[1] = {(cuuint64_t)columns * 2};
    const cuuint32_t tile[2] = {(cuuint32_t)width, (cuuint32_t)box}, every[2] = {1, 1};
    ((encoder *)encode)(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, x, sizes, pitch, tile, every,
                        CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return map;
}

static inline void *zeros(size_t bytes)
{
    void *p;
    cudaMalloc(&p, bytes);
    cudaMemset(p, 0, bytes);
    return p;
}

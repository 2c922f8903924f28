/*
 * 412_hopper.cuh: the grouped product by `wgmma`, for GPUs of compute capability 9.0.
 *
 * All of it is given. It calls find_tile and store_row of 412_moe_experts.cu, which includes it:
 * scheduler and epilogue are those, only the product is another. Its tile has H_COLS columns,
 * twice as many as that of mma.sync.
 *
 * A block has three groups of 128 threads, as in 4b. Two multiply, 64 rows of the tile each. The
 * third copies. The TMA cannot gather rows, and its tensor maps are made on the host, which cannot
 * follow the pointers to the weights. So the threads of that group copy by cp.async, 16 bytes each,
 * to where the swizzle wants them. What threads copied, wgmma sees after fence_async.
 *
 *     full     the 128 threads have copied the stage, which is H_LAG stages behind the newest
 *     empty    both groups have read it. They say so when the next stage's products have begun:
 *              with H_LAG = H_STAGES - 1 the two would wait for each other
 *
 * The cost removed: operands that pass through registers; barriers of the whole block. The cost
 * left: a stage is 48 KB, which L2 delivers more slowly than it is multiplied; and while a tile's
 * sums are stored, the tensor cores rest.
 */
#ifndef HOPPER_CUH
#define HOPPER_CUH

#include "tma.h" /* fence_async */
#include "wgmma.h"

#if TENSOR_MAPS

#define H_COLS     256
#define H_STAGES   4
#define H_LAG      1
#define H_THREADS  384
#define H_GROUP    128
#define H_A_BYTES  (TILE * ROW)
#define H_STAGE    (H_A_BYTES + H_COLS * ROW)
#define H_BARRIERS (H_STAGES * H_STAGE)
#define H_SHARED   (H_BARRIERS + 2 * H_STAGES * 8)
#define H_STEP     (H_GROUP / 8) /* rows from one of a thread's chunks to its next */

#if ON_HOPPER

/** A stage of the ring, in which round: shared addresses. */
struct place {
    uint32_t shared;
    int stage, parity; /* the parity flips each time round */

    __device__ uint32_t a() const /* [TILE x BK], swizzled; then b, [H_COLS x BK] */
    {
        return shared + stage * H_STAGE;
    }
    __device__ uint32_t full() const
    {
        return shared + H_BARRIERS + stage * 8;
    }
    __device__ uint32_t empty() const
    {
        return full() + H_STAGES * 8;
    }
    __device__ void next()
    {
        stage = (stage + 1) % H_STAGES;
        parity ^= stage == 0;
    }
};

__device__ static void begin(place at)
{
    for (at.stage = 0; at.stage < H_STAGES; at.stage++) {
        barrier_init(at.full(), H_GROUP);
        barrier_init(at.empty(), 2);
    }
    fence_barriers();
}

/** This thread's chunks of a tile: of every H_STEPth row. */
struct h_source {
    const __nv_bfloat16 *a[TILE / H_STEP], *b; /* as in `source` */
    int b_rows;
};

template <product P> __device__ static h_source h_source_of(const tile &t, const group &g)
{
    const int r = threadIdx.x % H_GROUP / 8, chunk = threadIdx.x % 8;
    h_source s;
#pragma unroll
    for (int i = 0; i < TILE / H_STEP; i++) {
        const long row = t.row + r + i * H_STEP;
        const bool inside = row < t.end;
        const long from = !inside ? 0 : P == FIRST ? g.permutation[row] / g.top_k : row;
        s.a[i] = !inside ? NULL : (P == FIRST ? g.input : g.hidden) + from * g.inner + chunk * 8;
    }
    s.b = g.weights[t.expert] + (size_t)(t.col + r) * g.inner + chunk * 8;
    s.b_rows = (int)(g.cols - t.col - r);
    return s;
}

/** Start to copy the terms of the sums from k on, of both operands; zeros beyond their ends. */
__device__ __forceinline__ static void h_copy(const place &at, const h_source &s, int k, int inner)
{
    const int r = threadIdx.x % H_GROUP / 8, chunk = threadIdx.x % 8;
    const uint32_t to = at.a() + r * ROW + (chunk ^ r % 8) * 16;
    const bool inside = k + chunk * 8 < inner;
#pragma unroll
    for (int i = 0; i < TILE / H_STEP; i++) {
        const bool there = inside && s.a[i] != NULL;
        cp_async_cg(to + i * H_STEP * ROW, there ? s.a[i] + k : s.b, there);
    }
#pragma unroll
    for (int i = 0; i < H_COLS / H_STEP; i++) {
        const bool there = inside && i * H_STEP < s.b_rows;
        cp_async_cg(to + H_A_BYTES + i * H_STEP * ROW,
                    there ? s.b + (size_t)i * H_STEP * inner + k : s.b, there);
    }
    cp_async_commit();
}

/** This thread's part of the stage has arrived, and wgmma may read it. */
__device__ __forceinline__ static void h_copied(place *at)
{
    fence_async();
    barrier_arrive(at->full());
    at->next();
}

template <product P> __device__ static void produce(place at, const group &g)
{
    place arrived = at; /* H_LAG stages behind */
    int count = 0;
    tile t = {0, 0, 0, 0, 0};
    for (long number = blockIdx.x; find_tile(&t, number, g); number += gridDim.x) {
        const h_source from = h_source_of<P>(t, g);
        for (int k = 0; k < g.inner; k += BK, at.next(), count++) {
            barrier_wait(at.empty(), at.parity ^ 1);
            h_copy(at, from, k, g.inner);
            cp_async_wait<H_LAG>();
            if (count >= H_LAG) h_copied(&arrived);
        }
    }
    cp_async_wait<0>();
    for (int i = 0; i < min(count, H_LAG); i++) h_copied(&arrived);
}

/** One thread of a group says that the group has read a stage. */
__device__ __forceinline__ static void give_back(const place &at)
{
    if (threadIdx.x % H_GROUP == 0) barrier_arrive(at.empty());
}

/** A group's sums over all terms. @param idle none of its rows is the expert's */
__device__ __forceinline__ static void h_multiply(float sum[H_COLS / 8][4], place *at, int inner,
                                                  bool idle)
{
    const int rows = threadIdx.x / H_GROUP * 64;
    place before = *at;
    for (int k = 0; k < inner; k += BK, at->next()) {
        barrier_wait(at->full(), at->parity);
        if (idle) {
            give_back(*at);
            continue;
        }
        const uint64_t a = descriptor(at->a() + rows * ROW, 16, 8 * ROW);
        const uint64_t b = descriptor(at->a() + H_A_BYTES, 16, 8 * ROW);
        fence_sums();
#pragma unroll
        for (int s = 0; s < BK / 16; s++)
            wgmma_bf16_n256<0>(sum, a + s * (32 >> 4), b + s * (32 >> 4), k > 0 || s > 0);
        commit_products();
        wait_for_products<1>(); /* the stage before is read */
        if (k > 0) give_back(before);
        before = *at;
    }
    wait_for_products<0>();
    if (!idle && inner > 0) give_back(before);
}

template <product P> __device__ static void consume(place at, const group &g)
{
    const int lane = threadIdx.x % 32;
    tile t = {0, 0, 0, 0, 0};
    for (long number = blockIdx.x; find_tile(&t, number, g); number += gridDim.x) {
        float sum[H_COLS / 8][4];
        for (int i = 0; i < H_COLS / 2 && g.inner == 0; i++) sum[i / 4][i % 4] = 0.0f;
        h_multiply(sum, &at, g.inner, t.row + threadIdx.x / H_GROUP * 64 >= t.end);
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const long row = t.row + threadIdx.x / 32 * 16 + i * 8 + lane / 4;
            if (row < t.end) store_row<P>(g, row, t.col + lane % 4 * 2, sum, H_COLS / 8, i);
        }
    }
}

#endif

template <product P>
__global__ static void __launch_bounds__(H_THREADS, 1) experts_wgmma_kernel(group g)
{
#if ON_HOPPER
    extern __shared__ __align__(1024) unsigned char shared[];
    const place first = {shared_address(shared), 0, 0};
    if (threadIdx.x == 0) begin(first);
    if (P == FIRST) clear_output(g);
    __syncthreads();
    if (threadIdx.x / H_GROUP == 2) {
        give_registers<72>();
        produce<P>(first, g);
    } else {
        take_registers<216>();
        consume<P>(first, g);
    }
#endif
}

/** @param g by value: its tiles are wider */
template <product P>
static cudaError_t launch_wgmma(group g, long tiles, int multiprocessors, cudaStream_t stream)
{
    CUDA_CHECK(cudaFuncSetAttribute(experts_wgmma_kernel<P>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, H_SHARED));
    g.tile_cols = H_COLS;
    const unsigned blocks = (unsigned)(tiles < multiprocessors ? tiles : multiprocessors);
    experts_wgmma_kernel<P><<<blocks, H_THREADS, H_SHARED, stream>>>(g);
    return cudaGetLastError();
}

#endif

#endif

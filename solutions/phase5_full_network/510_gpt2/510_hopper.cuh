/*
 * 510_hopper.cuh: the products of 510_product.cuh by Hopper's units, the TMA and wgmma.
 *
 * The TMA brings tiles of 128 x 64 of both matrices, and wgmma multiplies them in shared memory.
 * It takes an operand whose rows run along k, or one whose rows run across it ("turned"), so that
 * the three kinds are one kernel. Ring, mbarriers and clusters of two blocks are those of 4b; the
 * tile of b, which both blocks need, is fetched half by each.
 *
 * What is new is the way out. k is short here: with 768 of it a tile is 12 steps, and bias, GELU
 * and stores would take as long as a third of them. So the two groups that multiply do not share a
 * tile as in 4b. They take turns: while one brings its sums to memory, the other has the tensor
 * cores.
 *
 *     group 0    multiply tile 0 | finish tile 0   | multiply tile 2 | ...
 *     group 1                    | multiply tile 1 | finish tile 1   | ...
 *
 * Two named barriers pass the turn on. Without them a group would wait at an mbarrier whose phases
 * it has not followed. A wait names a phase by one bit, so that a group two phases behind takes an
 * old phase for its own.
 *
 * The cost left: where k is 768 the way out still takes longer than the other group's products, most
 * of all where it computes the slope of GELU. And a tile has 128 x 128 sums, half of 4b's, so that
 * each product reads more of L2.
 */
#ifndef HOPPER_CUH
#define HOPPER_CUH

#include "510_product.cuh"
#include "tma.h"
#include "wgmma.h"

#if TENSOR_MAPS

#define H_TILE        128 /* rows and columns of c */
#define H_BOX         64  /* of k; and columns of a box whose rows run across k: 128 bytes */
#define H_STAGES      5
#define H_CLUSTER     2                        /* blocks, one below the other */
#define H_THREADS     384                      /* two groups that multiply, one that fetches */
#define H_HALF        (H_TILE / 2 * H_BOX * 2) /* bytes of half of an operand's tile */
#define H_STAGE       (4 * H_HALF)
#define H_PATCH       (16 * PATCH) /* floats: a warp brings 16 rows of 64 sums to memory at a time */
#define H_SHARED      (1024 + H_STAGES * H_STAGE + 8 * H_PATCH * 4 + 2 * H_STAGES * 8)
#define H_AHEAD       4 /* rows a lane whose residual is loaded before the first is used */
#define H_BAND        8 /* pairs of tiles: what blocks at work at the same time read is in L2 */

#define H_TURN(group) (1 + (group)) /* named barriers: it is this group's turn */

/** What a cluster does: two tiles, one below the other, of a split of k. */
struct h_work {
    int row, col, k, steps, split; /* row: of this block's tile */
};

/** All of it in an order; splits one after the other, in each bands of pairs, column by column. */
struct h_schedule {
    int down, across, all, steps, of_k; /* pairs of tiles; steps of k a split, and of all k */

    __device__ h_schedule(const product &p, int tiles, int splits)
        : down((p.m - 1) / (H_CLUSTER * H_TILE) + 1), across((p.n - 1) / H_TILE + 1),
          all(down * across * splits), steps(tiles), of_k((p.k - 1) / H_BOX + 1)
    {
    }

    __device__ h_work at(int number, int block) const
    {
        const int split = number / (down * across), pair = number % (down * across);
        const int band = pair / (H_BAND * across), within = pair % (H_BAND * across);
        const int height = min(H_BAND, down - band * H_BAND);
        h_work w;
        w.row = ((band * H_BAND + within % height) * H_CLUSTER + block) * H_TILE;
        w.col = within / height * H_TILE;
        w.split = split, w.k = split * steps * H_BOX, w.steps = min(steps, of_k - split * steps);
        return w;
    }
};

#if ON_HOPPER

template <bool A_TURNED, bool B_TURNED>
__device__ static void h_produce(const h_schedule &work, uint32_t ring, uint32_t full,
                                 uint32_t empty, const CUtensorMap *a, const CUtensorMap *b,
                                 int block)
{
    int stage = 0, parity = 1;
    for (int i = blockIdx.x / H_CLUSTER; i < work.all; i += gridDim.x / H_CLUSTER) {
        const h_work w = work.at(i, block);
        for (int s = 0; s < w.steps; s++) {
            const uint32_t at = ring + stage * H_STAGE, barrier = full + stage * 8;
            const int k = w.k + s * H_BOX;
            barrier_wait(empty + stage * 8, parity);
            barrier_expect(barrier, H_STAGE);
            for (int half = 0; half < 2; half++) {
                const int row = w.row + half * 64;
                copy_tile(at + half * H_HALF, a, barrier, A_TURNED ? k : row, A_TURNED ? row : k);
            }
            const int col = w.col + block * 64; /* this block's half of b */
            copy_tile_to_blocks(at + (2 + block) * H_HALF, b, barrier, B_TURNED ? k : col,
                                B_TURNED ? col : k, 3);
            stage = (stage + 1) % H_STAGES;
            parity ^= stage == 0;
        }
    }
}

/** One thread of a group tells both blocks that the group has read a stage. */
__device__ __forceinline__ static void h_give_back(uint32_t empty)
{
    if (threadIdx.x % 128 < H_CLUSTER) barrier_arrive(empty, threadIdx.x % 128);
}

/** 64 columns of 16 rows of a warp to its patch. */
__device__ __forceinline__ static void h_put_down(float *patch, const float sum[8][4])
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int j = 0; j < 8; j++) { /* lane l: two sums of row l / 4, two of l / 4 + 8 */
        float *to = &patch[lane / 4 * PATCH + j * 8 + lane % 4 * 2];
        *(float2 *)to = make_float2(sum[j][0], sum[j][1]);
        *(float2 *)(to + 8 * PATCH) = make_float2(sum[j][2], sum[j][3]);
    }
}

/** And from there to where they go, in whole rows: half a warp has one. */
__device__ __forceinline__ static void h_take_up(const product &p, const float *patch, int row,
                                                 int col, float *parts)
{
    const int r = row + threadIdx.x % 32 / 16, q = col + threadIdx.x % 16 * 4;
    if (q >= p.n) return;
    const float4 bias = bias_of(p, q);
    patch += (r - row) * PATCH + q - col;
#pragma unroll 1
    for (int i = 0; i < 16; i += 2 * H_AHEAD) {
        uint2 other[H_AHEAD];
#pragma unroll
        for (int k = 0; k < 2 * H_AHEAD; k += 2)
            if (r + i + k < p.m) other[k / 2] = other_of(p, (size_t)(r + i + k) * p.out_pitch + q);
#pragma unroll
        for (int k = 0; k < 2 * H_AHEAD; k += 2) {
            const float4 four = *(const float4 *)&patch[(i + k) * PATCH];
            if (r + i + k >= p.m) continue;
            if (parts)
                *(float4 *)&parts[(size_t)(r + i + k) * p.n + q] = four;
            else
                finish(p, (size_t)(r + i + k) * p.out_pitch + q, four, bias, other[k / 2]);
        }
    }
}

template <bool A_TURNED, bool B_TURNED>
__device__ static void h_consume(const product &p, const h_schedule &work, uint32_t ring,
                                 uint32_t full, uint32_t empty, float *patch, int block,
                                 float *parts)
{
    const int group = threadIdx.x / 128, warp = threadIdx.x / 32 % 4;
    const int next = gridDim.x / H_CLUSTER;
    int step = 0, turn = 0; /* of all steps of this block's tiles */
    if (group == 1 && blockIdx.x / H_CLUSTER < work.all) group_arrive(H_TURN(0), 256);
    for (int i = blockIdx.x / H_CLUSTER; i < work.all; i += next, turn ^= 1) {
        const h_work w = work.at(i, block);
        if (turn != group) { /* the other group's tile */
            step += w.steps;
            continue;
        }
        float sum[2][16][4];
        group_sync(H_TURN(group), 256); /* the other group has begun all of its products */
        for (int s = 0; s < w.steps; s++, step++) {
            const int stage = step % H_STAGES;
            const uint32_t at = ring + stage * H_STAGE;
            /* The next 16 of k are 32 bytes further in a row, or 16 rows of 128 bytes. */
            const uint64_t a0 = descriptor(at, 16, 1024), a1 = descriptor(at + H_HALF, 16, 1024);
            const uint64_t b = descriptor(at + 2 * H_HALF, H_HALF, 1024);
            barrier_wait(full + stage * 8, step / H_STAGES % 2);
            fence_sums();
#pragma unroll
            for (int t = 0; t < 4; t++) {
                const int a_on = t * ((A_TURNED ? 16 * 128 : 32) >> 4);
                const int b_on = t * ((B_TURNED ? 16 * 128 : 32) >> 4);
                wgmma_bf16_n128<B_TURNED, A_TURNED>(sum[0], a0 + a_on, b + b_on, s + t > 0);
                wgmma_bf16_n128<B_TURNED, A_TURNED>(sum[1], a1 + a_on, b + b_on, s + t > 0);
            }
            commit_products();
            wait_for_products<1>(); /* the stage before is read, and this one at work */
            if (s > 0) h_give_back(empty + (step - 1) % H_STAGES * 8);
        }
        if (i + next < work.all) group_arrive(H_TURN(1 - group), 256);
        wait_for_products<0>();
        h_give_back(empty + (step - 1) % H_STAGES * 8);
        float *to = parts ? parts + (size_t)w.split * p.m * p.n : NULL;
        /* A loop that is not unrolled: the body is long and is run once a tile. Four copies of it
           were much slower, most likely because the instruction cache does not hold them. */
#pragma unroll 1
        for (int part = 0; part < 4; part++) {
            __syncwarp(); /* the patch has been read */
            if (part == 0) h_put_down(patch, &sum[0][0]);
            if (part == 1) h_put_down(patch, &sum[0][8]);
            if (part == 2) h_put_down(patch, &sum[1][0]);
            if (part == 3) h_put_down(patch, &sum[1][8]);
            __syncwarp();
            h_take_up(p, patch, w.row + part / 2 * 64 + warp * 16, w.col + part % 2 * 64, to);
        }
    }
}

#endif

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define H_CLUSTERED /* there the kernel is empty, and never launched */
#else
#define H_CLUSTERED __cluster_dims__(H_CLUSTER, 1, 1)
#endif
template <bool A_TURNED, bool B_TURNED>
__global__ static void H_CLUSTERED __launch_bounds__(H_THREADS, 1)
    h_product_kernel(const __grid_constant__ product p, const __grid_constant__ CUtensorMap a,
                     const __grid_constant__ CUtensorMap b, int tiles, int splits, float *parts)
{
#if ON_HOPPER
    extern __shared__ unsigned char shared[];
    const uint32_t begin = shared_address(shared), ring = (begin + 1023) / 1024 * 1024;
    float *patches = (float *)(shared + (ring - begin) + H_STAGES * H_STAGE);
    const uint32_t full = shared_address(patches + 8 * H_PATCH), empty = full + H_STAGES * 8;
    const int block = blockIdx.x % H_CLUSTER, group = threadIdx.x / 128;
    const h_schedule work(p, tiles, splits);
    if (threadIdx.x == 0) {
        for (int i = 0; i < H_STAGES; i++) {
            barrier_init(full + i * 8, 1);          /* the thread that fetches, and the bytes */
            barrier_init(empty + i * 8, H_CLUSTER); /* a group of each block */
        }
        fence_barriers();
    }
    cluster_sync(); /* nobody arrives at a barrier that is not there */
    if (group == 2) {
        give_registers<40>();
        if (threadIdx.x % 128 == 0)
            h_produce<A_TURNED, B_TURNED>(work, ring, full, empty, &a, &b, block);
    } else {
        take_registers<232>();
        h_consume<A_TURNED, B_TURNED>(p, work, ring, full, empty,
                                      patches + threadIdx.x / 32 * H_PATCH, block, parts);
    }
    cluster_sync(); /* a block's shared memory stays until the other one no longer writes there */
#endif
}

/* How many splits: by the time that the slowest cluster takes, in steps of a tile. */
#define H_BEGIN   3.0  /* steps: the first copies and the last way out, which nothing hides */
#define H_SECOND  8.0  /* the second kernel */
#define H_A_FLOAT 6e-6 /* of a split, written and read */

static int h_splits(const product *p, const product_room *room)
{
    const int steps = (p->k - 1) / H_BOX + 1, clusters = room->hopper / H_CLUSTER;
    const double pairs = ((p->m - 1) / (H_CLUSTER * H_TILE) + 1.0) * ((p->n - 1) / H_TILE + 1.0);
    double least = 0.0;
    int best = 1;
    for (int s = 1; s <= MOST_SPLITS && s <= steps; s++) {
        const int each = (steps - 1) / s + 1;
        const double size = (double)p->m * p->n * s;
        if ((s - 1) * each >= steps) continue; /* the last one would have nothing */
        if (s > 1 && (p->n % 4 != 0 || size > (double)room->parts_floats)) continue;
        const double time = H_BEGIN + ceil(pairs * s / clusters) * each +
                            (s > 1 ? H_SECOND + H_A_FLOAT * size : 0.0);
        if (s == 1 || time < least) least = time, best = s;
    }
    return best;
}

static cudaError_t h_describe(CUtensorMap *map, const bf16 *x, int rows, int pitch)
{
    /* Behind the end of a row there are zeros, so all of its pitch may be read. */
    return describe(map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, x, rows, pitch, H_BOX, H_BOX,
                    CU_TENSOR_MAP_SWIZZLE_128B);
}

template <bool A_TURNED, bool B_TURNED>
static cudaError_t h_launch(const product *p, const product_room *room, cudaStream_t stream)
{
    CUtensorMap a, b;
    CUDA_CHECK(h_describe(&a, p->a, A_TURNED ? p->k : p->m, p->a_pitch));
    CUDA_CHECK(h_describe(&b, p->b, B_TURNED ? p->k : p->n, p->b_pitch));
    CUDA_CHECK(cudaFuncSetAttribute(h_product_kernel<A_TURNED, B_TURNED>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, H_SHARED));
    const int splits = h_splits(p, room), steps = (p->k - 1) / H_BOX + 1;
    h_product_kernel<A_TURNED, B_TURNED>
        <<<room->hopper / H_CLUSTER * H_CLUSTER, H_THREADS, H_SHARED, stream>>>(
            *p, a, b, (steps - 1) / splits + 1, splits, splits > 1 ? room->parts : NULL);
    if (splits > 1) add_parts(p, room, splits, stream);
    return cudaGetLastError();
}

#endif

/** p, by the units that the device has. m, n and k are at least 1. */
static inline cudaError_t multiply(const product *p, const product_room *room, cudaStream_t stream)
{
#if TENSOR_MAPS
    if (room->hopper) {
        switch (p->kind) {
        case NT: return h_launch<false, false>(p, room, stream);
        case NN: return h_launch<false, true>(p, room, stream);
        case TN: return h_launch<true, true>(p, room, stream);
        }
    }
#endif
    return multiply_by_mma(p, room, stream);
}

#endif

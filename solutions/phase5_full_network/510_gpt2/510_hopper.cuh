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
 * Each group has two boxes of 128 x 64 elements of c in bf16. While it multiplies, the TMA fetches
 * the residual, or what the slope of GELU is of, to them. The group replaces these numbers by its
 * finished sums, each lane where it found its own, and the TMA stores the boxes. So no lane waits
 * for memory, and nothing is stored by fours. GELU needs a second result: then a box is of the
 * sums, the other one of their GELU, and the tile leaves in two halves.
 *
 * By heads: an operand is [rows x 64 or 128] of heads one below the other, and a box is of one head
 * if a tile is of one sequence. Only the corner of the box is another one.
 *
 * The cost left: a tile has 128 x 128 sums, half of 4b's, so that each product reads more of L2;
 * and gradients of weights add up their splits in a second kernel.
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
#define H_OUT         (H_TILE * H_BOX * 2) /* bytes of a box of c in bf16: half of a tile */
#define H_SHARED      (1024 + H_STAGES * H_STAGE + 4 * H_OUT + (2 * H_STAGES + 4) * 8)
#define H_BAND        8 /* pairs of tiles: what blocks at work at the same time read is in L2 */

#define H_TURN(group) (1 + (group)) /* named barriers: it is this group's turn */
#define H_OWN(group)  (3 + (group)) /* of a group alone */

/** What the TMA reads and writes: operands, what `finish` needs at a sum's place, results. */
struct h_maps {
    CUtensorMap a, b, other, out, gelu;
};

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

/** Where the boxes of an operand's tile begin, in rows or by heads; its rows run along k, or across
 *  it if TURNED. Only the division by heads or seq that `k` needs is left for each step. */
template <bool TURNED> struct h_operand {
    const head_layout &by;
    bool heads;
    int outer, place; /* the tile's first row of c, or column; by heads also its part of the sum */

    __device__ h_operand(const product &p, bool by_heads, int at)
        : by(p.by), heads(by_heads), outer(at), place(at)
    {
        if (heads) place = TURNED ? head_col(by, at) : head_row(by, at);
    }
    __device__ int row(int k) const
    {
        if (heads) return place + (TURNED ? head_row(by, k) : head_col(by, k));
        return TURNED ? k : outer;
    }
    __device__ int col(int k) const
    {
        return (TURNED ? outer : k) & (heads ? by.dim - 1 : -1);
    }
};

/** Shared addresses. Of each group: two boxes of c, and mbarriers: `other` is there, and the boxes
 *  are free. */
struct h_memory {
    uint32_t ring, boxes, full, empty, there, free;
};

template <bool A_TURNED, bool B_TURNED>
__device__ static void h_produce(const product &p, const h_maps &maps, const h_schedule &work,
                                 h_memory at, int block, bool with_other)
{
    int stage = 0, parity = 1, group = 0, round = 0; /* round: of the group's tiles */
    for (int i = blockIdx.x / H_CLUSTER; i < work.all; i += gridDim.x / H_CLUSTER) {
        const h_work w = work.at(i, block);
        const h_operand<A_TURNED> up(p, p.a_heads, w.row), down(p, p.a_heads, w.row + 64);
        const h_operand<B_TURNED> b(p, p.b_heads, w.col + block * 64); /* this block's half */
        for (int s = 0; s < w.steps; s++) {
            const uint32_t to = at.ring + stage * H_STAGE, barrier = at.full + stage * 8;
            const int k = w.k + s * H_BOX;
            barrier_wait(at.empty + stage * 8, parity);
            barrier_expect(barrier, H_STAGE);
            copy_tile(to, &maps.a, barrier, up.row(k), up.col(k));
            copy_tile(to + H_HALF, &maps.a, barrier, down.row(k), down.col(k));
            copy_tile_to_blocks(to + (2 + block) * H_HALF, &maps.b, barrier, b.row(k), b.col(k), 3);
            stage = (stage + 1) % H_STAGES;
            parity ^= stage == 0;
            /* Late, since the group may still be storing its last tile from there. */
            if (with_other && s == min(w.steps - 1, H_STAGES)) {
                const uint32_t boxes = at.boxes + group * 2 * H_OUT;
                barrier_wait(at.free + group * 8, round % 2);
                barrier_expect(at.there + group * 8, 2 * H_OUT);
                for (int half = 0; half < 2; half++)
                    copy_tile(boxes + half * H_OUT, &maps.other, at.there + group * 8, w.row,
                              w.col + half * H_BOX);
            }
        }
        round += group, group ^= 1;
    }
}

/** One thread of a group tells both blocks that the group has read a stage. */
__device__ __forceinline__ static void h_give_back(uint32_t empty)
{
    if (threadIdx.x % 128 < H_CLUSTER) barrier_arrive(empty, threadIdx.x % 128);
}

/** 64 columns of 16 rows of a warp, finished, to a box, where `other` of the same places is; gelu
 *  to the next box.
 *  @param place of the lane's first two sums, in the order of the swizzle */
template <product_other OTHER, bool GELU>
__device__ __forceinline__ static void h_finish(const product &p, const float (&sum)[8][4],
                                                unsigned char *place, int col)
{
    const int on = (int)((uintptr_t)place & 0x70); /* bits of the chunk in the row */
    uint32_t two[8][2]; /* of `other`, then of c: all are loaded before the first is stored */
    float2 bias[8];
    col += threadIdx.x % 4 * 2;
    place -= on;
#pragma unroll
    for (int j = 0; j < 8; j++) { /* lane l: two sums of row l / 4, two of l / 4 + 8 */
        bias[j] = make_float2(0.0f, 0.0f);
        if (p.bias && col + j * 8 < p.n) bias[j] = *(const float2 *)&p.bias[col + j * 8];
#pragma unroll
        for (int r = 0; r < 2; r++)
            two[j][r] =
                OTHER == NO_OTHER ? 0 : *(const uint32_t *)(place + (on ^ j * 16) + r * 8 * 128);
    }
#pragma unroll
    for (int i = 0; i < 16; i++) {
        const int j = i / 2, r = i % 2;
        const float2 y = finish({sum[j][r * 2], sum[j][r * 2 + 1]}, bias[j], OTHER, two[j][r]);
        uint32_t *to = (uint32_t *)(place + (on ^ j * 16) + r * 8 * 128);
        if (GELU) to[H_OUT / 4] = round_two({gelu(y.x), gelu(y.y)});
        to[0] = round_two(y);
    }
}

/** A group's tile to memory in bf16: through boxes, which the TMA stores. */
__device__ __forceinline__ static void h_store(const product &p, const h_maps &maps,
                                               const float (&sum)[2][16][4], unsigned char *boxes,
                                               const h_work &w)
{
    const int group = threadIdx.x / 128, warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
    unsigned char *place = boxes + (warp * 16 + lane / 4) * 128 + lane / 4 * 16 + lane % 4 * 4;
    /* Loops that are not unrolled: the body is long and is run once a tile. Four copies of it
       were much slower, most likely because the instruction cache does not hold them. */
#pragma unroll 1
    for (int half = 0; half < 2; half++) {
        const int col = w.col + half * H_BOX, box = p.gelu ? 0 : half;
#pragma unroll 1
        for (int rows = 0; rows < 2; rows++) {
            float part[8][4];
#pragma unroll
            for (int i = 0; i < 32; i++) {
                const float up = half ? sum[0][8 + i / 4][i % 4] : sum[0][i / 4][i % 4];
                const float down = half ? sum[1][8 + i / 4][i % 4] : sum[1][i / 4][i % 4];
                part[i / 4][i % 4] = rows ? down : up;
            }
            unsigned char *to = place + box * H_OUT + rows * H_HALF;
            if (p.residual)
                h_finish<RESIDUAL, false>(p, part, to, col);
            else if (p.slope_of)
                h_finish<SLOPE, false>(p, part, to, col);
            else if (p.gelu)
                h_finish<NO_OTHER, true>(p, part, to, col);
            else
                h_finish<NO_OTHER, false>(p, part, to, col);
        }
        fence_async();
        group_sync(H_OWN(group), 128); /* the whole box is there */
        if (threadIdx.x % 128 == 0) {
            const uint32_t from = shared_address(boxes + box * H_OUT);
            if (!p.out_heads)
                store_tile(&maps.out, from, w.row, col);
            else if (w.row < p.m && col < p.n)
                store_tile(&maps.out, from, head_row(p.by, w.row) + head_col(p.by, col),
                           col & (p.by.dim - 1));
            if (p.gelu) store_tile(&maps.gelu, shared_address(boxes + H_OUT), w.row, col);
            store_commit();
            if (p.gelu && half == 0) store_wait<0>();
        }
        if (p.gelu && half == 0) group_sync(H_OWN(group), 128); /* and both are free again */
    }
}

/** In fp32, to p.sums or to the parts of a split. */
__device__ __forceinline__ static void h_store_sums(const product &p, const float (&sum)[2][16][4],
                                                    float *to, int pitch, bool adds,
                                                    const h_work &w)
{
    const int lane = threadIdx.x % 32, row = w.row + threadIdx.x / 32 % 4 * 16 + lane / 4;
    const int col = w.col + lane % 4 * 2;
#pragma unroll
    for (int r = 0; r < 4; r++) { /* lane l: two sums of row l / 4, two of l / 4 + 8; of 64 each */
        if (row + r / 2 * 64 + r % 2 * 8 >= p.m) continue;
        float *at = to + (size_t)(row + r / 2 * 64 + r % 2 * 8) * pitch + col;
#pragma unroll
        for (int j = 0; j < 16; j++) {
            if (col + j * 8 >= p.n) continue;
            const float2 before = adds ? *(float2 *)(at + j * 8) : make_float2(0.0f, 0.0f);
            *(float2 *)(at + j * 8) = make_float2(before.x + sum[r / 2][j][r % 2 * 2],
                                                  before.y + sum[r / 2][j][r % 2 * 2 + 1]);
        }
    }
}

template <bool A_TURNED, bool B_TURNED>
__device__ static void h_consume(const product &p, const h_maps &maps, const h_schedule &work,
                                 h_memory at, unsigned char *boxes, int block, float *parts)
{
    const int group = threadIdx.x / 128, next = gridDim.x / H_CLUSTER;
    const bool with_other = !parts && other_kind(p) != NO_OTHER;
    int step = 0, turn = 0, round = 0; /* step: of all of this block's tiles; round: of the group */
    boxes += group * 2 * H_OUT;
    if (group == 1 && blockIdx.x / H_CLUSTER < work.all) group_arrive(H_TURN(0), 256);
    for (int i = blockIdx.x / H_CLUSTER; i < work.all; i += next, turn ^= 1) {
        const h_work w = work.at(i, block);
        if (turn != group) { /* the other group's tile */
            step += w.steps;
            continue;
        }
        float sum[2][16][4];
        if (threadIdx.x % 128 == 0) {
            store_wait<0>(); /* the boxes are free, and the group knows when its turn begins */
            barrier_arrive(at.free + group * 8);
        }
        group_sync(H_TURN(group), 256); /* the other group has begun all of its products */
        for (int s = 0; s < w.steps; s++, step++) {
            const int stage = step % H_STAGES;
            const uint32_t from = at.ring + stage * H_STAGE;
            /* The next 16 of k are 32 bytes further in a row, or 16 rows of 128 bytes. */
            const uint64_t a0 = descriptor(from, 16, 1024);
            const uint64_t a1 = descriptor(from + H_HALF, 16, 1024);
            const uint64_t b = descriptor(from + 2 * H_HALF, H_HALF, 1024);
            barrier_wait(at.full + stage * 8, step / H_STAGES % 2);
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
            if (s > 0) h_give_back(at.empty + (step - 1) % H_STAGES * 8);
        }
        if (i + next < work.all) group_arrive(H_TURN(1 - group), 256);
        wait_for_products<0>();
        h_give_back(at.empty + (step - 1) % H_STAGES * 8);
        if (with_other) barrier_wait(at.there + group * 8, round++ % 2);
        if (parts)
            h_store_sums(p, sum, parts + (size_t)w.split * p.m * p.n, p.n, false, w);
        else if (p.sums)
            h_store_sums(p, sum, p.sums, p.out_pitch, p.adds, w);
        else
            h_store(p, maps, sum, boxes, w);
    }
    if (threadIdx.x % 128 == 0) store_wait_all(); /* shared memory ends with the block */
}

#endif

#if ON_HOPPER
#define H_CLUSTERED __cluster_dims__(H_CLUSTER, 1, 1)
#else
#define H_CLUSTERED /* there the kernel is empty, and never launched */
#endif
template <bool A_TURNED, bool B_TURNED>
__global__ static void H_CLUSTERED __launch_bounds__(H_THREADS, 1)
    h_product_kernel(const __grid_constant__ product p, const __grid_constant__ h_maps maps,
                     int tiles, int splits, float *parts)
{
#if ON_HOPPER
    extern __shared__ unsigned char shared[];
    const uint32_t begin = shared_address(shared), ring = (begin + 1023) / 1024 * 1024;
    const uint32_t boxes = ring + H_STAGES * H_STAGE, full = boxes + 4 * H_OUT;
    const h_memory at = {
        ring, boxes, full, full + H_STAGES * 8, full + H_STAGES * 16, full + H_STAGES * 16 + 16};
    const int block = blockIdx.x % H_CLUSTER, group = threadIdx.x / 128;
    const h_schedule work(p, tiles, splits);
    if (threadIdx.x == 0) {
        for (int i = 0; i < H_STAGES; i++) {
            barrier_init(at.full + i * 8, 1);          /* the thread that fetches, and the bytes */
            barrier_init(at.empty + i * 8, H_CLUSTER); /* a group of each block */
        }
        for (int i = 0; i < 2; i++) {
            barrier_init(at.there + i * 8, 1);
            barrier_init(at.free + i * 8, 1);
        }
        fence_barriers();
    }
    cluster_sync(); /* nobody arrives at a barrier that is not there */
    if (group == 2) {
        give_registers<56>();
        if (threadIdx.x % 128 == 0)
            h_produce<A_TURNED, B_TURNED>(p, maps, work, at, block,
                                          !parts && other_kind(p) != NO_OTHER);
    } else {
        take_registers<224>();
        h_consume<A_TURNED, B_TURNED>(p, maps, work, at, shared + (boxes - begin), block, parts);
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

/** @param box_rows 64 of an operand, H_TILE of c */
static cudaError_t h_describe(CUtensorMap *map, const bf16 *x, int rows, int pitch, int box_rows)
{
    /* Behind the end of a row there are zeros, so all of its pitch may be read and written. */
    return describe(map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, x, rows, pitch, box_rows, H_BOX,
                    CU_TENSOR_MAP_SWIZZLE_128B);
}

/** The same of an array that may be by heads. */
static cudaError_t h_describe(CUtensorMap *map, const bf16 *x, int rows, int pitch, int box_rows,
                              bool heads, const head_layout *by)
{
    return heads ? h_describe(map, x, rows * (pitch / by->dim), by->dim, box_rows)
                 : h_describe(map, x, rows, pitch, box_rows);
}

template <bool A_TURNED, bool B_TURNED>
static cudaError_t h_describe_all(h_maps *maps, const product *p)
{
    const bf16 *c[] = {p->residual ? p->residual : p->slope_of, p->out, p->gelu};
    CUtensorMap *map[] = {&maps->other, &maps->out, &maps->gelu};
    CUDA_CHECK(
        h_describe(&maps->a, p->a, A_TURNED ? p->k : p->m, p->a_pitch, H_BOX, p->a_heads, &p->by));
    CUDA_CHECK(
        h_describe(&maps->b, p->b, B_TURNED ? p->k : p->n, p->b_pitch, H_BOX, p->b_heads, &p->by));
    for (int i = 0; i < 3; i++)
        if (c[i])
            CUDA_CHECK(h_describe(map[i], c[i], p->m, p->out_pitch, H_TILE, p->out_heads && i == 1,
                                  &p->by));
    return cudaSuccess;
}

template <bool A_TURNED, bool B_TURNED>
static cudaError_t h_launch(const product *p, const product_room *room, cudaStream_t stream)
{
    h_maps maps = {};
    CUDA_CHECK((h_describe_all<A_TURNED, B_TURNED>(&maps, p)));
    CUDA_CHECK(cudaFuncSetAttribute(h_product_kernel<A_TURNED, B_TURNED>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, H_SHARED));
    const int splits = h_splits(p, room), steps = (p->k - 1) / H_BOX + 1;
    h_product_kernel<A_TURNED, B_TURNED>
        <<<room->hopper / H_CLUSTER * H_CLUSTER, H_THREADS, H_SHARED, stream>>>(
            *p, maps, (steps - 1) / splits + 1, splits, splits > 1 ? room->parts : NULL);
    if (splits > 1) add_parts(p, room, splits, stream);
    return cudaGetLastError();
}

#endif

/** @return multiprocessors for these products; 0 on another device, or if the code that was
 * compiled for it has an empty kernel, without clusters */
static inline int h_multiprocessors(void)
{
#if TENSOR_MAPS
    cudaFuncAttributes code;
    if (cudaFuncGetAttributes(&code, h_product_kernel<false, false>) == cudaSuccess &&
        code.requiredClusterWidth == H_CLUSTER)
        return hopper_multiprocessors();
#endif
    return 0;
}

/** Can operands and results be by heads? A tile is then in one sequence. */
static inline bool takes_heads(const product_room *room, int seq)
{
    return TENSOR_MAPS && room->hopper && seq % 128 == 0;
}

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

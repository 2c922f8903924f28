/*
 * 4h_flash_attention_fast.cu: 409 at the speed of fp32.
 *
 * The idea: 409 has one score per thread, and reads one or two operands from shared memory for each
 * multiply-add. Both products of a tile are done as in 401 instead: each thread has 8 x 8 scores in
 * registers, and 8 rows of o, and fetches four floats at a time from shared memory. A warp has 32
 * queries of its own, so that weights pass from the threads that have them to those that need them
 * without a barrier. While one product runs, cp.async brings the tile of the other (2a). The
 * exponentials are powers of 2, for which the hardware has an instruction: log2(e) is in the factor
 * of q.
 *
 * If causal, tiles that come after all queries of a block are not fetched, and a warp skips those
 * that come after its own: half of the work. The blocks with the most tiles start first.
 *
 * The cost removed: operands that come from shared memory one at a time, and waits for tiles. The
 * cost left: 4 seq^2 dim operations per head in fp32; tensor cores do 16 times as many (4c).
 */
#include "4h_flash_attention_fast/flash_attention_fast.h"
#ifdef BROKEN
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#endif
#include "not_implemented.h"
#include "tensor_core.h"
#include <math.h>

#define ROWS   8  /* queries of a thread: every fourth of its warp's 32 */
#define LANES  8  /* threads that share a query */
#define P_COLS 32 /* keys whose weights a warp passes on at a time */

/**
 * What a block holds, for dim up to DIM: zeros beyond dim. All of it takes less than 99 KB, which a
 * block may have on any GPU; a thread has fewer than 255 registers. Rows are 4 or 8 floats longer
 * than needed: those that the threads of a warp read, or write, together lie in different banks.
 */
template <int DIM> struct __align__(16) tiles
{
    enum {
        KEYS = DIM > 64 ? 32 : 64, /* of a tile */
        THREADS = DIM > 64 ? 64 : 128,
        QUERIES = THREADS, /* 32 a warp */
    };
    float q[QUERIES][DIM + 4]; /* times scale log2(e) */
    float k[KEYS][DIM + 4];
    float v[KEYS][DIM];
    float p[QUERIES][P_COLS + 8]; /* weights */
};

/** Of each query of a thread. */
template <int DIM> struct seen {
    float m[ROWS];              /* the largest score yet: the same in all its threads */
    float l[ROWS];              /* the sum of 2^(score - m) of this thread's keys */
    float o[ROWS][DIM / LANES]; /* of these columns: four, every 32 */
};

typedef struct attention {
    float *out, *lse;
    const float *q, *k, *v;
    unsigned heads, seq, dim; /* heads of all of the batch */
    bool causal;
    bool wide; /* rows begin at multiples of 16 bytes */
    float scale;
} attention;

/** One float from global to shared memory, asynchronously; 0 if not inside. */
__device__ __forceinline__ static void copy_one(float *to, const float *from, bool inside)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared_address(to)),
                 "l"(from), "r"(inside ? 4 : 0)
                 : "memory");
}

/** tile = rows `start` .. of x[seq x dim], zeros outside of it; nothing for start >= end. Always
 *  commits a group of copies, even an empty one. */
template <int DIM, int PITCH>
__device__ __forceinline__ static void copy_tile(float (*tile)[PITCH], const float *x,
                                                 unsigned start, unsigned end, attention a)
{
    const unsigned count = start < end ? tiles<DIM>::KEYS * DIM / 4 : 0;
    for (unsigned i = threadIdx.x; i < count; i += tiles<DIM>::THREADS) {
        unsigned r = i / (DIM / 4), c = i % (DIM / 4) * 4;
        const float *from = x + (size_t)(start + r) * a.dim + c;
        bool inside = start + r < a.seq;
        if (a.wide)
            cp_async_cg(shared_address(&tile[r][c]), from, inside && c < a.dim);
        else
            for (unsigned j = 0; j < 4; j++)
                copy_one(&tile[r][c + j], from + j, inside && c + j < a.dim);
    }
    cp_async_commit();
}

/** Wait for the older of the two groups on their way, for all threads. */
__device__ __forceinline__ static void wait_for_older(void)
{
    cp_async_wait<1>();
    __syncthreads();
}

/** sum += a . b */
__device__ __forceinline__ static void add_product(float *sum, float4 a, float4 b)
{
    *sum += a.x * b.x;
    *sum += a.y * b.y;
    *sum += a.z * b.z;
    *sum += a.w * b.w;
}

/** s = q k^T: `row` is the thread's first query, `lane` its first key; the next ones are 4 and 8
 *  further. */
template <int DIM, int COLS>
__device__ __forceinline__ static void multiply_keys(float (&s)[ROWS][COLS], const tiles<DIM> *t,
                                                     int row, int lane)
{
    /* SOLUTION: of each four columns 8 float4 of q, then one of k after the other (about 17
       lines). */
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
#pragma unroll
        for (int j = 0; j < COLS; j++) s[i][j] = 0.0f;
    }
#pragma unroll 2
    for (int d = 0; d < DIM; d += 4) {
        float4 q[ROWS];
#pragma unroll
        for (int i = 0; i < ROWS; i++) q[i] = *(const float4 *)&t->q[row + 4 * i][d];
#pragma unroll
        for (int j = 0; j < COLS; j++) {
            float4 k = *(const float4 *)&t->k[lane + LANES * j][d];
#pragma unroll
            for (int i = 0; i < ROWS; i++) add_product(&s[i][j], q[i], k);
        }
    }
    /* END SOLUTION */
}

/** For tiles at the diagonal and at the end: keys that a query must not see score -infinity.
 *  @param query, key those of s[0][0] */
template <int COLS>
__device__ __forceinline__ static void mask(float (&s)[ROWS][COLS], unsigned query, unsigned key,
                                            attention a)
{
    /* SOLUTION: keys that a query must not see score -infinity (about 9 lines). */
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        unsigned last = a.causal ? query + 4 * i : a.seq;
#pragma unroll
        for (int j = 0; j < COLS; j++) {
            unsigned u = key + LANES * j;
            if (u > last || u >= a.seq) s[i][j] = -INFINITY;
        }
    }
    /* END SOLUTION */
}

/** The online softmax: s becomes weights, earlier sums shrink. */
template <int DIM, int COLS>
__device__ __forceinline__ static void soften(seen<DIM> *to, float (&s)[ROWS][COLS])
{
    /* SOLUTION: of each row the maximum, the factor by which all shrinks, the weights (about 21
       lines). */
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        float m = to->m[i];
#pragma unroll
        for (int j = 0; j < COLS; j++) m = fmaxf(m, s[i][j]);
#pragma unroll
        for (int distance = LANES / 2; distance > 0; distance /= 2)
            m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, distance));

        float base = m == -INFINITY ? 0.0f : m; /* no weight yet: s - base must stay -infinity */
        float shrink = exp2f(to->m[i] - base);
        to->m[i] = m;
        to->l[i] *= shrink;
#pragma unroll
        for (int c = 0; c < DIM / LANES; c++) to->o[i][c] *= shrink;
#pragma unroll
        for (int j = 0; j < COLS; j++) {
            s[i][j] = exp2f(s[i][j] - base);
            to->l[i] += s[i][j];
        }
    }
    /* END SOLUTION */
}

/** sum[0 .. 3] += p v */
__device__ __forceinline__ static void add_four(float *sum, float p, float4 v)
{
    sum[0] += p * v.x;
    sum[1] += p * v.y;
    sum[2] += p * v.z;
    sum[3] += p * v.w;
}

/** o += p v of P_COLS keys, the first of which is `key` in the tile. */
template <int DIM>
__device__ __forceinline__ static void multiply_values(seen<DIM> *to, const tiles<DIM> *t, int row,
                                                       int lane, int key)
{
    /* SOLUTION: of each four keys 8 float4 of p, and four rows of v (about 19 lines). */
#pragma unroll 2
    for (int u = 0; u < P_COLS; u += 4) {
        float4 p[ROWS]; /* of four keys */
#pragma unroll
        for (int i = 0; i < ROWS; i++) p[i] = *(const float4 *)&t->p[row + 4 * i][u];
#pragma unroll
        for (int c = 0; c < DIM / LANES; c += 4) {
            const float *v = &t->v[key + u][lane * 4 + c * LANES];
            float4 v0 = *(const float4 *)v, v1 = *(const float4 *)(v + DIM);
            float4 v2 = *(const float4 *)(v + 2 * DIM), v3 = *(const float4 *)(v + 3 * DIM);
#pragma unroll
            for (int i = 0; i < ROWS; i++) {
                add_four(&to->o[i][c], p[i].x, v0);
                add_four(&to->o[i][c], p[i].y, v1);
                add_four(&to->o[i][c], p[i].z, v2);
                add_four(&to->o[i][c], p[i].w, v3);
            }
        }
    }
    /* END SOLUTION */
}

/** o += p v: the weights of P_COLS keys at a time go to shared memory, where the whole
 *  warp finds them. */
template <int DIM, int COLS>
__device__ __forceinline__ static void add_values(seen<DIM> *to, tiles<DIM> *t,
                                                  const float (&p)[ROWS][COLS], int row, int lane)
{
    /* SOLUTION: a part of the weights into shared memory, its product, the next part (about 12
       lines). */
#pragma unroll
    for (int part = 0; part < COLS * LANES; part += P_COLS) {
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
#pragma unroll
            for (int j = 0; j < P_COLS / LANES; j++)
                t->p[row + 4 * i][lane + LANES * j] = p[i][part / LANES + j];
        }
        __syncwarp(); /* the weights of this warp's queries are there */
        multiply_values(to, t, row, lane, part);
        __syncwarp(); /* and have been read: the next part may overwrite them */
    }
    /* END SOLUTION */
}

/** The end: sums of the threads that share a query, out and lse.
 *  @param query of row 0 of the thread */
template <int DIM>
__device__ __forceinline__ static void store(seen<DIM> *from, attention a, size_t head,
                                             unsigned query, int lane)
{
#pragma unroll
    for (int i = 0; i < ROWS; i++, query += 4) {
        float l = from->l[i];
#pragma unroll
        for (int distance = LANES / 2; distance > 0; distance /= 2)
            l += __shfl_xor_sync(0xffffffffu, l, distance);
        if (query >= a.seq) continue;
        size_t row = head * a.seq + query;
        float factor = l == 0.0f ? 0.0f : 1.0f / l; /* no key had weight: zeros */
        if (a.lse != NULL && lane == 0) a.lse[row] = from->m[i] * 0.6931471806f + logf(l);
#pragma unroll
        for (int c = 0; c < DIM / LANES; c++) {
            unsigned col = lane * 4 + c / 4 * 32 + c % 4;
            if (col < a.dim) a.out[row * a.dim + col] = from->o[i][c] * factor;
        }
    }
}

/** A block per QUERIES of a head; the tiles of queries with the most keys come first. */
template <int DIM>
__global__ static void __launch_bounds__(tiles<DIM>::THREADS, 2) flash_kernel(attention a)
{
    enum { KEYS = tiles<DIM>::KEYS, QUERIES = tiles<DIM>::QUERIES, THREADS = tiles<DIM>::THREADS };
    extern __shared__ __align__(16) unsigned char memory[];
    tiles<DIM> *t = (tiles<DIM> *)memory;
    unsigned last = (a.seq - 1) / QUERIES; /* the last tile of queries has the most keys */
    unsigned top = (last - blockIdx.x / a.heads) * QUERIES;
    size_t head = blockIdx.x % a.heads, at = head * a.seq * a.dim;
    unsigned end = a.causal && top + QUERIES < a.seq ? top + QUERIES : a.seq; /* of the keys */
    int lane = threadIdx.x % LANES;
    int row = threadIdx.x / 32 * 32 + threadIdx.x % 32 / LANES;

    copy_tile<DIM>(t->k, a.k + at, 0, end, a);
    copy_tile<DIM>(t->v, a.v + at, 0, end, a);
    for (unsigned i = threadIdx.x; i < QUERIES * DIM; i += THREADS) {
        unsigned r = i / DIM, c = i % DIM;
        bool inside = top + r < a.seq && c < a.dim;
        float q = inside ? a.q[at + (size_t)(top + r) * a.dim + c] : 0.0f;
        t->q[r][c] = q * (a.scale * 1.4426950409f);
    }

    seen<DIM> sums;
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        sums.m[i] = -INFINITY;
        sums.l[i] = 0.0f;
#pragma unroll
        for (int c = 0; c < DIM / LANES; c++) sums.o[i][c] = 0.0f;
    }
    /* SOLUTION: a loop over tiles: the product with k, k's next tile, mask and softmax, the product
       with v, v's next tile. Then store (about 20 lines). */
    for (unsigned start = 0; start < end; start += KEYS) {
        bool sees = !a.causal || start <= top + (threadIdx.x | 31); /* the warp, any of the tile */
        float s[ROWS][KEYS / LANES];
        wait_for_older(); /* k */
        if (sees) multiply_keys(s, t, row, lane);
        __syncthreads(); /* all threads have read k */
        copy_tile<DIM>(t->k, a.k + at, start + KEYS, end, a);
        if (sees) {
            if (start + KEYS > (a.causal ? top + 1 : a.seq)) mask(s, top + row, start + lane, a);
            soften(&sums, s);
        }
        wait_for_older(); /* v */
        if (sees) add_values(&sums, t, s, row, lane);
        __syncthreads(); /* all threads have read v */
        copy_tile<DIM>(t->v, a.v + at, start + KEYS, end, a);
    }
    store(&sums, a, head, top + row, lane);
    /* END SOLUTION */
}

template <int DIM> static void launch(attention a, cudaStream_t stream)
{
    unsigned blocks = ((a.seq - 1) / tiles<DIM>::QUERIES + 1) * a.heads;
    cudaFuncSetAttribute(flash_kernel<DIM>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         sizeof(tiles<DIM>));
    flash_kernel<DIM><<<blocks, tiles<DIM>::THREADS, sizeof(tiles<DIM>), stream>>>(a);
}

cudaError_t attention_flash_fast(float *out, float *lse, const float *q, const float *k,
                                 const float *v, int batch, int heads, int seq, int dim, int causal,
                                 float scale, cudaStream_t stream)
{
    if (dim > 128) return cudaErrorInvalidValue;
    /* SOLUTION: the kernel's arguments, with the smallest DIM that dim fits in (about 9 lines). */
    unsigned all = (unsigned)batch * heads;
    if (all == 0 || seq == 0) return cudaSuccess; /* an empty grid is a launch error */
    bool wide = dim % 4 == 0 && ((uintptr_t)k | (uintptr_t)v) % 16 == 0;
    attention a = {out, lse, q, k, v, all, (unsigned)seq, (unsigned)dim, causal != 0, wide, scale};
    if (dim > 64)
        launch<128>(a, stream);
    else if (dim > 32)
        launch<64>(a, stream);
    else
        launch<32>(a, stream);
    /* END SOLUTION */
    return cudaGetLastError();
}

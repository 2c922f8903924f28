/*
 * 511_autoencoder.cu: a tiny network (autoencoder.h), layer by layer and in one kernel.
 *
 * The idea: 113,000 weights are half a megabyte, and a batch of 512 frames needs 0.1 GFLOP. Layer
 * by layer that is eighteen launches, each over before the next could be prepared: the launches
 * take the time. In one kernel a block takes some frames through all layers. The activations
 * between layers stay in shared memory, and only x, y and the latent touch memory.
 *
 * The weights do not fit beside that, and each block needs all of them. They come from the L2 cache
 * as 22 tiles of 5,120 floats, the same for every layer, in a ring of three buffers: while one is
 * multiplied, two are on their way. Each weight serves all frames of the block.
 *
 *     tile    0 .. 9          10            11            12 .. 16         17 .. 21
 *     of      w1 [160 x 320]  w2 [32 x 160] w3 [160 x 32] w4, upper half   w4, lower half
 *     a tile  160 x 32        32 x 160      160 x 32      160 x 32         160 x 32
 *
 * Eight warps multiply a tile. In each, eight lanes share a row of weights, and four such groups
 * are next to each other. A thread has sums for up to 8 frames and 5 rows, so that 13 loads of 16
 * bytes feed 160 multiplications. With 64 frames the eight lanes take other frames; with fewer they
 * take other columns of the row, and add their sums by shuffles at the end of the layer.
 *
 * Given: the sizes, the tiles and their copies, the layer norm of a row, GELU, what goes in and
 * out, and the launch. To write, in this order: sae_forward; next_tile, the ring; eight_sum;
 * multiply, a thread's share; fused_kernel, the layers in turn; frames_of_block and
 * sae_forward_fused.
 *
 * What it costs: a block reads all weights, however few frames it has. Each sum is fp32 on the
 * ordinary cores; tensor cores (4g) would be faster for a batch of thousands.
 */
#include "301_activations/activations.h"
#include "303_linear/linear.h"
#include "311_layernorm/layernorm.h"
#include "511_autoencoder/autoencoder.h"
#include "cuda_check.h"
#include "not_implemented.h"
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */

#include <cuda_pipeline.h>
#include <stddef.h>
#include <stdint.h>

/* ---- layer by layer ---- */

/* [batch x 5 x 64] to [5 x batch x 64], so that the slices of one gamma lie together; and back,
 * unless `cut`. A thread per number. */
__global__ static void slices_kernel(float *to, const float *from, int batch, bool cut)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)batch * SAE_INPUTS) return;
    size_t frame = i / SAE_INPUTS, slice = i % SAE_INPUTS / SAE_SLICE, at = i % SAE_SLICE;
    size_t apart = (slice * batch + frame) * SAE_SLICE + at;
    if (cut)
        to[apart] = from[i];
    else
        to[i] = from[apart];
}

static cudaError_t move_slices(float *to, const float *from, int batch, bool cut,
                               cudaStream_t stream)
{
    size_t blocks = ((size_t)batch * SAE_INPUTS + 255) / 256;
    slices_kernel<<<(unsigned)blocks, 256, 0, stream>>>(to, from, batch, cut);
    return cudaGetLastError();
}

/* y = the layer norm (311) of each slice of x, both [batch x 5 x 64]: cut, normalized, joined
 * again. spare: [batch x 320], stats: [2 x batch]; both are overwritten. */
static cudaError_t normalize_slices(float *y, float *spare, float *stats, const float *x,
                                    const float *params, int batch, cudaStream_t stream)
{
    CUDA_CHECK(move_slices(y, x, batch, true, stream));
    for (int s = 0; s < SAE_SLICES; s++) {
        size_t at = (size_t)s * batch * SAE_SLICE;
        CUDA_CHECK(layernorm_forward(
            spare + at, stats, stats + batch, y + at, params + SAE_GAMMA1 + s * SAE_SLICE,
            params + SAE_BETA1 + s * SAE_SLICE, batch, SAE_SLICE, SAE_EPS, stream));
    }
    return move_slices(y, spare, batch, false, stream);
}

cudaError_t sae_forward(float *y, float *latent, const float *x, const float *params,
                        float *scratch, int batch, cudaStream_t stream)
{
    /* TODO: nothing for a batch of 0. Else two arrays [batch x 320] in scratch, behind them
       2 x batch floats for mean and rstd. normalize_slices takes x to the first; then
       linear_forward, gelu_forward (in place), linear_forward, layernorm_forward to latent, and
       linear_forward, gelu_forward, linear_forward to y, each from one array to the other (about
       18 lines). */
    NOT_IMPLEMENTED(y, latent, x, params, scratch, batch, stream);
    return cudaGetLastError();
}

/* ---- in one kernel ---- */

#define THREADS   256
#define WARPS     (THREADS / 32)
#define GROUPS    (THREADS / 8) /* of eight lanes, which share a row */

#define ROWS      5 /* of a tile's 160, that a thread has */
#define TILES     22
#define TILE_ROOM (SAE_HIDDEN * 36) /* floats of a buffer: rows of 32 are padded to 36 */
#define BUFFERS   3

/* How the eight lanes of a group share the frames of a block and the columns of a row. */
template <int FRAMES> struct shares {
    static constexpr int EACH = FRAMES < 8 ? FRAMES : 8; /* frames of a thread */
    static constexpr int FRAME_LANES = FRAMES / EACH;    /* lanes with other frames */
    static constexpr int COLUMN_LANES = 8 / FRAME_LANES; /* lanes with other columns */
    /* Frames that lanes read at once begin this much further in the banks than the one before. */
    static constexpr int PAD = 4 * COLUMN_LANES;
    static constexpr int WIDE = SAE_INPUTS + PAD;   /* a row of x in shared memory */
    static constexpr int NARROW = SAE_HIDDEN + PAD; /* a row of what is 160 or 32 wide */
};

/* The state that all functions of a block share. */
typedef struct {
    const float *params;
    float *ring;    /* BUFFERS x TILE_ROOM, or 1 x TILE_ROOM */
    float *scratch; /* [THREADS] for sums through shared memory */
    int options;
    int tile; /* the next to be multiplied */
} block_state;

/* Four neighbours, 16 bytes at once or 4 and 4. */
template <bool VECTORS> __device__ __forceinline__ static float4 load4(const float *from)
{
    if constexpr (VECTORS)
        return *(const float4 *)from;
    else
        return make_float4(from[0], from[1], from[2], from[3]);
}

template <bool VECTORS> __device__ __forceinline__ static void store4(float *to, float4 v)
{
    if constexpr (VECTORS)
        *(float4 *)to = v;
    else
        to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

/* From memory to shared memory, without a detour through registers: a float4 a thread, or a float.
 * Neighbours take neighbours either way. */
template <bool VECTORS> constexpr int AT_ONCE = VECTORS ? 4 : 1;

template <bool VECTORS> __device__ __forceinline__ static void fetch(float *to, const float *from)
{
    __pipeline_memcpy_async(to, from, AT_ONCE<VECTORS> * sizeof(float));
}

/* Where a tile of the weights lies. */
typedef struct {
    int at, stride, width; /* of the first weight in params; of a row; columns of the tile */
} tile_place;

__device__ static tile_place place_of(int t)
{
    if (t < 10) return {SAE_W1 + t * 32, SAE_INPUTS, 32};
    if (t == 10) return {SAE_W2, SAE_HIDDEN, SAE_HIDDEN};
    if (t == 11) return {SAE_W3, SAE_LATENT, 32};
    int half = (t - 12) / 5, column = (t - 12) % 5 * 32;
    return {SAE_W4 + half * SAE_HIDDEN * SAE_HIDDEN + column, SAE_HIDDEN, 32};
}

/* to: 5,120 floats, its rows of WIDTH padded by 4. */
template <int WIDTH, bool VECTORS>
__device__ static void copy_tile(float *to, const float *from, int stride)
{
    constexpr int N = AT_ONCE<VECTORS>, COLUMNS = WIDTH / N, ROUNDS = WIDTH == 32 ? 5 : 1;
#pragma unroll ROUNDS
    for (int i = threadIdx.x; i < SAE_HIDDEN * 32 / N; i += THREADS) {
        int row = i / COLUMNS, column = i % COLUMNS * N;
        fetch<VECTORS>(to + row * (WIDTH + 4) + column, from + row * stride + column);
    }
}

/* Send for tile t. Each call commits one group, an empty one beyond the last tile: the count of
 * groups says which tile has arrived. */
template <bool VECTORS> __device__ static void fetch_tile(float *to, int t, const float *params)
{
    if (t < TILES) {
        tile_place from = place_of(t);
        if (from.width == SAE_HIDDEN)
            copy_tile<SAE_HIDDEN, VECTORS>(to, params + from.at, from.stride);
        else
            copy_tile<32, VECTORS>(to, params + from.at, from.stride);
    }
    __pipeline_commit();
}

/* The buffer of tile t. Without SAE_PREFETCH all tiles have the same. */
__device__ static float *buffer_of(int t, const block_state *s)
{
    return s->ring + (s->options & SAE_PREFETCH ? t % BUFFERS * TILE_ROOM : 0);
}

/** Wait for the next tile and send for the one after the next. All threads of the block call it,
 * and have then done with the tile before.
 *  @return the tile: rows of its width + 4 floats */
template <bool VECTORS> __device__ static const float *next_tile(block_state *s)
{
    /* TODO: take s->tile, and count it on. With SAE_PREFETCH the two tiles from this one on
       were sent for: wait until all groups but the last have arrived, then a barrier, then send for
       the tile BUFFERS - 1 further on, whose buffer the barrier has freed. Without it: a barrier,
       send for this tile, wait for it, a second barrier. Return the tile's buffer (about 13 lines).
     */
    return {};
}

/** @return the sum of `value` over the eight lanes of a group, in each of them. All 32 lanes of a
 *  warp call it. */
__device__ static float eight_sum(float value, const block_state *s)
{
    /* TODO: with SAE_WARP_SUMS by shuffles, which stay among eight lanes that begin at a
       multiple of 8. Without it through the group's eight floats of s->scratch: store, __syncwarp,
       add up all eight, __syncwarp (about 12 lines). */
    return {};
}

/* Layer norm (311) of a row of WIDTH, 32 or 64, in shared memory, in place, by the eight lanes of a
 * group. Where the row is not `there`, the lanes still take part in the sums. */
template <int WIDTH, bool VECTORS>
__device__ static void normalize(float *row, const float *gamma, const float *beta, bool there,
                                 const block_state *s)
{
    constexpr int QUADS = WIDTH / 32; /* of a lane */
    int lane = threadIdx.x % 8;
    float4 v[QUADS];
    float sum = 0.0f, squares = 0.0f;
#pragma unroll
    for (int q = 0; q < QUADS; q++) {
        v[q] = there ? load4<VECTORS>(row + q * 32 + lane * 4) : make_float4(0, 0, 0, 0);
        sum += v[q].x + v[q].y + v[q].z + v[q].w;
    }
    float mean = eight_sum(sum, s) / WIDTH;
#pragma unroll
    for (int q = 0; q < QUADS; q++) {
        v[q].x -= mean, v[q].y -= mean, v[q].z -= mean, v[q].w -= mean;
        squares += v[q].x * v[q].x + v[q].y * v[q].y + v[q].z * v[q].z + v[q].w * v[q].w;
    }
    float rstd = 1.0f / sqrtf(eight_sum(squares, s) / WIDTH + SAE_EPS);
    if (!there) return;
#pragma unroll
    for (int q = 0; q < QUADS; q++) {
        float4 g = load4<VECTORS>(gamma + q * 32 + lane * 4);
        float4 b = load4<VECTORS>(beta + q * 32 + lane * 4);
        store4<VECTORS>(row + q * 32 + lane * 4,
                        make_float4(v[q].x * rstd * g.x + b.x, v[q].y * rstd * g.y + b.y,
                                    v[q].z * rstd * g.z + b.z, v[q].w * rstd * g.w + b.w));
    }
}

/* By tanhf, or by tanh.approx.f32: one instruction, 11 bits. */
__device__ static float gelu(float x, bool fast)
{
    float t, inner = 0.7978845608f * (x + 0.044715f * x * x * x);
    if (fast)
        asm("tanh.approx.f32 %0, %1;" : "=f"(t) : "f"(inner));
    else
        t = tanhf(inner);
    return 0.5f * x * (1.0f + t);
}

/* Row r of a thread: neighbours of a warp take neighbours, which lie in other banks. */
__device__ __forceinline__ static int row_of(int r)
{
    return (r * WARPS + threadIdx.x / 32) * 4 + threadIdx.x % 32 / 8;
}

/* Frame i of a thread, of the block's FRAMES. */
template <int FRAMES> __device__ __forceinline__ static int frame_of(int i)
{
    return i * shares<FRAMES>::FRAME_LANES + threadIdx.x % shares<FRAMES>::FRAME_LANES;
}

__device__ __forceinline__ static float dot4(float sum, float4 a, float4 b)
{
    return sum + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

/** sums += in[FRAMES x WIDTH, rows of `stride`] * w[R * 32 x WIDTH]^T, in shared memory; rows of w
 *  are WIDTH + 4 floats apart. sums[i][r] is of frame_of<FRAMES>(i) and row_of(r), over the columns
 *  that are this lane's; dense adds up the lanes. */
template <int FRAMES, int R, int WIDTH, bool VECTORS, bool UNROLL>
__device__ __forceinline__ static void multiply(float (&sums)[shares<FRAMES>::EACH][R],
                                                const float *in, int stride, const float *w)
{
    /* TODO: a lane takes four of every 4 * COLUMN_LANES columns; its first are given by its
       place among the eight, threadIdx.x % 8 / FRAME_LANES. For these four: load4 of each of its
       EACH frames, kept in registers, then of each of its R rows of w, and dot4 of all pairs. The
       loops over frames and rows unroll always, the one over columns 4 times if UNROLL, else once;
       a #pragma unroll takes a constant, which may depend on UNROLL (about 18 lines). */
}

/** sums = in * w^T, where w is the next `tiles` tiles; complete in every lane of a group. */
template <int FRAMES, int R, int WIDTH, bool VECTORS, bool UNROLL>
__device__ __forceinline__ static void dense(float (&sums)[shares<FRAMES>::EACH][R],
                                             const float *in, int stride, int tiles, block_state *s)
{
#pragma unroll /* here and below: sums are registers, which only constants can index */
    for (int i = 0; i < shares<FRAMES>::EACH; i++)
#pragma unroll
        for (int r = 0; r < R; r++) sums[i][r] = 0.0f;
#pragma unroll 1
    for (int t = 0; t < tiles; t++) {
        const float *w = next_tile<VECTORS>(s);
        multiply<FRAMES, R, WIDTH, VECTORS, UNROLL>(sums, in + t * WIDTH, stride, w);
    }
#pragma unroll
    for (int i = 0; i < shares<FRAMES>::EACH; i++)
#pragma unroll
        for (int r = 0; r < R; r++)
            for (int distance = shares<FRAMES>::FRAME_LANES; distance < 8; distance *= 2)
                sums[i][r] += __shfl_xor_sync(0xffffffffu, sums[i][r], distance);
}

/* Every lane of a group has the sums of its frames; where lanes have the same frames, each stores
 * some of them. */
template <int FRAMES> __device__ __forceinline__ static int column_lane(void)
{
    return threadIdx.x % 8 / shares<FRAMES>::FRAME_LANES;
}

/** out[FRAMES x R * 32, rows of `stride`] = sums + bias, in shared memory. */
template <int FRAMES, int R>
__device__ __forceinline__ static void
store_sums(float *out, int stride, const float (&sums)[shares<FRAMES>::EACH][R], const float *bias)
{
    typedef shares<FRAMES> share;
#pragma unroll
    for (int r = 0; r < R; r++) {
        float b = bias[row_of(r)];
#pragma unroll
        for (int i = 0; i < share::EACH; i++)
            if (i % share::COLUMN_LANES == column_lane<FRAMES>())
                out[frame_of<FRAMES>(i) * stride + row_of(r)] = sums[i][r] + b;
    }
}

/** The same through GELU. A thread takes up again what it stored, in a loop: forty tanhf in line
 *  would be most of the kernel's code. */
template <int FRAMES>
__device__ __forceinline__ static void store_hidden(float *out, int stride,
                                                    const float (&sums)[shares<FRAMES>::EACH][ROWS],
                                                    const float *bias, bool fast)
{
    typedef shares<FRAMES> share;
    store_sums<FRAMES>(out, stride, sums, bias);
#pragma unroll 1
    for (int i = column_lane<FRAMES>(); i < share::EACH; i += share::COLUMN_LANES)
        for (int r = 0; r < ROWS; r++) {
            float *v = out + frame_of<FRAMES>(i) * stride + row_of(r);
            *v = gelu(*v, fast);
        }
}

/** Send for x, to in[FRAMES x 320, rows of WIDE] in shared memory; zeros for the frames beyond
 *  `frames`. The caller commits the group. */
template <int FRAMES, bool VECTORS>
__device__ static void fetch_frames(float *in, const float *x, int frames)
{
    constexpr int N = AT_ONCE<VECTORS>, COLUMNS = SAE_INPUTS / N;
    for (int i = threadIdx.x; i < FRAMES * COLUMNS; i += THREADS) {
        int frame = i / COLUMNS, column = i % COLUMNS * N;
        float *to = in + frame * shares<FRAMES>::WIDE + column;
        if (frame < frames)
            fetch<VECTORS>(to, x + (size_t)frame * SAE_INPUTS + column);
        else
            for (int k = 0; k < N; k++) to[k] = 0.0f;
    }
}

/** to[frames x WIDTH, rows of `stride`] = from[FRAMES x WIDTH, rows of NARROW], in shared memory.
 */
template <int FRAMES, int WIDTH, bool VECTORS>
__device__ static void write_frames(float *to, int stride, const float *from, int frames)
{
    constexpr int N = AT_ONCE<VECTORS>, COLUMNS = WIDTH / N;
    for (int i = threadIdx.x; i < frames * COLUMNS; i += THREADS) {
        int frame = i / COLUMNS, column = i % COLUMNS * N;
        float *there = to + (size_t)frame * stride + column;
        const float *here = from + frame * shares<FRAMES>::NARROW + column;
        if constexpr (VECTORS)
            *(float4 *)there = *(const float4 *)here;
        else
            *there = *here;
    }
}

/* All slices of a block's frames, in place: in[FRAMES x 320, rows of WIDE]. */
template <int FRAMES, bool VECTORS>
__device__ static void normalize_block_slices(float *in, const block_state *s)
{
    for (int first = 0; first < FRAMES * SAE_SLICES; first += GROUPS) {
        int row = first + threadIdx.x / 8, slice = row % SAE_SLICES;
        normalize<SAE_SLICE, VECTORS>(
            in + row / SAE_SLICES * shares<FRAMES>::WIDE + slice * SAE_SLICE,
            s->params + SAE_GAMMA1 + slice * SAE_SLICE, s->params + SAE_BETA1 + slice * SAE_SLICE,
            row < FRAMES * SAE_SLICES, s);
    }
}

/* The latents of a block's frames, in place: in[FRAMES x 32, rows of NARROW]. */
template <int FRAMES, bool VECTORS>
__device__ static void normalize_block_latent(float *in, const block_state *s)
{
    for (int first = 0; first < FRAMES; first += GROUPS) {
        int row = first + threadIdx.x / 8;
        normalize<SAE_LATENT, VECTORS>(in + row * shares<FRAMES>::NARROW, s->params + SAE_GAMMA2,
                                       s->params + SAE_BETA2, row < FRAMES, s);
    }
}

/** A block takes FRAMES frames through all layers. Two areas of shared memory, front and back, of
 *  [FRAMES x 160, rows of NARROW] each, are read and written by the layers in turn: x lies across
 *  both, in rows of WIDE. Only the first `frames` frames are there, and have a y and a latent. */
template <int FRAMES, bool VECTORS, bool UNROLL>
__global__ static void __launch_bounds__(THREADS, FRAMES == 64 ? 1 : 2)
    fused_kernel(float *y, float *latent, const float *x, const float *params, int batch,
                 int options)
{
    typedef shares<FRAMES> share;
    extern __shared__ float4 room[];
    float *front = (float *)room, *back = front + FRAMES * share::NARROW;
    block_state s = {params, back + FRAMES * share::NARROW + THREADS, back + FRAMES * share::NARROW,
                     options, 0};
    size_t first = (size_t)blockIdx.x * FRAMES;
    int frames = batch - first < FRAMES ? (int)(batch - first) : FRAMES;
    bool fast = options & SAE_FAST_GELU;
    x += first * SAE_INPUTS, y += first * SAE_INPUTS, latent += first * SAE_LATENT;

    /* TODO: the layers in turn (about 32 lines).
       1. fetch_frames into front, one group; with SAE_PREFETCH tiles 0 and 1, a group each. Wait
          for x: the tiles may stay on their way, and without SAE_PREFETCH there are none to stay.
          A barrier; normalize_block_slices.
       2. dense for the 10 tiles of w1, from front in rows of WIDE; store_hidden to front.
       3. dense for w2, of R = 1 and WIDTH = 160, from front; store_sums to back;
          normalize_block_latent. All others have R = ROWS and WIDTH = 32.
       4. dense for w3 from back; write_frames of the latent; store_hidden to front.
       5. For each half of y: dense for 5 tiles of w4 from front; store_sums to back; write_frames.
       The sums are float[EACH][ROWS] in registers, and float[EACH][1] for w2. dense begins with a
       barrier, next_tile's, before each tile. Where that one does not do, put a __syncthreads(). */
}

/* The launch of one kind of kernel, with the shared memory that it needs. */
template <int FRAMES, bool VECTORS, bool UNROLL>
static cudaError_t launch(float *y, float *latent, const float *x, const float *params, int batch,
                          int options, cudaStream_t stream)
{
    int buffers = options & SAE_PREFETCH ? BUFFERS : 1;
    int floats = 2 * FRAMES * shares<FRAMES>::NARROW + THREADS + buffers * TILE_ROOM;
    int bytes = floats * (int)sizeof(float), blocks = (batch - 1) / FRAMES + 1;
    CUDA_CHECK(cudaFuncSetAttribute(fused_kernel<FRAMES, VECTORS, UNROLL>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    fused_kernel<FRAMES, VECTORS, UNROLL>
        <<<blocks, THREADS, bytes, stream>>>(y, latent, x, params, batch, options);
    return cudaGetLastError();
}

/* The launch with FRAMES frames a block: SAE_VECTORS and SAE_UNROLL choose the kernel. */
template <int FRAMES>
static cudaError_t launch_frames(float *y, float *latent, const float *x, const float *params,
                                 int batch, int options, cudaStream_t stream)
{
    bool vectors = options & SAE_VECTORS, unroll = options & SAE_UNROLL;
    auto *kind = vectors  ? unroll ? launch<FRAMES, true, true> : launch<FRAMES, true, false>
                  : unroll ? launch<FRAMES, false, true>
                          : launch<FRAMES, false, false>;
    return kind(y, latent, x, params, batch, options, stream);
}

/* How many frames a block takes: 1, 4, 8 or 64. Few frames a block keep all multiprocessors busy,
 * many use each weight often. */
static cudaError_t frames_of_block(int *frames, int batch)
{
    /* TODO: ask the device for its multiprocessors. One frame while the batch is no larger than
       their number, 4 up to 4 times, 8 up to 40 times as many, else 64 (about 4 lines). */
    NOT_IMPLEMENTED(frames, batch);
    return cudaSuccess;
}

/* May all four be read or written 16 bytes at a time? */
static bool aligned(const void *a, const void *b, const void *c, const void *d)
{
    return ((uintptr_t)a | (uintptr_t)b | (uintptr_t)c | (uintptr_t)d) % sizeof(float4) == 0;
}

cudaError_t sae_forward_fused(float *y, float *latent, const float *x, const float *params,
                              int batch, int options, cudaStream_t stream)
{
    /* TODO: cudaErrorInvalidValue for a bit beyond SAE_ALL; nothing for a batch of 0. The
       frames of a block: 1 without SAE_MANY_FRAMES. SAE_VECTORS is dropped unless all arrays are
       aligned. Then one of launch_frames<1>, <4>, <8> and <64> (about 10 lines). */
    NOT_IMPLEMENTED(y, latent, x, params, batch, options, stream);
    return cudaGetLastError();
}

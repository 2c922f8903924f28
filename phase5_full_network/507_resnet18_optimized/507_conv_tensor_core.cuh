/*
 * 507_conv_tensor_core.cuh: one kernel for all convolutions, and the linear layer: implicit GEMM
 * (307) on tensor cores, with whatever follows a convolution in its epilogue.
 *
 *     y[pixels x channels] = relu(window(x)[pixels x k] * w[channels x k]^T + bias + residual)
 *
 * Activations are NHWC. There a pixel's channels are neighbours, so that a tile row, 128 bytes of
 * k, is one stretch of memory: one tap of the window, copied with `cp.async`, 16 bytes per thread.
 * Nothing is divided in the loop: a thread finds the windows of its rows once, and which of their
 * taps lie in the padding, one bit each; `cp.async` writes zeros for those.
 *
 * The copies run STAGES - 1 tiles ahead of the products, in a ring of tiles in shared memory.
 *
 * A layer of few pixels has too few tiles to fill the GPU: then `splits` blocks share one, each
 * with a part of k. They leave their sums in global memory, and a counter shows which block
 * arrives last: that one adds them all, always in the same order.
 *
 * Given: the sizes, the ring and its copies, products from fragments, and the launch, as in 4a and
 * 413. To write: add_splits and finish.
 *
 * The cost removed: 307's transposed stores, its fp32 multiply-adds, and the traffic of the layers
 * behind (batch normalization, sum, ReLU). The cost left: each pixel is copied once for each tap.
 */
#ifndef CONV_TENSOR_CORE_CUH
#define CONV_TENSOR_CORE_CUH

#include "507_early.cuh"
#include "507_tensor_core.cuh"
#include "cuda_check.h"

/** One convolution, as the kernel sees it. All distances in x are counted in chunks of 16 bytes. */
typedef struct conv_args {
    void *y;              /* [pixels x channels] */
    const uint4 *x;       /* NHWC */
    const uint4 *w;       /* [channels, up to a multiple of 128][steps * 128 bytes] */
    const float *bias;    /* likewise padded */
    const void *residual; /* as y, added before ReLU; may be y; or NULL */
    float *partial;       /* room for the sums of splits; see conv_partial_floats */
    int *arrived;         /* [tiles] zeros, and zeros again afterwards */
    int pixels, channels; /* of y, of all images */
    int side;             /* pixels of y a side */
    int in_side, stride, pad, taps_h, taps_w; /* which taps lie in x */
    int image, out_row,
        out_col;          /* from an output's window to that of the next image, row, column */
    int tap_row, tap_col; /* between taps */
    int upper;            /* chunks 4..7 of a tile row lie this far beyond the end of 0..3 */
    int tap_steps, steps; /* tile rows a tap, and of all k */
    int splits;
    bool relu;
    bool y_is_float; /* the caller's logits: floats in each precision, at any address */
} conv_args;

/** A block's tile of y, and the warps that share it. */
template <int PIXELS, int CHANNELS, int WARPS_M, int WARPS_N, int STAGES_> struct tile {
    enum {
        M = PIXELS,
        N = CHANNELS,
        ACROSS = WARPS_N,
        THREADS = 32 * WARPS_M * WARPS_N,
        MI = PIXELS / WARPS_M / 16, /* products of 16 x 8 that a warp has, down and across */
        NJ = CHANNELS / WARPS_N / 8,
        STAGES = STAGES_,
        STAGE_BYTES = (PIXELS + CHANNELS) * ROW_BYTES,
        PITCH = CHANNELS + 8, /* of sums on their way out: 4 rows of 8 floats meet in no bank */
        RING_BYTES = STAGES * STAGE_BYTES,
        SUMS_BYTES = PIXELS * PITCH * 4,
        SHARED_BYTES = RING_BYTES > SUMS_BYTES ? RING_BYTES : SUMS_BYTES,
        ROW_STEP = THREADS / CHUNKS, /* rows that a block copies at once */
        A_ROWS = PIXELS / ROW_STEP,
        B_ROWS = CHANNELS / ROW_STEP,
    };
};

/* What a thread copies of each stage: its chunk of some rows of x and w. Where their windows begin,
 * and a bit for each tap that lies in x. */
template <typename T> struct source {
    const uint4 *x, *w;
    int window[T::A_ROWS];      /* chunks from x to the first tap, which may lie outside */
    unsigned inside[T::A_ROWS]; /* bit r * taps_w + s */
    int w_pitch;                /* chunks from one of its rows of w to the next */
    uint32_t to;                /* its first chunk in a stage */

    /** window[i] and inside[i] of a pixel, counted over all images; beyond the last no tap is
     * inside. */
    __device__ __forceinline__ void find_window(int i, int pixel, const conv_args &a)
    {
        const int row = pixel / a.side, image = row / a.side;
        const int out_row = row - image * a.side, out_col = pixel - row * a.side;
        const int top = out_row * a.stride - a.pad, left = out_col * a.stride - a.pad;
        window[i] = image * a.image + out_row * a.out_row + out_col * a.out_col -
                    a.pad * (a.tap_row + a.tap_col);
        inside[i] = 0;
        if (pixel >= a.pixels) return;
        for (int r = 0, bit = 0; r < a.taps_h; r++) {
            for (int s = 0; s < a.taps_w; s++, bit++) {
                const bool is = (unsigned)(top + r) < (unsigned)a.in_side &&
                                (unsigned)(left + s) < (unsigned)a.in_side;
                inside[i] |= (unsigned)is << bit;
            }
        }
    }

    __device__ __forceinline__ source(const conv_args &a, uint32_t shared, int pixel, int channel,
                                      int first_step)
    {
        const int row = threadIdx.x / CHUNKS, chunk = threadIdx.x % CHUNKS;
        x = a.x + chunk + (chunk >= CHUNKS / 2 ? a.upper : 0);
        w = a.w + ((size_t)(channel + row) * a.steps + first_step) * CHUNKS + chunk;
        w_pitch = T::ROW_STEP * CHUNKS * a.steps;
        to = shared + row * ROW_BYTES + (chunk ^ row % CHUNKS) * 16;
#pragma unroll
        for (int i = 0; i < T::A_ROWS; i++) find_window(i, pixel + row + i * T::ROW_STEP, a);
    }

    /** Through L1, because neighbouring taps mostly read the same pixels again.
     *  @param offset chunks from the window's beginning @param stage bytes */
    __device__ __forceinline__ void copy(int tap, int offset, uint32_t stage)
    {
#pragma unroll
        for (int i = 0; i < T::A_ROWS; i++) {
            cp_async_ca(to + stage + i * T::ROW_STEP * ROW_BYTES, x + (window[i] + offset),
                        inside[i] >> tap & 1);
        }
#pragma unroll
        for (int i = 0; i < T::B_ROWS; i++) {
            cp_async_ca(to + stage + (T::M + i * T::ROW_STEP) * ROW_BYTES, w + i * w_pitch, true);
        }
        w += CHUNKS;
    }
};

/** Which tap, and which part of its channels, the next step is. The same in all threads, so that it
 * takes no register in each. */
struct place {
    int r, s, part;

    __device__ __forceinline__ place(int step, const conv_args &a)
    {
        const int tap = step / a.tap_steps;
        part = step - tap * a.tap_steps;
        r = tap / a.taps_w;
        s = tap - r * a.taps_w;
    }
    __device__ __forceinline__ int tap(const conv_args &a) const
    {
        return r * a.taps_w + s;
    }
    __device__ __forceinline__ int offset(const conv_args &a) const
    {
        return r * a.tap_row + s * a.tap_col + part * CHUNKS;
    }
    __device__ __forceinline__ void advance(const conv_args &a)
    {
        if (++part < a.tap_steps) return;
        part = 0;
        if (++s < a.taps_w) return;
        s = 0;
        r++;
    }
};

/** A warp's products of one stage, 32 bytes of k at a time.
 *  @param a_row, b_row the lane's row of its warp's part, for ldmatrix, at chunk 0 */
template <resnet18_precision P, typename T>
__device__ __forceinline__ static void multiply_stage(float sum[T::MI][T::NJ][4], uint32_t a_row,
                                                      uint32_t b_row)
{
    const int lane = threadIdx.x % 32, swizzle = lane % 8;
    const int a_chunk = lane / 16, b_chunk = lane / 8 % 2; /* of the two */
#pragma unroll
    for (int k = 0; k < CHUNKS / 2; k++) {
        uint32_t a[T::MI][4], b[T::NJ][2];
        const uint32_t a_at = a_row + ((2 * k + a_chunk) ^ swizzle) * 16;
        const uint32_t b_at = b_row + ((2 * k + b_chunk) ^ swizzle) * 16;
#pragma unroll
        for (int i = 0; i < T::MI; i++) ldmatrix(a[i], a_at + i * 16 * ROW_BYTES);
#pragma unroll
        for (int j = 0; j < T::NJ; j += 2) ldmatrix(b[j], b_at + j * 8 * ROW_BYTES);
        product<P, T::MI, T::NJ>::add(sum, a, b);
    }
}

/* The ring: wait for a stage, barrier, start the copy into the one that all threads have left,
 * multiply.
 */
template <resnet18_precision P, typename T>
__device__ __forceinline__ static void multiply_tiles(float sum[T::MI][T::NJ][4],
                                                      const conv_args &a, uint32_t shared,
                                                      int pixel, int channel, int begin, int end)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int warp_m = warp / T::ACROSS * T::MI * 16, warp_n = warp % T::ACROSS * T::NJ * 8;
    const uint32_t a_row = shared + (warp_m + lane % 16) * ROW_BYTES;
    const uint32_t b_row = shared + (T::M + warp_n + lane / 16 * 8 + lane % 8) * ROW_BYTES;
    source<T> from(a, shared, pixel, channel, begin);
    place next(begin, a);
    uint32_t fill = 0, use = 0; /* stages, in bytes */
    int to_copy = end - begin;

    wait_for_kernel_before();
    for (int i = 0; i < T::STAGES - 1; i++) {
        if (to_copy-- > 0) from.copy(next.tap(a), next.offset(a), fill);
        cp_async_commit(); /* an empty group too: they are counted */
        next.advance(a);
        fill += T::STAGE_BYTES;
    }
    for (int step = begin; step < end; step++) {
        cp_async_wait<T::STAGES - 2>();
        __syncthreads(); /* all copies of this stage are there, and the one before it is read */
        if (to_copy-- > 0) from.copy(next.tap(a), next.offset(a), fill);
        cp_async_commit();
        next.advance(a);
        fill = fill == T::RING_BYTES - T::STAGE_BYTES ? 0 : fill + T::STAGE_BYTES;
        multiply_stage<P, T>(sum, a_row + use, b_row + use);
        use = use == T::RING_BYTES - T::STAGE_BYTES ? 0 : use + T::STAGE_BYTES;
    }
    cp_async_wait<0>();
    __syncthreads(); /* the ring is free for other things */
}

/** Leave this block's sums; the last of a tile's a.splits blocks to arrive has those of all, added
 * from the first split to the last. blockIdx.x is the tile, blockIdx.y the split. a.partial is
 * [tiles x splits x MI * NJ x THREADS] float4, a.arrived [tiles].
 *  @return is this the last? */
template <typename T>
__device__ __forceinline__ static bool add_splits(float sum[T::MI][T::NJ][4], const conv_args &a)
{
    /* TODO: each thread stores its MI * NJ times four sums, neighbours next to each other, so
       that the same thread of another block can add them. Then the fence, a barrier, and one thread
       counts up a.arrived with atomicAdd; if it is the last, it sets the counter back to 0. A
       barrier brings the news to all. All but the last block return false. The last begins at 0 and
       adds what every split has left, its own too, by __ldcg, past the L1 cache (about 30 lines).
     */
    return {};
}

/* From the lanes that have them to rows in shared memory: [M x N, rows of PITCH]. */
template <typename T>
__device__ __forceinline__ static void stage_sums(float *rows, float sum[T::MI][T::NJ][4])
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    rows += (warp / T::ACROSS * T::MI * 16 + lane / 4) * T::PITCH;
    rows += warp % T::ACROSS * T::NJ * 8 + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < T::MI; i++) {
#pragma unroll
        for (int j = 0; j < T::NJ; j++) {
            float *at = rows + i * 16 * T::PITCH + j * 8;
            *(float2 *)at = make_float2(sum[i][j][0], sum[i][j][1]);
            *(float2 *)(at + 8 * T::PITCH) = make_float2(sum[i][j][2], sum[i][j][3]);
        }
    }
}

/** 16 bytes at a time; `from` begins at a multiple of 16. */
template <int COUNT> __device__ __forceinline__ static void load_floats(float *v, const float *from)
{
#pragma unroll
    for (int i = 0; i < COUNT; i += 4) unpack(v + i, *(const uint4 *)(from + i), (float *)NULL);
}

/** y = relu(rows + bias + residual), of the tile at this pixel and channel of y.
 *  @param rows [M x N, rows of PITCH] of shared memory; bias is padded as w is, y and residual are
 * not */
template <typename E, typename T>
__device__ __forceinline__ static void finish(const float *rows, const conv_args &a, int pixel,
                                              int channel)
{
    /* TODO: a thread takes WIDTH_OF(E) channels of a pixel at a time, neighbours the next ones,
       and leaves out what is no pixel or no channel (a.channels is a multiple of 8). load_floats
       brings sums and bias, `unpack` 16 bytes of the residual, if there is one; NaN must pass the
       ReLU, if there is one. `pack` makes 16 bytes for y; or the numbers go to y as
       single floats if y_is_float (about 23 lines). */
}

/* blockIdx.x is the tile, channels fastest, so that neighbours read the same pixels; blockIdx.y is
 * the split. */
template <resnet18_precision P, typename T>
__global__ __launch_bounds__(T::THREADS) static void conv_kernel(const conv_args a)
{
    typedef typename element_of<P>::type element;
    extern __shared__ uint4 memory[];
    const int tiles_n = (a.channels + T::N - 1) / T::N;
    const int pixel = blockIdx.x / tiles_n * T::M, channel = blockIdx.x % tiles_n * T::N;
    const int begin = (long long)a.steps * blockIdx.y / a.splits;
    const int end = (long long)a.steps * (blockIdx.y + 1) / a.splits;
    float sum[T::MI][T::NJ][4] = {};

    let_next_start();
    multiply_tiles<P, T>(sum, a, shared_address(memory), pixel, channel, begin, end);
    if (a.splits > 1 && !add_splits<T>(sum, a)) return;
    stage_sums<T>((float *)memory, sum);
    __syncthreads(); /* a thread now reads sums that others have stored */
    finish<element, T>((const float *)memory, a, pixel, channel);
}

/* ---- the host's side ------------------------------------------------------------------------- */

/** The kernel for one kind of tile: its pixels x channels, and how it is launched. */
typedef struct conv_variant {
    const void *kernel;
    int m, n, threads, shared_bytes;
} conv_variant;

#define CONV_VARIANTS 4

/* The variants of a precision. Large tiles copy less for a product, small ones leave fewer
 * multiprocessors idle. More stages would take room from other blocks and from the L1 cache. */
template <resnet18_precision P, typename T> static conv_variant variant_of(void)
{
    return conv_variant{(const void *)conv_kernel<P, T>, T::M, T::N, T::THREADS, T::SHARED_BYTES};
}

template <resnet18_precision P> static conv_variant variant_in(int i)
{
    switch (i) {
    case 0: return variant_of<P, tile<128, 128, 2, 4, 2>>();
    case 1: return variant_of<P, tile<256, 64, 4, 2, 2>>();
    case 2: return variant_of<P, tile<64, 64, 2, 2, 2>>();
    default: return variant_of<P, tile<64, 32, 2, 2, 3>>();
    }
}

static conv_variant conv_variant_of(resnet18_precision precision, int i)
{
    if (precision == RESNET18_FP16) return variant_in<RESNET18_FP16>(i);
    if (precision == RESNET18_TF32) return variant_in<RESNET18_TF32>(i);
    return variant_in<RESNET18_FP32>(i);
}

/** @return tiles of y */
static inline int conv_tiles(const conv_args *a, conv_variant v)
{
    return (a->pixels + v.m - 1) / v.m * ((a->channels + v.n - 1) / v.n);
}

/** @return floats that the splits leave: none where there is only one */
static inline size_t conv_partial_floats(const conv_args *a, conv_variant v)
{
    return a->splits > 1 ? (size_t)a->splits * conv_tiles(a, v) * v.m * v.n : 0;
}

/** To be called before a variant is launched: more than 48 KB of shared memory must be asked for.
 *  @param resident blocks that a multiprocessor then holds at once */
static inline cudaError_t conv_prepare(int *resident, conv_variant v)
{
    const cudaError_t e =
        cudaFuncSetAttribute(v.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, v.shared_bytes);
    if (e != cudaSuccess) return e;
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(resident, v.kernel, v.threads,
                                                         v.shared_bytes);
}

/** @param early see launch_kernel */
static inline cudaError_t conv_launch(conv_args *a, conv_variant v, bool early, cudaStream_t stream)
{
    void *parameters[] = {a};
    return launch_kernel(v.kernel, dim3(conv_tiles(a, v), a->splits), dim3(v.threads), parameters,
                         v.shared_bytes, early, stream);
}

#endif

/*
 * 507_hopper_stem.cuh: what comes before the blocks, from the caller's images to the pooled stem,
 * as one kernel by wgmma: conv1 with its batch normalization and ReLU, and max pooling.
 *
 * Elsewhere this takes three kernels, and conv1's result is written and read again: with 64 images
 * 103 MB each time in fp16, more than all that the blocks move.
 *
 * A block brings some rows of an image to shared memory, framed as 507_prepare.cuh does it: 4
 * elements a pixel. There the windows overlap. That of the next output begins 2 pixels further, so
 * in fp16 16 bytes further, and wgmma can read it so. Without a swizzle it takes an operand in
 * blocks of 8 rows of 16 bytes, which follow each other; two distances lead to the next 16 bytes of
 * k and to the next 8 rows. Here the next 16 bytes of k are the next row: the distance is 16.
 *
 *     pixels        0 1 2 3 4 5 6 7 8 9 ...         two pixels are 16 bytes
 *     window of 0   [a   b   c   d ]                k = 32: 4 of these
 *     window of 1       [a   b   c   d ]
 *
 * A pixel of floats has 16 bytes itself. Even pixels and odd ones have an array each; then the next
 * window is the next 16 bytes again, and of a k of 32 bytes the first half is in one array, the
 * second one in the other.
 *
 * Sums have channels as rows, and the pixels of a row of conv1 as columns, two neighbours per lane:
 * the largest of three neighbours takes one shuffle. A group takes row after row of conv1. What is
 * needed of a row for the pooled row below stays in registers.
 *
 * Not for RESNET18_FP32, whose hi and lo of weights and rows have no room side by side, and not for
 * images that are wider than 224.
 *
 * All of this file is given.
 */
#ifndef HOPPER_STEM_CUH
#define HOPPER_STEM_CUH

#include "507_hopper.cuh"
#include "507_prepare.cuh"
#include <math.h>

#define STEM_PIXELS  112 /* of a row of conv1, at most */
#define STEM_GROUPS  2
#define STEM_THREADS (STEM_GROUPS * 128)

typedef struct hopper_stem {
    const void *kernel; /* NULL: other kernels compute it */
    int blocks, shared_bytes;
#if TENSOR_MAPS
    struct stem_args {
        CUtensorMap w;
        void *y; /* [images x pooled x pooled x 64] */
        const float *bias;
        int size, side, pooled; /* of the image, of conv1's result, of y */
        int bands;              /* blocks of an image */
    } args;
#endif
} hopper_stem;

#if TENSOR_MAPS

/** A block: POOLED rows of y per group. */
template <resnet18_precision P, int POOLED_> struct stem_tile {
    enum {
        POOLED = POOLED_,
        HALF = P == RESNET18_FP16,
        ELEMENT = HALF ? 2 : 4,
        ROWS = 2 * (2 * POOLED * STEM_GROUPS + 1) + 5, /* of the image */
        FRAMED = 2 * (STEM_PIXELS - 1) + STEM_TAPS,    /* pixels of a row */
        ROW = FRAMED * STEM_CHANNELS * ELEMENT,        /* bytes */
        NEXT_K = HALF ? 16 : ROW / 2,                  /* between the halves of 32 bytes of k */
        STEPS = HALF ? 2 : 4,                          /* such 32 bytes of a row of the window */
        STEP = HALF ? 32 : 16,
        BOX = 64 * ROW_BYTES, /* of weights */
        BOXES = HALF ? 4 : 7,
        PITCH = 64 + 8, /* of a pixel on its way out: 4 pixels and 8 channels meet in no bank */
        OUT = STEM_PIXELS / 2 * PITCH * ELEMENT,
        BARRIER = BOXES * BOX + ROWS * ROW + STEM_GROUPS * OUT,
        SHARED_BYTES = BARRIER + 16,
        BLOCKS = HALF ? 2 : 1, /* that share a multiprocessor */
    };
};

#if ON_HOPPER

/** An operand without a swizzle: `next_k` leads to the next 16 bytes of k, `next` to the next 8
 * rows. */
__device__ __forceinline__ static uint64_t plain_descriptor(uint32_t address, int next_k, int next)
{
    return (uint64_t)((address & 0x3ffff) >> 4) | (uint64_t)(next_k >> 4) << 16 |
           (uint64_t)(next >> 4) << 32;
}

/** NaN is larger than any number. */
__device__ __forceinline__ static float larger(float a, float b)
{
    float c;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
    return c;
}

/** Rows of an image from `top` on, which may be outside, into their frame. */
template <resnet18_precision P, typename T>
__device__ __forceinline__ static void frame_rows(unsigned char *rows, const float *image, int size,
                                                  int top)
{
    typedef typename element_of<P>::type element;
#pragma unroll 4
    for (int i = threadIdx.x; i < T::ROWS * T::FRAMED; i += STEM_THREADS) {
        const int line = i / T::FRAMED, at = i % T::FRAMED, row = top + line, col = at - 3;
        const bool inside = row >= 0 && row < size && col >= 0 && col < size;
        const float *from = image + (ptrdiff_t)row * size + col;
        alignas(16) element pixel[STEM_CHANNELS];
        for (int c = 0; c < STEM_CHANNELS; c++)
            pixel[c] = to_element<P>(inside && c < 3 ? from[(size_t)c * size * size] : 0.0f);
        unsigned char *to = rows + line * T::ROW;
        if (T::HALF)
            *(uint2 *)(to + at * 8) = *(const uint2 *)pixel;
        else
            *(uint4 *)(to + at % 2 * T::NEXT_K + at / 2 * 16) = *(const uint4 *)pixel;
    }
}

/** A row of conv1: sum[64 channels x STEM_PIXELS]; `row` is the first of its window. */
template <resnet18_precision P, typename T>
__device__ __forceinline__ static void multiply_row(float sum[STEM_PIXELS / 8][4], uint32_t weights,
                                                    uint32_t row)
{
    fence_sums();
#pragma unroll
    for (int k = 0; k < 7 * T::STEPS; k++) {
        const uint32_t x = row + k / T::STEPS * T::ROW + k % T::STEPS * T::STEP;
        wide_product<P, STEM_PIXELS>::add(
            sum, descriptor(weights + k / 4 * T::BOX, 16, 1024) + k % 4 * 2,
            plain_descriptor(x, T::NEXT_K, 128), k > 0);
    }
    commit_products();
    wait_for_products<0>();
}

/** The largest of three neighbours of a row, every second pixel: most[j][i] is of pooled pixel
 *  4 j + lane % 4 and this lane's channel i. Pixels from `side` on do not count. */
__device__ __forceinline__ static void pool_row(float most[STEM_PIXELS / 8][2],
                                                const float sum[STEM_PIXELS / 8][4], int side)
{
    const int lane = threadIdx.x % 32, from = lane / 4 * 4 + (lane + 3) % 4;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        float before = -INFINITY; /* this lane's odd pixel of the 8 columns before */
#pragma unroll
        for (int j = 0; j < STEM_PIXELS / 8; j++) {
            const int col = 8 * j + lane % 4 * 2;
            const float even = col < side ? sum[j][2 * i] : -INFINITY;
            const float odd = col + 1 < side ? sum[j][2 * i + 1] : -INFINITY;
            const float left = __shfl_sync(0xffffffff, lane % 4 == 3 ? before : odd, from);
            most[j][i] = larger(larger(even, odd), left);
            before = odd;
        }
    }
}

/** relu(most + bias) to rows of PITCH in shared memory. */
template <typename E, typename T>
__device__ __forceinline__ static void put_pooled(E *out, const float most[STEM_PIXELS / 8][2],
                                                  const float *bias)
{
    const int lane = threadIdx.x % 32, channel = threadIdx.x / 32 % 4 * 16 + lane / 4;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const float add = bias[channel + 8 * i];
#pragma unroll
        for (int j = 0; j < STEM_PIXELS / 8; j++) {
            const float v = most[j][i] + add;
            out[(4 * j + lane % 4) * T::PITCH + channel + 8 * i] = (E)(v < 0.0f ? 0.0f : v);
        }
    }
}

/** A group's rows of conv1, and of y. @param first row of y */
template <resnet18_precision P, typename T>
__device__ __forceinline__ static void stem_rows(const hopper_stem::stem_args &a,
                                                 unsigned char *shared, int image, int first)
{
    typedef typename element_of<P>::type element;
    enum { CHUNKS_OF_PIXEL = 64 * T::ELEMENT / 16 };
    const int group = threadIdx.x / 128, skipped = group * 2 * T::POOLED;
    unsigned char *rows = shared + T::BOXES * T::BOX,
                  *out = rows + T::ROWS * T::ROW + group * T::OUT;
    float most[STEM_PIXELS / 8][2];
#pragma unroll
    for (int j = 0; j < STEM_PIXELS / 8; j++) most[j][0] = most[j][1] = -INFINITY;
#pragma unroll 1
    for (int i = 0; i <= 2 * T::POOLED; i++) {
        const int line = 2 * first - 1 + skipped + i; /* of conv1 */
        const int y_row = first + group * T::POOLED + i / 2 - 1;
        float sum[STEM_PIXELS / 8][4], found[STEM_PIXELS / 8][2];
        multiply_row<P, T>(sum, shared_address(shared),
                           shared_address(rows) + 2 * (skipped + i) * T::ROW);
        pool_row(found, sum, line >= 0 && line < a.side ? a.side : 0);
        const bool ends = i > 0 && i % 2 == 0; /* a window of the pooling */
#pragma unroll
        for (int j = 0; j < STEM_PIXELS / 8; j++) {
            most[j][0] = larger(most[j][0], found[j][0]);
            most[j][1] = larger(most[j][1], found[j][1]);
        }
        if (!ends) continue;
        put_pooled<element, T>((element *)out, most, a.bias);
        group_sync(1 + group, 128);
        if (y_row < a.pooled) {
            uint4 *y =
                (uint4 *)a.y + ((size_t)image * a.pooled + y_row) * a.pooled * CHUNKS_OF_PIXEL;
            for (int c = threadIdx.x % 128; c < a.pooled * CHUNKS_OF_PIXEL; c += 128)
                y[c] = *(const uint4 *)(out + c / CHUNKS_OF_PIXEL * T::PITCH * T::ELEMENT +
                                        c % CHUNKS_OF_PIXEL * 16);
        }
        group_sync(1 + group, 128); /* the row is read before the next is put there */
#pragma unroll
        for (int j = 0; j < STEM_PIXELS / 8; j++) { /* it belongs to the next window too */
            most[j][0] = found[j][0];
            most[j][1] = found[j][1];
        }
    }
}

#endif

/* x is the second parameter, as of frame_kernel: it changes from call to call. */
template <resnet18_precision P, typename T>
__global__ static void __launch_bounds__(STEM_THREADS, T::BLOCKS)
    conv_pool_kernel(const __grid_constant__ hopper_stem::stem_args a, const float *x)
{
#if ON_HOPPER
    extern __shared__ __align__(1024) unsigned char shared[];
    const uint32_t weights = shared_address(shared), barrier = weights + T::BARRIER;
    const int image = blockIdx.x / a.bands;
    const int first = blockIdx.x % a.bands * STEM_GROUPS * T::POOLED;
    if (threadIdx.x == 0) {
        barrier_init(barrier, 1);
        fence_barriers();
        barrier_expect(barrier, T::BOXES * T::BOX);
        for (int i = 0; i < T::BOXES; i++)
            copy_tile(weights + i * T::BOX, &a.w, barrier, 0, i * ROW_BYTES / T::ELEMENT);
    }
    frame_rows<P, T>(shared + T::BOXES * T::BOX, x + (size_t)image * 3 * a.size * a.size, a.size,
                     2 * (2 * first - 1) - 3);
    fence_async();
    __syncthreads(); /* the rows and the mbarrier are there */
    let_next_start();
    barrier_wait(barrier, 0);
    stem_rows<P, T>(a, shared, image, first);
#endif
}

/* ---- the host's side ------------------------------------------------------------------------- */

template <resnet18_precision P, typename T>
static cudaError_t stem_of(hopper_stem *s, int images, int size)
{
    s->kernel = (const void *)conv_pool_kernel<P, T>;
    s->args.size = size;
    s->args.side = resnet18_out_size(size, 7, 2, 3);
    s->args.pooled = resnet18_out_size(s->args.side, 3, 2, 1);
    s->args.bands = (s->args.pooled - 1) / (STEM_GROUPS * T::POOLED) + 1;
    s->blocks = s->args.bands * images;
    s->shared_bytes = T::SHARED_BYTES;
    return cudaFuncSetAttribute(s->kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                T::SHARED_BYTES);
}

/** Rows of conv1 that two groups need are computed by both: bands are high, if there are enough. */
template <resnet18_precision P>
static cudaError_t stem_in(hopper_stem *s, int images, int size, int processors)
{
    CUDA_CHECK((stem_of<P, stem_tile<P, 2>>(s, images, size)));
    return s->blocks < processors ? stem_of<P, stem_tile<P, 1>>(s, images, size) : cudaSuccess;
}

static cudaError_t stem_choose(hopper_stem *s, int images, int size, resnet18_precision precision,
                               int processors)
{
    *s = hopper_stem{};
    if (precision == RESNET18_FP32 || resnet18_out_size(size, 7, 2, 3) > STEM_PIXELS)
        return cudaSuccess;
    return precision == RESNET18_FP16 ? stem_in<RESNET18_FP16>(s, images, size, processors)
                                      : stem_in<RESNET18_TF32>(s, images, size, processors);
}

static cudaError_t stem_point(hopper_stem *s, void *y, const void *w, const float *bias,
                              int element_bytes)
{
    s->args.y = y;
    s->args.bias = bias;
    return describe(&s->args.w, map_type(element_bytes), w, 64,
                    STEM_TAPS * STEM_TAPS * STEM_CHANNELS, 64, ROW_BYTES / element_bytes,
                    CU_TENSOR_MAP_SWIZZLE_128B);
}

static cudaError_t stem_launch(hopper_stem *s, const float *x, cudaStream_t stream)
{
    void *parameters[] = {&s->args, &x};
    return cudaLaunchKernel(s->kernel, dim3(s->blocks), dim3(STEM_THREADS), parameters,
                            s->shared_bytes, stream);
}

#else

static cudaError_t stem_choose(hopper_stem *s, int, int, resnet18_precision, int)
{
    s->kernel = NULL;
    return cudaSuccess;
}

static cudaError_t stem_point(hopper_stem *, void *, const void *, const float *, int)
{
    return cudaErrorNotSupported;
}

static cudaError_t stem_launch(hopper_stem *, const float *, cudaStream_t)
{
    return cudaErrorNotSupported;
}

#endif

#endif

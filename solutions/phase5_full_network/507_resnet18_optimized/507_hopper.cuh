/*
 * 507_hopper.cuh: the convolutions of a residual block by Hopper's units, the TMA and wgmma.
 *
 * 507_conv_tensor_core.cuh copies a pixel once for each tap of the window, nine times. Here it
 * comes once. A block of threads fetches a *box*: some rows of an image with a frame of one pixel,
 * and 128 bytes of each pixel's channels. The frame's left column is enough: what is right of a
 * row's last pixel is the next row's first, and that is in the frame, where the TMA writes zeros.
 *
 *     . . . . .        the box of a tile of 2 rows of 4 pixels: 4 rows, each `pitch` = 5 long
 *     . a b c d        pixel i of the box is in row i of shared memory, 128 bytes
 *     . e f g h
 *     . i j k l        tap (0, 0) of a is pixel 0, of b pixel 1, of e pixel 5, ...
 *                      tap (r, s) is the same, but for r * pitch + s pixels further
 *
 * So a tap is a product with the same box, which begins some rows of shared memory further: another
 * address in wgmma's descriptor. (The swizzle is one of addresses, and does not mind.) The price is
 * a column of outputs that are no pixels, and are not stored.
 *
 * Weights and pixels change places. wgmma's sums are 64 rows times any multiple of 8 columns: the
 * rows are channels here, and the columns pixels, so that 7 rows of 28 pixels, 202 columns with
 * those that count for nothing, fit into 216.
 *
 * Small images: a box has several, one below the other. The frame above an image is also the one
 * below the image before.
 *
 * A stride of 2: every second pixel of every second row makes an image of its own, of which there
 * are four. A tensor map has strides, so that each is a map. A *phase* is one of them with its
 * taps: one, two, two and four of the 3 x 3.
 *
 * What the threads do: some groups of 128 multiply. A warp fetches weights, another one pixels. For
 * RESNET18_TF32 two more round the pixels in shared memory. For RESNET18_FP32 they split them, as
 * 507_tensor_core.cuh does, into hi and lo, each with a place of its own; the weights were split
 * when they were packed. There wgmma adds the three products of a tap to sums that begin at 0, and
 * the threads add those to theirs.
 *
 * The cost removed: eight of nine copies, and mma's registers and issue slots. The cost left: a
 * block has a multiprocessor to itself, and while it stores, the tensor cores wait.
 *
 * All of this file is given.
 */
#ifndef HOPPER_CUH
#define HOPPER_CUH

#include "507_plan.cuh"
#include "507_wgmma.cuh"

#define MOST_TAPS       9
#define MOST_PHASES     4
#define MOST_BUFFERS    2 /* for boxes */
#define HOPPER_VARIANTS 3 /* tiles to choose from */

/** A layer as 507_hopper.cuh needs it. The shape of x, and what is done with it. */
typedef struct hopper_shape {
    int images, in_side, in_channels, side, channels, kernel, stride, element_bytes;
} hopper_shape;

#if TENSOR_MAPS

struct hopper_conv {
    CUtensorMap x[MOST_PHASES], w;
    void *y;
    const void *residual; /* as y, or NULL */
    const float *bias;
    hopper_shape of;
    int across;                             /* tiles of channels */
    int down;                               /* tiles of an image; 0: tiles have several images */
    int rows;                               /* of y that a group has of an image */
    int pitch;                              /* pixels from row to row of a box */
    int box_rows, box_images, image_pixels; /* image_pixels: from image to image of a box */
    int group_pixels;                       /* from the pixels of a group to those of the next */
    int room;                               /* bytes of a box, and of what is read behind it */
    int chunks, phases, buffers;
    int taps[MOST_PHASES];  /* of each phase */
    int phase[MOST_PHASES]; /* its number: row * stride + column of its first pixel */
    int tap[MOST_TAPS];     /* which one of the filter, r * kernel + s */
    int shift[MOST_TAPS];   /* pixels from the box's first */
    int lo;                 /* RESNET18_FP32: rows of w from hi to lo */
    bool relu;
};

/** A block's tile: DOWN groups of 64 channels, ACROSS groups of PIXELS columns. */
template <resnet18_precision P, int DOWN, int ACROSS_, int PIXELS_, int STAGES_, int BLOCKS_>
struct wide_tile {
    enum {
        CHANNELS = 64 * DOWN,
        ACROSS = ACROSS_,
        PIXELS = PIXELS_,
        STAGES = STAGES_, /* of the ring of weights */
        BLOCKS = BLOCKS_, /* that share a multiprocessor */
        GROUPS = DOWN * ACROSS,
        PARTS = P == RESNET18_FP32 ? 2 : 1, /* hi and lo */
        CONVERTERS = P == RESNET18_FP16 ? 0 : 64,
        THREADS = 128 * GROUPS + 64 + CONVERTERS,
        W_PART = CHANNELS * ROW_BYTES,
        W_BYTES = PARTS * W_PART,
        PITCH =
            CHANNELS + 4, /* of sums on their way out: 4 pixels and 8 channels meet in no bank */
        SUMS_BYTES = ACROSS * PIXELS * PITCH * 4,
        BARRIERS = 2 * STAGES + 3 * MOST_BUFFERS,
    };
};

/** Bytes of ring and boxes, which sums on their way out replace. */
template <typename T> __host__ __device__ static int shared_before_barriers(const hopper_conv &a)
{
    const int bytes = a.buffers * T::PARTS * a.room + T::STAGES * T::W_BYTES;
    return bytes > T::SUMS_BYTES ? bytes : (int)T::SUMS_BYTES;
}

#if ON_HOPPER

/** A block's part of the work, and where its shared memory begins. */
template <typename T> struct wide_work {
    int image, top, channel;          /* of the tile */
    uint32_t boxes, weights, barrier; /* shared addresses */

    __device__ __forceinline__ wide_work(const hopper_conv &a, uint32_t shared)
    {
        const int tile = blockIdx.x / a.across;
        channel = blockIdx.x % a.across * T::CHANNELS;
        image = a.down ? tile / a.down : tile * a.box_images;
        top = a.down ? tile % a.down * a.rows * T::ACROSS : 0;
        boxes = shared;
        weights = shared + a.buffers * T::PARTS * a.room;
        barrier = shared + shared_before_barriers<T>(a);
    }
    __device__ __forceinline__ uint32_t box(const hopper_conv &a, int b) const
    {
        return boxes + b * T::PARTS * a.room;
    }
    /* The mbarriers. Weights: full, empty. Boxes: fetched, ready for products, empty. */
    __device__ __forceinline__ uint32_t full(int stage) const
    {
        return barrier + stage * 8;
    }
    __device__ __forceinline__ uint32_t empty(int stage) const
    {
        return barrier + (T::STAGES + stage) * 8;
    }
    __device__ __forceinline__ uint32_t fetched(int b) const
    {
        return barrier + (2 * T::STAGES + b) * 8;
    }
    __device__ __forceinline__ uint32_t ready(int b) const
    {
        return T::CONVERTERS ? fetched(b) + MOST_BUFFERS * 8 : fetched(b);
    }
    __device__ __forceinline__ uint32_t left(int b) const
    {
        return fetched(b) + 2 * MOST_BUFFERS * 8;
    }
};

/** A place in a ring of `size`, and the parity of its phase. */
struct turn {
    int size, at, parity;

    __device__ __forceinline__ void next()
    {
        at = at + 1 == size ? 0 : at + 1;
        parity ^= at == 0;
    }
};

template <typename T> __device__ static void begin_barriers(const wide_work<T> &work)
{
    for (int i = 0; i < T::STAGES; i++) {
        barrier_init(work.full(i), 1);
        barrier_init(work.empty(i), T::GROUPS);
    }
    for (int i = 0; i < MOST_BUFFERS; i++) {
        if (T::CONVERTERS) barrier_init(work.ready(i), T::CONVERTERS);
        barrier_init(work.fetched(i), 1);
        barrier_init(work.left(i), T::GROUPS);
    }
    fence_barriers();
}

__device__ __forceinline__ static int box_bytes(const hopper_conv &a)
{
    return a.box_images * a.image_pixels * ROW_BYTES;
}

/** By one thread: the weights of every tap of every 128 bytes of channels. */
template <typename E, typename T>
__device__ static void fetch_weights(const hopper_conv &a, const wide_work<T> &work)
{
    turn stage = {T::STAGES, 0, 1};
    const int width = ROW_BYTES / sizeof(E);
    for (int c = 0; c < a.chunks; c++) {
        for (int t = 0; t < a.of.kernel * a.of.kernel; t++, stage.next()) {
            const uint32_t to = work.weights + stage.at * T::W_BYTES, full = work.full(stage.at);
            const int col = a.tap[t] * a.of.in_channels + c * width;
            barrier_wait(work.empty(stage.at), stage.parity);
            barrier_expect(full, T::W_BYTES);
            for (int i = 0; i < T::PARTS; i++)
                copy_tile(to + i * T::W_PART, &a.w, full, work.channel + i * a.lo, col);
        }
    }
}

/** By one thread: a box of every phase of every 128 bytes of channels. */
template <typename E, typename T>
__device__ static void fetch_boxes(const hopper_conv &a, const wide_work<T> &work)
{
    turn buffer = {a.buffers, 0, 1};
    const int width = ROW_BYTES / sizeof(E);
    wait_for_kernel_before();
    for (int c = 0; c < a.chunks; c++) {
        for (int p = 0; p < a.phases; p++, buffer.next()) {
            const int b = buffer.at;
            barrier_wait(work.left(b), buffer.parity);
            barrier_expect(work.fetched(b), box_bytes(a));
            copy_tile_4d(work.box(a, b), &a.x[p], work.fetched(b), work.image, work.top - 1, -1,
                         c * width);
        }
    }
}

/** By CONVERTERS threads: round what the TMA brought, or split it. */
template <resnet18_precision P, typename T>
__device__ static void convert(const hopper_conv &a, const wide_work<T> &work,
                               unsigned char *shared)
{
    turn buffer = {a.buffers, 0, 0};
    for (int i = 0; i < a.chunks * a.phases; i++, buffer.next()) {
        uint4 *box = (uint4 *)(shared + buffer.at * T::PARTS * a.room), *lo = box + a.room / 16;
        barrier_wait(work.fetched(buffer.at), buffer.parity);
        for (int q = threadIdx.x % T::CONVERTERS; q < box_bytes(a) / 16; q += T::CONVERTERS) {
            uint32_t v[4], rest[4];
            *(uint4 *)v = box[q];
            if (P == RESNET18_FP32) {
                split<4>(v, rest);
                lo[q] = *(const uint4 *)rest;
            } else {
#pragma unroll
                for (int e = 0; e < 4; e++) v[e] = to_tf32(v[e]);
            }
            box[q] = *(const uint4 *)v;
        }
        fence_async();
        barrier_arrive(work.ready(buffer.at));
    }
}

/** Begin the products of a tap. `w` and `x` are descriptors; w_lo and x_lo lead to lo. */
template <resnet18_precision P, typename T>
__device__ __forceinline__ static void multiply_tap(float sum[T::PIXELS / 8][4], uint64_t w,
                                                    uint64_t x, int w_lo, int x_lo, bool add)
{
    enum { OF = P == RESNET18_FP16 ? RESNET18_FP16 : RESNET18_TF32 };
    typedef wide_product<(resnet18_precision)OF, T::PIXELS> product;
    fence_sums();
    if (P == RESNET18_FP32) { /* the small ones first */
#pragma unroll
        for (int k = 0; k < 4; k++) {
            product::add(sum, w + 2 * k, x + x_lo + 2 * k, k > 0);
            product::add(sum, w + w_lo + 2 * k, x + 2 * k, true);
        }
        add = true;
    }
#pragma unroll
    for (int k = 0; k < 4; k++) product::add(sum, w + 2 * k, x + 2 * k, add || k > 0);
    commit_products();
}

/** One thread of a group says that the group has read a place. */
__device__ __forceinline__ static void give_back(uint32_t barrier)
{
    if (threadIdx.x % 128 == 0) barrier_arrive(barrier);
}

template <resnet18_precision P, typename T>
__device__ __forceinline__ static void
multiply_boxes(float sum[T::PIXELS / 8][4], const hopper_conv &a, const wide_work<T> &work)
{
    const int group = threadIdx.x / 128, down = group / T::ACROSS, across = group % T::ACROSS;
    const int taps = a.of.kernel * a.of.kernel;
    turn stage = {T::STAGES, 0, 0}, before = stage;
    turn buffer = {a.buffers, 0, 0};
    int phase = 0, in_phase = 0, last = -1; /* last: a box whose products have all begun */
    if (P == RESNET18_FP32) {
#pragma unroll
        for (int j = 0; j < T::PIXELS / 8; j++) sum[j][0] = sum[j][1] = sum[j][2] = sum[j][3] = 0;
    }
    for (int i = 0, t = 0; i < a.chunks * taps; i++) {
        const uint32_t box = work.box(a, buffer.at) + across * a.group_pixels * ROW_BYTES;
        const uint32_t weights = work.weights + stage.at * T::W_BYTES + down * 64 * ROW_BYTES;
        const uint64_t w = descriptor(weights, 16, 1024);
        const uint64_t x = descriptor(box + a.shift[t] * ROW_BYTES, 16, 1024);
        if (in_phase == 0) barrier_wait(work.ready(buffer.at), buffer.parity);
        barrier_wait(work.full(stage.at), stage.parity);
        if (P == RESNET18_FP32) {
            float part[T::PIXELS / 8][4];
            multiply_tap<P, T>(part, w, x, T::W_PART >> 4, a.room >> 4, false);
            wait_for_products<0>();
#pragma unroll
            for (int j = 0; j < T::PIXELS / 8; j++) {
#pragma unroll
                for (int e = 0; e < 4; e++) sum[j][e] += part[j][e];
            }
        } else {
            multiply_tap<P, T>(sum, w, x, 0, 0, i > 0);
            wait_for_products<1>(); /* the tap before is done, and this one at work */
        }
        if (P == RESNET18_FP32)
            give_back(work.empty(stage.at)); /* all products are done, those of this tap too */
        else if (i > 0)
            give_back(work.empty(before.at));
        if (last >= 0) give_back(work.left(last));
        last = -1;
        before = stage;
        stage.next();
        t = t + 1 == taps ? 0 : t + 1;
        if (++in_phase < a.taps[phase]) continue;
        last = buffer.at;
        buffer.next();
        in_phase = 0;
        phase = phase + 1 == a.phases ? 0 : phase + 1;
    }
    wait_for_products<0>();
}

/** From the lanes that have them to rows in shared memory: [pixels x CHANNELS, rows of PITCH]. */
template <typename T>
__device__ __forceinline__ static void put_down(float *rows, const float sum[T::PIXELS / 8][4])
{
    const int group = threadIdx.x / 128, warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
    rows += (group % T::ACROSS * T::PIXELS + lane % 4 * 2) * T::PITCH;
    rows += group / T::ACROSS * 64 + warp * 16 + lane / 4;
#pragma unroll
    for (int j = 0; j < T::PIXELS / 8; j++, rows += 8 * T::PITCH) {
        rows[0] = sum[j][0], rows[T::PITCH] = sum[j][1];
        rows[8] = sum[j][2], rows[T::PITCH + 8] = sum[j][3];
    }
}

/** Where column j of a group is in y, counted in pixels; -1 if it is none. */
template <typename T>
__device__ __forceinline__ static int pixel_of(const hopper_conv &a, const wide_work<T> &work,
                                               int group, int j)
{
    const int at = group * a.group_pixels + j, in = at / a.image_pixels;
    const int row = (at - in * a.image_pixels) / a.pitch;
    const int col = at - in * a.image_pixels - row * a.pitch;
    const bool inside = j < a.group_pixels && col < a.of.side && work.top + row < a.of.side &&
                        work.image + in < a.of.images;
    return inside ? ((work.image + in) * a.of.side + work.top + row) * a.of.side + col : -1;
}

#define AHEAD 8 /* pixels per thread whose residual is loaded before the first is used */

/** y = relu(rows + bias + residual), as `finish` of 507_conv_tensor_core.cuh. The residual may be
 * y: the compiler does not load it earlier by itself. */
template <typename E, typename T>
__device__ __forceinline__ static void take_up(const float *rows, const hopper_conv &a,
                                               const wide_work<T> &work)
{
    enum {
        WIDTH = WIDTH_OF(E),
        LINE = T::CHANNELS / WIDTH,
        STEP = 128 * T::GROUPS / LINE,
        COUNT = T::ACROSS * T::PIXELS
    };
    const E *type = NULL;
    const int n = threadIdx.x % LINE * WIDTH;
    float bias[WIDTH];
    load_floats<WIDTH>(bias, &a.bias[work.channel + n]);
    wait_for_kernel_before(); /* for the residual, and for those that still read what y replaces */
#pragma unroll 1
    for (int i = threadIdx.x / LINE; i < COUNT; i += STEP * AHEAD) {
        int at[AHEAD]; /* in chunks of 16 bytes */
        uint4 shortcut[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; k++) {
            const int j = i + k * STEP;
            const int pixel = j < COUNT ? pixel_of<T>(a, work, j / T::PIXELS, j % T::PIXELS) : -1;
            at[k] = pixel < 0 ? -1 : pixel * (a.of.channels / WIDTH) + (work.channel + n) / WIDTH;
            shortcut[k] = make_uint4(0, 0, 0, 0);
            if (a.residual && pixel >= 0) shortcut[k] = ((const uint4 *)a.residual)[at[k]];
        }
#pragma unroll
        for (int k = 0; k < AHEAD; k++) {
            if (at[k] < 0) continue;
            float v[WIDTH], add[WIDTH];
            load_floats<WIDTH>(v, &rows[(i + k * STEP) * T::PITCH + n]);
            unpack(add, shortcut[k], type);
#pragma unroll
            for (int e = 0; e < WIDTH; e++) {
                v[e] += bias[e] + add[e];
                if (a.relu) v[e] = v[e] < 0.0f ? 0.0f : v[e]; /* NaN stays NaN */
            }
            ((uint4 *)a.y)[at[k]] = pack(v, type);
        }
    }
}

#endif

/* blockIdx.x is the tile, channels fastest, so that neighbours read the same pixels. */
template <resnet18_precision P, typename T>
__global__ static void __launch_bounds__(T::THREADS, T::BLOCKS)
    hopper_conv_kernel(const __grid_constant__ hopper_conv a)
{
#if ON_HOPPER
    typedef typename element_of<P>::type element;
    extern __shared__ __align__(1024) unsigned char shared[];
    const wide_work<T> work(a, shared_address(shared));
    const int warp = threadIdx.x / 32 - 4 * T::GROUPS; /* from 0 on: those that do not multiply */
    float sum[T::PIXELS / 8][4];

    if (threadIdx.x == 0) begin_barriers<T>(work);
    /* What is read behind a box: the frame below the last image, and columns that are no pixels. */
    for (int b = 0; b < a.buffers * T::PARTS; b++) {
        for (int i = box_bytes(a) + threadIdx.x * 16; i < a.room; i += T::THREADS * 16)
            *(uint4 *)&shared[b * a.room + i] = make_uint4(0, 0, 0, 0);
    }
    fence_async();
    __syncthreads(); /* barriers and zeros are there */
    let_next_start();
    if (warp == 0 && threadIdx.x % 32 == 0) fetch_weights<element, T>(a, work);
    if (warp == 1 && threadIdx.x % 32 == 0) fetch_boxes<element, T>(a, work);
    if constexpr (T::CONVERTERS > 0) {
        if (warp >= 2) convert<P, T>(a, work, shared);
    }
    if (warp >= 0) return;
    multiply_boxes<P, T>(sum, a, work);
    group_sync(1, 128 * T::GROUPS); /* all groups have read boxes and weights */
    put_down<T>((float *)shared, sum);
    group_sync(1, 128 * T::GROUPS); /* a thread now reads sums that others have stored */
    take_up<element, T>((const float *)shared, a, work);
#endif
}

/* ---- the host's side ------------------------------------------------------------------------- */

/** A tile, and how its kernel is launched. */
typedef struct hopper_variant {
    const void *kernel;
    int channels, across, pixels, blocks; /* as wide_tile has them */
    int parts, w_bytes, ring_bytes, sums_bytes, barriers, threads;
} hopper_variant;

typedef struct hopper_layer {
    hopper_conv conv;
    hopper_variant variant;
    const void *kernel; /* NULL: another kernel computes this layer */
    int blocks, shared_bytes;
} hopper_layer;

#define MOST_SHARED (227 * 1024)

template <resnet18_precision P, typename T> static hopper_variant hopper_variant_of(void)
{
    return hopper_variant{(const void *)hopper_conv_kernel<P, T>,
                          T::CHANNELS,
                          T::ACROSS,
                          T::PIXELS,
                          T::BLOCKS,
                          T::PARTS,
                          T::W_BYTES,
                          T::STAGES * T::W_BYTES,
                          T::SUMS_BYTES,
                          T::BARRIERS * 8,
                          T::THREADS};
}

template <resnet18_precision P> static hopper_variant hopper_variant_in(int i)
{
    switch (i) {
    case 0: return hopper_variant_of<P, wide_tile<P, 1, 2, 120, 4, P == RESNET18_FP16 ? 2 : 1>>();
    case 1: return hopper_variant_of<P, wide_tile<P, 2, 1, 216, 4, 1>>();
    default: return hopper_variant_of<P, wide_tile<P, 2, 1, 120, 8, 1>>();
    }
}

/* Sums and those of a tap: twice the registers, so 120 pixels at most. Two groups that share their
 * pixels come first, for of equals the first is taken: what is split serves twice the channels. */
template <> hopper_variant hopper_variant_in<RESNET18_FP32>(int i)
{
    if (i == 0)
        return hopper_variant_of<RESNET18_FP32, wide_tile<RESNET18_FP32, 2, 1, 120, 3, 1>>();
    return hopper_variant_of<RESNET18_FP32, wide_tile<RESNET18_FP32, 1, 2, 120, 2, 1>>();
}

static hopper_variant hopper_variant_at(resnet18_precision precision, int i)
{
    if (precision == RESNET18_FP16) return hopper_variant_in<RESNET18_FP16>(i);
    if (precision == RESNET18_TF32) return hopper_variant_in<RESNET18_TF32>(i);
    return hopper_variant_in<RESNET18_FP32>(i);
}

/** Rows, images and pitches of a box. @return tiles of pixels; 0: the tile has no room for a row */
static int shape_box(hopper_conv *a, const hopper_variant *v)
{
    const int side = a->of.side, frame = a->of.stride == 1 ? 2 : 1; /* rows */
    a->pitch = side + 1;
    if (side * a->pitch - 1 <= v->pixels) { /* whole images, as many as fit */
        a->image_pixels = (side + 1) * a->pitch;
        const int each = (v->pixels - side * a->pitch + 1) / a->image_pixels + 1;
        a->rows = side;
        a->box_rows = side + 1;
        a->box_images = each * v->across;
        a->group_pixels = each * a->image_pixels;
        return (a->of.images - 1) / a->box_images + 1;
    }
    a->rows = (v->pixels + 1) / a->pitch;
    if (a->rows == 0) return 0;
    a->box_rows = a->rows * v->across + frame;
    a->box_images = 1;
    a->image_pixels = a->box_rows * a->pitch;
    a->group_pixels = a->rows * a->pitch;
    a->down = (side - 1) / (a->rows * v->across) + 1;
    return a->down * a->of.images;
}

/** The taps that read pixels of phase (down, across), and how far they are from a box's first
 * pixel, which is one row above the tile and one column left of it. @return how many */
static int list_taps(hopper_conv *a, int first, int down, int across)
{
    const int kernel = a->of.kernel, stride = a->of.stride, pad = kernel / 2;
    int count = 0;
    for (int i = 0; i < kernel * kernel; i++) {
        const int r = i / kernel - pad, s = i % kernel - pad; /* from the window's middle */
        if ((r + stride) % stride != down || (s + stride) % stride != across) continue;
        a->tap[first + count] = i;
        a->shift[first + count++] =
            ((r - down) / stride + 1) * a->pitch + (s - across) / stride + 1;
    }
    return count;
}

/** Those phases that have taps. */
static void list_phases(hopper_conv *a)
{
    const int stride = a->of.stride;
    a->phases = 0;
    for (int i = 0, first = 0; i < stride * stride; i++) {
        const int count = list_taps(a, first, i / stride, i % stride);
        if (count == 0) continue;
        a->phase[a->phases] = i;
        a->taps[a->phases++] = count;
        first += count;
    }
}

/** The layer in tiles of variant i. @return does it fit? */
static bool hopper_fit(hopper_layer *l, const hopper_shape *of, resnet18_precision precision, int i)
{
    const hopper_variant v = hopper_variant_at(precision, i);
    hopper_conv *a = &l->conv;
    *l = hopper_layer{};
    a->of = *of;
    const int tiles = shape_box(a, &v), taps = of->kernel * of->kernel;
    if (tiles == 0 || a->box_rows > 256 || of->channels % v.channels != 0) return false;
    list_phases(a);
    a->across = of->channels / v.channels;
    a->chunks = of->in_channels * of->element_bytes / ROW_BYTES;
    a->buffers = a->chunks * a->phases > 1 ? MOST_BUFFERS : 1;
    /* Behind the last image one frame more; behind some rows of an image only its first pixel. */
    int pixels = a->box_images * a->image_pixels + (a->down ? 1 : a->pitch + 2);
    for (int t = 0; t < taps; t++) {
        const int read = (v.across - 1) * a->group_pixels + v.pixels + a->shift[t];
        if (pixels < read) pixels = read;
    }
    a->room = (pixels * ROW_BYTES + 1023) / 1024 * 1024;
    const int ring = a->buffers * v.parts * a->room + v.ring_bytes;
    l->variant = v;
    l->kernel = v.kernel;
    l->blocks = tiles * a->across;
    l->shared_bytes = (ring > v.sums_bytes ? ring : v.sums_bytes) + v.barriers;
    return l->shared_bytes <= MOST_SHARED;
}

#ifndef HOPPER_LAUNCH        /* a test takes these kernels for small images, too */
#define HOPPER_LAUNCH 4000.0 /* cycles of a block without its products */
#endif

/** Cycles of a layer: of the multiprocessor that has most to do. A product of 64 x n x 32 bytes
 *  takes n / 2. */
static double hopper_cycles(const hopper_layer *l, int processors)
{
    const hopper_variant *v = &l->variant;
    const int resident = MOST_SHARED / v->blocks >= l->shared_bytes ? v->blocks : 1;
    const int rounds = (l->blocks - 1) / (processors * resident) + 1;
    const int groups = v->channels / 64 * v->across, products = v->parts == 2 ? 3 : 1;
    const double steps = l->conv.chunks * l->conv.of.kernel * l->conv.of.kernel;
    return rounds * (HOPPER_LAUNCH + steps * 4.0 * products * groups * resident * v->pixels / 2);
}

/** The fastest variant by this rule, if it is faster than `cycles`, those of another kernel. */
static cudaError_t hopper_choose(hopper_layer *best, const hopper_shape *of,
                                 resnet18_precision precision, int processors, double cycles)
{
    *best = hopper_layer{};
    for (int i = 0; i < HOPPER_VARIANTS; i++) {
        hopper_layer l;
        if (!hopper_fit(&l, of, precision, i)) continue;
        const double takes = hopper_cycles(&l, processors);
        if (takes >= cycles) continue;
        cycles = takes;
        *best = l;
    }
    return cudaSuccess;
}

static CUtensorMapDataType map_type(int element_bytes)
{
    return element_bytes == 2 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
}

/** x of a phase: every `stride`-th pixel of every `stride`-th row, from (down, across) on. */
static cudaError_t describe_phase(CUtensorMap *map, const hopper_conv *a, const void *x, int phase)
{
    const hopper_shape *s = &a->of;
    const int down = phase / s->stride, across = phase % s->stride;
    const cuuint64_t pixel = (cuuint64_t)s->in_channels * s->element_bytes,
                     line = pixel * s->in_side;
    const cuuint64_t step = s->stride, last = s->in_side - 1;
    const cuuint64_t sizes[] = {(cuuint64_t)s->in_channels, (last - across) / step + 1,
                                (last - down) / step + 1, (cuuint64_t)s->images};
    const cuuint64_t pitch[] = {step * pixel, step * line, line * s->in_side};
    const cuuint32_t box[] = {(cuuint32_t)(ROW_BYTES / s->element_bytes), (cuuint32_t)a->pitch,
                              (cuuint32_t)a->box_rows, (cuuint32_t)a->box_images};
    return encode_pitched(map, map_type(s->element_bytes), 4,
                          (const char *)x + down * line + across * pixel, sizes, pitch, box,
                          CU_TENSOR_MAP_SWIZZLE_128B);
}

/** Where the arrays of a layer are; w has hi, and RESNET18_FP32 lo too, `rows` filters each. */
static cudaError_t hopper_point(hopper_layer *l, const void *x, void *y, const void *residual,
                                const void *w, int rows, const float *bias, bool relu)
{
    hopper_conv *a = &l->conv;
    const hopper_shape *s = &a->of;
    const int width = ROW_BYTES / s->element_bytes;
    a->y = y;
    a->residual = residual;
    a->bias = bias;
    a->lo = rows;
    a->relu = relu;
    for (int p = 0; p < a->phases; p++) CUDA_CHECK(describe_phase(&a->x[p], a, x, a->phase[p]));
    return describe(&a->w, map_type(s->element_bytes), w, rows * l->variant.parts,
                    s->kernel * s->kernel * s->in_channels, s->channels / a->across, width,
                    CU_TENSOR_MAP_SWIZZLE_128B);
}

/** Pixels and channels of a block's tile. */
static inline void hopper_tile(int *pixels, int *channels, const hopper_layer *l)
{
    *pixels = l->variant.across * l->variant.pixels;
    *channels = l->variant.channels;
}

/** To be called before the first launch. Layers share kernels, with boxes of different sizes. */
static cudaError_t hopper_prepare(const hopper_layer *l)
{
    return cudaFuncSetAttribute(l->kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                MOST_SHARED);
}

/** @param early see launch_kernel */
static cudaError_t hopper_launch(hopper_layer *l, bool early, cudaStream_t stream)
{
    void *parameters[] = {&l->conv};
    return launch_kernel(l->kernel, dim3(l->blocks), dim3(l->variant.threads), parameters,
                         l->shared_bytes, early, stream);
}

#else

typedef struct hopper_layer {
    const void *kernel;
} hopper_layer;

static inline bool hopper_fit(hopper_layer *, const hopper_shape *, resnet18_precision, int)
{
    return false;
}

static cudaError_t hopper_choose(hopper_layer *best, const hopper_shape *, resnet18_precision, int,
                                 double)
{
    best->kernel = NULL;
    return cudaSuccess;
}

static cudaError_t hopper_point(hopper_layer *, const void *, void *, const void *, const void *,
                                int, const float *, bool)
{
    return cudaErrorNotSupported;
}

static inline void hopper_tile(int *pixels, int *channels, const hopper_layer *)
{
    *pixels = *channels = 0;
}

static cudaError_t hopper_prepare(const hopper_layer *)
{
    return cudaErrorNotSupported;
}

static cudaError_t hopper_launch(hopper_layer *, bool, cudaStream_t)
{
    return cudaErrorNotSupported;
}

#endif

#endif

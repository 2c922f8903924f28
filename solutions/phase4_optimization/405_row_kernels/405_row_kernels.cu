/*
 * 405_row_kernels.cu: softmax, layer normalization and RMS normalization of rows, at the speed of
 * memory.
 *
 * The idea: read each element once. Between the first look at a row and its last, the row lives on
 * the chip: each thread keeps up to 32 elements in registers. A row of up to 1,024 columns belongs
 * to a warp, whose lanes reduce by shuffles alone; a longer one belongs to a block; what its
 * registers cannot hold goes to shared memory. Only what fits in neither is read again.
 *
 *     columns         threads of a row    floats in registers of each    shared memory
 *     1 ..  1,024     32                  8, 16 or 32                    -
 *       ..  8,192     96 .. 512           16                             -
 *       .. 16,384     288 .. 512          32                             -
 *       .. 32,768     512                 32                             up to 64 KB
 *       .. 65,536     1,024               32                             up to 128 KB
 *
 * Memory answers after a microsecond, and the next row's loads hide that only if there are enough
 * of them: a thread loads all that it keeps, 16 bytes at a time, before it uses any of it.
 *
 * The three functions have one form: move each element, sum, scale.
 *
 *                  moved by          element becomes      summed    scaled by
 *     softmax      the maximum       exp(x - max)         e         1 / sum
 *     layernorm    the mean          x - mean             d^2       1 / sqrt(sum / cols + eps)
 *     rmsnorm      -                 x                    x^2       1 / sqrt(sum / cols + eps)
 *
 * What it costs: gamma and beta are read for every row, from the caches. A row of 65,536 takes all
 * of a multiprocessor, and nothing is loaded there while its sum is reduced.
 */
#include "405_row_kernels/row_kernels.h"
#ifdef BROKEN
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#endif
#include "not_implemented.h"
#include <cuda_pipeline.h>
#include <math.h>

typedef enum kind { SOFTMAX, LAYERNORM, RMSNORM } kind;

/* ---- WIDTH neighbouring floats, 4 or 1 ------------------------------------------------------- */

#define MOST 32 /* floats that a thread keeps at most: 1,024 threads have 64 registers each */

/** from a row, which is not needed again */
template <int WIDTH> __device__ static void load_once(float *to, const float *from)
{
    if (WIDTH == 4) {
        float4 v = __ldcs((const float4 *)from);
        to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
    } else {
        to[0] = __ldcs(from);
    }
}

/** from gamma or beta, which every row needs, or from shared memory */
template <int WIDTH> __device__ static void load(float *to, const float *from)
{
    if (WIDTH == 4) {
        float4 v = *(const float4 *)from;
        to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
    } else {
        to[0] = *from;
    }
}

/** to y, which is not needed again here */
template <int WIDTH> __device__ static void store_once(float *to, const float *v)
{
    if (WIDTH == 4)
        __stcs((float4 *)to, make_float4(v[0], v[1], v[2], v[3]));
    else
        __stcs(to, v[0]);
}

/* ---- the reductions -------------------------------------------------------------------------- */

/** The sum, or the LARGEST, of one value per lane, for every lane. */
template <bool LARGEST> __device__ static float over_warp(float value)
{
    /* SOLUTION: by shuffles (about 4 lines). */
    for (int distance = 16; distance > 0; distance /= 2) {
        float other = __shfl_xor_sync(0xffffffffu, value, distance);
        value = LARGEST ? fmaxf(value, other) : value + other;
    }
    /* END SOLUTION */
    return value;
}

/** The same for one value per thread of a row, which has blockDim.x threads, whole warps.
 *  @param parts [32] shared, for this reduction alone: so one barrier is enough */
template <bool LARGEST> __device__ static float over_row(float value, float *parts)
{
    /* SOLUTION: shuffles within the warp; then, where the row has more than one, its warps exchange
       their results through parts, and each reduces those by shuffles once more (about 6 lines). */
    value = over_warp<LARGEST>(value);
    if (blockDim.x == 32) return value; /* a row a warp: no barrier */
    int lane = threadIdx.x % 32, warps = blockDim.x / 32;
    if (lane == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    return over_warp<LARGEST>(lane < warps ? parts[lane] : LARGEST ? -INFINITY : 0.0f);
    /* END SOLUTION */
}

/* ---- what differs between the three ---------------------------------------------------------- */

/** What an element of x becomes. */
template <kind KIND> __device__ static float moved(float x, float by)
{
    /* SOLUTION: see the table above (1 line). */
    return KIND == SOFTMAX ? __expf(x - by) : KIND == LAYERNORM ? x - by : x;
    /* END SOLUTION */
}

/** What is summed of it. */
template <kind KIND> __device__ static float term(float moved)
{
    /* SOLUTION: see the table above (1 line). */
    return KIND == SOFTMAX ? moved : moved * moved;
    /* END SOLUTION */
}

/** What it is scaled by, where the sum of the row is `sum`. */
template <kind KIND> __device__ static float scale_of(float sum, int cols, float eps)
{
    /* SOLUTION: see the table above; a softmax of -infinity alone gives zeros (about 2 lines). */
    if (KIND == SOFTMAX) return sum == 0.0f ? 0.0f : 1.0f / sum; /* 0: a row of -infinity */
    return rsqrtf(sum / cols + eps);
    /* END SOLUTION */
}

/** WIDTH elements of y. gamma: not read by softmax; beta: read by layernorm alone. */
template <kind KIND, int WIDTH>
__device__ static void finish(float *y, const float *moved, float scale, const float *gamma,
                              const float *beta)
{
    float out[WIDTH], factor[WIDTH], shift[WIDTH];
    /* SOLUTION: load what the kind needs of gamma and beta; scale, multiply, add; store (about 8
       lines). */
    if (KIND != SOFTMAX) load<WIDTH>(factor, gamma);
    if (KIND == LAYERNORM) load<WIDTH>(shift, beta);
    for (int i = 0; i < WIDTH; i++) {
        out[i] = moved[i] * scale;
        if (KIND != SOFTMAX) out[i] *= factor[i];
        if (KIND == LAYERNORM) out[i] += shift[i];
    }
    store_once<WIDTH>(y, out);
    /* END SOLUTION */
}

/* ---- the four steps -------------------------------------------------------------------------- */

/** The columns of a row that a thread has: WIDTH from first on, from first + step on, ... It keeps
 *  the first KEPT of these in registers: kept[k .. k + WIDTH) are the columns from
 *  first + k / WIDTH * step on. Slots from column cols on are empty. */
typedef struct share {
    unsigned first, step, cols;
    unsigned in_registers; /* columns: from there on they are in rest */
    const float *rest;     /* shared memory, or x again */
} share;

/* For short rows the loops over the rest are empty, and compile to no code. */
template <int KEPT> __device__ static bool left(unsigned c, share s)
{
    return KEPT == MOST && c < s.cols;
}

/** Load kept[KEPT], and the rest into stash unless that is NULL. Empty slots get a value that
 *  changes neither maximum nor sum. All loads are issued before any value is used. */
template <kind KIND, int WIDTH, int KEPT>
__device__ __forceinline__ static void fetch(float *kept, float *stash, const float *x, share s)
{
    if (stash != NULL) {
        for (unsigned c = s.in_registers + s.first; left<KEPT>(c, s); c += s.step)
            __pipeline_memcpy_async(stash + (c - s.in_registers), x + c, WIDTH * sizeof(float));
    }
    __pipeline_commit();
    /* SOLUTION: fill kept, WIDTH at a time, in a loop that unrolls: an array whose indices are not
       constants is not in registers (about 6 lines). */
#pragma unroll
    for (int k = 0; k < KEPT; k += WIDTH) {
        unsigned c = s.first + k / WIDTH * s.step;
        for (int i = 0; i < WIDTH; i++) kept[k + i] = KIND == SOFTMAX ? -INFINITY : 0.0f;
        if (c < s.cols) load_once<WIDTH>(kept + k, x + c);
    }
    /* END SOLUTION */
    __pipeline_wait_prior(0); /* no barrier: each thread reads what it copied itself */
}

/** What the row is moved by: its maximum, or its mean. Not called by rmsnorm. */
template <kind KIND, int WIDTH, int KEPT>
__device__ __forceinline__ static float move_by(const float *kept, float *parts, share s)
{
    const bool largest = KIND == SOFTMAX;
    float by = largest ? -INFINITY : 0.0f, few[WIDTH];
    /* SOLUTION: maximum or sum of what this thread keeps (about 2 lines). */
#pragma unroll
    for (int k = 0; k < KEPT; k++) by = largest ? fmaxf(by, kept[k]) : by + kept[k];
/* END SOLUTION */
#pragma unroll 2
    for (unsigned c = s.in_registers + s.first; left<KEPT>(c, s); c += s.step) {
        load<WIDTH>(few, s.rest + (c - s.in_registers));
        for (int i = 0; i < WIDTH; i++) by = largest ? fmaxf(by, few[i]) : by + few[i];
    }
    /* SOLUTION: of the row; in a row of -infinity, x - by must stay -infinity (about 3 lines). */
    by = over_row<largest>(by, parts);
    if (KIND == LAYERNORM) return by / s.cols;
    return by == -INFINITY ? 0.0f : by; /* x - by must stay -infinity */
    /* END SOLUTION */
}

/** Move the elements that are kept. @return the sum over this thread's part of the row */
template <kind KIND, int WIDTH, int KEPT>
__device__ __forceinline__ static float move_and_sum(float *kept, float by, share s)
{
    float sum = 0.0f, few[WIDTH];
    /* SOLUTION: move each element that is kept, in place, and add its term. An empty slot must not
       add to the sum (about 6 lines). */
#pragma unroll
    for (int k = 0; k < KEPT; k++) {
        bool there = s.first + k / WIDTH * s.step < s.cols;
        kept[k] = there ? moved<KIND>(kept[k], by) : 0.0f;
        sum += term<KIND>(kept[k]);
    }
/* END SOLUTION */
#pragma unroll 2
    for (unsigned c = s.in_registers + s.first; left<KEPT>(c, s); c += s.step) {
        load<WIDTH>(few, s.rest + (c - s.in_registers));
        for (int i = 0; i < WIDTH; i++) sum += term<KIND>(moved<KIND>(few[i], by));
    }
    return sum;
}

/** y of this thread's part of the row; kept: moved already. */
template <kind KIND, int WIDTH, int KEPT>
__device__ __forceinline__ static void store(float *y, const float *kept, float by, float scale,
                                             const float *gamma, const float *beta, share s)
{
    float few[WIDTH];
    /* SOLUTION: finish what is kept, WIDTH at a time, but not the empty slots (about 5 lines). */
#pragma unroll
    for (int k = 0; k < KEPT; k += WIDTH) {
        unsigned c = s.first + k / WIDTH * s.step;
        if (c < s.cols) finish<KIND, WIDTH>(y + c, kept + k, scale, gamma + c, beta + c);
    }
/* END SOLUTION */
#pragma unroll 2
    for (unsigned c = s.in_registers + s.first; left<KEPT>(c, s); c += s.step) {
        load<WIDTH>(few, s.rest + (c - s.in_registers));
        for (int i = 0; i < WIDTH; i++) few[i] = moved<KIND>(few[i], by);
        finish<KIND, WIDTH>(y + c, few, scale, gamma + c, beta + c);
    }
}

/** blockDim.x threads per row, blockDim.y rows per block. y, x: [rows x cols]; gamma, beta:
 *  [cols]. */
template <kind KIND, int WIDTH, int KEPT>
__global__ static void __launch_bounds__(KEPT == MOST ? 1024 : 512)
    row_kernel(float *y, const float *x, const float *__restrict__ gamma,
               const float *__restrict__ beta, int rows, int cols, bool stashed, float eps)
{
    extern __shared__ float4 stash[]; /* [columns that are not in registers], if stashed */
    __shared__ float parts[2][32];
    unsigned row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return; /* a whole warp; no barrier where a block has several rows */
    x += (size_t)row * cols;
    y += (size_t)row * cols;

    const unsigned in_registers = blockDim.x * KEPT; /* columns */
    const float *rest = stashed ? (const float *)stash : x + in_registers;
    const share s = {threadIdx.x * WIDTH, blockDim.x * WIDTH, (unsigned)cols, in_registers, rest};
    float kept[KEPT];
    /* SOLUTION: the four steps, with a reduction of the sums of the threads between the last two,
       and an array of parts for each reduction (about 4 lines). */
    fetch<KIND, WIDTH, KEPT>(kept, stashed ? (float *)stash : NULL, x, s);
    float by = KIND == RMSNORM ? 0.0f : move_by<KIND, WIDTH, KEPT>(kept, parts[0], s);
    float sum = over_row<false>(move_and_sum<KIND, WIDTH, KEPT>(kept, by, s), parts[1]);
    store<KIND, WIDTH, KEPT>(y, kept, by, scale_of<KIND>(sum, cols, eps), gamma, beta, s);
    /* END SOLUTION */
}

/* ---- the launch ------------------------------------------------------------------------------ */

/** How many threads and registers a row gets, and whether the rest fits in shared memory. */
template <kind KIND, int WIDTH>
static cudaError_t launch_width(float *y, const float *x, const float *gamma, const float *beta,
                                int rows, int cols, float eps, cudaStream_t stream)
{
    int kept = cols <= 256 ? 8 : cols <= 512 || (cols > 1024 && cols <= 8192) ? 16 : MOST;
    int threads = 32, most = cols <= 32768 ? 512 : 1024;
    if (cols > 1024) threads = cols >= most * kept ? most : ((cols - 1) / kept / 32 + 1) * 32;
    dim3 block(threads, threads == 32 ? 8 : 1);
    auto *kernel = kept == 8    ? row_kernel<KIND, WIDTH, 8>
                   : kept == 16 ? row_kernel<KIND, WIDTH, 16>
                                : row_kernel<KIND, WIDTH, MOST>;

    size_t beyond = cols > threads * kept ? (size_t)(cols - threads * kept) * sizeof(float) : 0;
    if (beyond > 0) {
        int device, limit;
        cudaError_t error = cudaGetDevice(&device);
        if (error == cudaSuccess)
            error = cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
        if (error != cudaSuccess) return error;
        if (beyond + 2 * 32 * sizeof(float) > (size_t)limit) beyond = 0; /* it is read again */
        error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, beyond);
        if (error != cudaSuccess) return error;
    }
    kernel<<<(rows - 1) / block.y + 1, block, beyond, stream>>>(y, x, gamma, beta, rows, cols,
                                                                beyond > 0, eps);
    return cudaGetLastError();
}

/** float4 only where every row of every array begins at a multiple of 16 bytes. */
template <kind KIND>
static cudaError_t launch(float *y, const float *x, const float *gamma, const float *beta, int rows,
                          int cols, float eps, cudaStream_t stream)
{
    if (rows == 0 || cols == 0) return cudaSuccess; /* an empty grid is a launch error */
    bool aligned =
        cols % 4 == 0 && ((size_t)y | (size_t)x | (size_t)gamma | (size_t)beta) % 16 == 0;
    return aligned ? launch_width<KIND, 4>(y, x, gamma, beta, rows, cols, eps, stream)
                   : launch_width<KIND, 1>(y, x, gamma, beta, rows, cols, eps, stream);
}

cudaError_t softmax_rows(float *y, const float *x, int rows, int cols, cudaStream_t stream)
{
    /* SOLUTION: launch for this kind, and return its error (about 2 lines). */
    cudaError_t error = launch<SOFTMAX>(y, x, NULL, NULL, rows, cols, 0.0f, stream);
    if (error != cudaSuccess) return error;
    /* END SOLUTION */
    return cudaGetLastError();
}

cudaError_t layernorm_rows(float *y, const float *x, const float *gamma, const float *beta,
                           int rows, int cols, float eps, cudaStream_t stream)
{
    /* SOLUTION: launch for this kind, and return its error (about 2 lines). */
    cudaError_t error = launch<LAYERNORM>(y, x, gamma, beta, rows, cols, eps, stream);
    if (error != cudaSuccess) return error;
    /* END SOLUTION */
    return cudaGetLastError();
}

cudaError_t rmsnorm_rows(float *y, const float *x, const float *gamma, int rows, int cols,
                         float eps, cudaStream_t stream)
{
    /* SOLUTION: launch for this kind, and return its error (about 2 lines). */
    cudaError_t error = launch<RMSNORM>(y, x, gamma, NULL, rows, cols, eps, stream);
    if (error != cudaSuccess) return error;
    /* END SOLUTION */
    return cudaGetLastError();
}

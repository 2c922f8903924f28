/*
 * basics.h: the contract of phase 2, first kernels. One exercise a file.
 *
 * Every function here is a launcher: it runs on the host, takes device pointers (into memory from
 * cudaMalloc, aligned to their elements and to nothing more) and a stream, starts kernels of your
 * own on that stream, and returns without waiting. It returns the error of the launch:
 * cudaGetLastError(). Sizes of 0 are legal: without outputs nothing is launched, and an empty sum
 * is 0. Sizes have no bound but memory. NaN and infinities go where the arithmetic takes them,
 * unless it says otherwise.
 * (202 and 205 are about what comes before and after the kernels: they allocate, copy and wait.)
 * Matrices are row-major, c[m x n] = a[m x k] * b[k x n]; outputs are overwritten.
 */
#ifndef COURSE_BASICS_H
#define COURSE_BASICS_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 201_hello.cu */

/** Every thread prints one line from the device: "Hello from block B, thread T\n", where B is the
 *  linear block id in the grid and T the linear thread id in the block (x runs fastest). */
cudaError_t hello(dim3 grid, dim3 block, cudaStream_t stream);

/**
 * Every thread writes down who it is. Global thread i = block id * threads per block + thread id
 * (linear ids, x fastest) writes four ints.
 * @param out [4 * threads in the grid]; out[4i .. 4i+3] = block id, thread id in the block,
 *            lane in the warp, warp in the block
 */
cudaError_t whoami(int *out, dim3 grid, dim3 block, cudaStream_t stream);

/* 202_devices.cu
 *
 * What cannot be done is an answer, not an end: the function returns the error, notes words of it,
 * and leaves nothing for cudaGetLastError; the next call works. Each function sets the device that
 * it works on, and has waited for it when it returns, but for launch_threads. */

typedef struct device_info {
    int number;
    int multiprocessors;
    int most_threads;         /**< of a block */
    size_t bytes, free_bytes; /**< of its memory */
} device_info;

/** Numbers that are in one of two places. What lies in the other one is of no use: who has the
 *  pointer may have written since, and nobody would know. */
typedef enum tensor_place { TENSOR_ON_CPU, TENSOR_ON_GPU } tensor_place;

typedef struct tensor {
    float *h_data; /**< [n], pinned */
    float *d_data; /**< [n] */
    size_t n;
    tensor_place place; /**< where the numbers are */
} tensor;

/** How many there are. None is an answer: 0. */
cudaError_t device_count(int *h_count);
/** @return cudaErrorInvalidDevice where there is no such number; words: the number, and how many
 *          there are */
cudaError_t device_new(device_info *h_info, int number);
/** The number of the device with most multiprocessors, of equals the first; -1 if there is none. */
cudaError_t default_device(int *h_number);
/** Waits for all that was given to it. @return as device_new */
cudaError_t synchronize(int device);

/**
 * n zeros on a device: a tensor on the GPU, without memory of the host: h_data is NULL.
 * @param t receives it, or NULL on an error
 * @return cudaErrorMemoryAllocation where nobody has so much, however large n is; words: n.
 *         As device_new
 */
cudaError_t zeros(tensor **t, int device, size_t n);
/** The same of ones. */
cudaError_t ones(tensor **t, int device, size_t n);
/** The same of rows x cols numbers. @param h_values [count]
 *  @return cudaErrorInvalidValue unless rows * cols is count; words: all three */
cudaError_t from_slice(tensor **t, int device, const float *h_values, size_t count, size_t rows,
                       size_t cols);
/** @param h_y [count], receives the numbers
 *  @return cudaErrorInvalidValue unless the tensor has count; words: count, and how many it has */
cudaError_t to_vec(float *h_y, size_t count, const tensor *t);
/** Frees it. NULL is allowed. */
cudaError_t tensor_release(tensor *t);

/** One block, whose thread i writes out[i] = i; nothing for 0 threads. Does not wait.
 *  @return cudaErrorInvalidConfiguration where a block cannot be so large, whatever the launch
 *          itself returned; words: threads, and how many there may be */
cudaError_t launch_threads(int *out, int threads, cudaStream_t stream);

/** Of the last of these functions that failed, the words, which end with '\0'; at first "". */
void device_words(char *h_words, size_t size);

/* 203_vector_add.cu */

/** c[i] = a[i] + b[i] for i < n. c may be a or b. n may exceed 2^31. */
cudaError_t vector_add(float *c, const float *a, const float *b, size_t n, cudaStream_t stream);

/* 204_elementwise.cu */

typedef enum elementwise_op {
    ELEMENTWISE_ADD,     /**< a + b */
    ELEMENTWISE_MUL,     /**< a * b */
    ELEMENTWISE_RELU,    /**< a, or 0 where a < 0; NaN stays NaN */
    ELEMENTWISE_SIGMOID, /**< 1 / (1 + exp(-a)), also where exp overflows */
} elementwise_op;

/**
 * y[i] = op(a[i], b[i]) for i < n, by `grid` blocks of `block` threads, however few they are. y may
 * be a or b.
 * @param b of relu and sigmoid not read; may be NULL
 * @return cudaErrorInvalidValue, and does nothing, for another op
 */
cudaError_t elementwise(int op, float *y, const float *a, const float *b, size_t n, int grid,
                        int block, cudaStream_t stream);

/* 205_copies.cu
 *
 * h_ is memory of the host, and all of it is ordinary, pageable memory but where it says pinned.
 * Every function returns the first error that a call of CUDA gave it, and has then freed what it
 * allocated. n >= 1. */

typedef enum copy_mode {
    COPY_PAGEABLE, /**< straight from and to the caller's memory */
    COPY_PINNED,   /**< through pinned memory that roundtrip allocates and frees */
} copy_mode;

/**
 * To the GPU and back: h_y[n] becomes h_x[n], bit for bit, by two copies. Waits for the second one.
 * @param h_gbs [2] gigabytes (1e9 bytes) a second of the copy to the device and of the copy back,
 *              by CUDA events around that copy alone: no allocation, no memcpy
 */
cudaError_t roundtrip(float *h_y, const float *h_x, size_t n, copy_mode mode, float *h_gbs,
                      cudaStream_t stream);

/**
 * A tensor on the CPU, with memory in both places, so that what follows allocates nothing.
 * @param t        receives it, or NULL on an error
 * @param h_values [n], copied; not read before there is memory for them
 */
cudaError_t tensor_create(tensor **t, const float *h_values, size_t n);
/** The numbers are on the GPU from here on: one copy if they were not, none if they were. Does not
 *  wait: the stream does things in order. After an error they are where they were. */
cudaError_t tensor_to_gpu(tensor *t, cudaStream_t stream);
/** Are they? 1 or 0 */
int tensor_on_gpu(const tensor *t);
/** The same in the other direction; but what the host reads next has to be there: waits. */
cudaError_t tensor_to_cpu(tensor *t, cudaStream_t stream);
/** Frees it, when the stream is done with its memory. NULL is allowed. */
cudaError_t tensor_free(tensor *t, cudaStream_t stream);

/** A layer, in place, on the GPU: x = relu(scale x + shift). NaN stays NaN. Does not wait.
 *  @return cudaErrorInvalidValue, and does nothing, when the tensor is on the CPU */
cudaError_t tensor_layer(tensor *t, float scale, float shift, cudaStream_t stream);
/** h_y[n] receives the numbers; the tensor is on the CPU afterwards. */
cudaError_t tensor_get(float *h_y, tensor *t, cudaStream_t stream);

/**
 * Layer after layer on h_x[n], from the host to the host, by two copies however many layers.
 * @param h_scale, h_shift [layers]; 0 layers give h_y = h_x
 */
cudaError_t tensor_chain(float *h_y, const float *h_x, size_t n, const float *h_scale,
                         const float *h_shift, int layers, cudaStream_t stream);

/* 206_matmul_naive.cu */

/** c[m x n] = a[m x k] * b[k x n], one thread per element of c. k = 0 gives zeros. */
cudaError_t matmul_naive(float *c, const float *a, const float *b, int m, int n, int k,
                         cudaStream_t stream);

/* 207_shared_memory.cu */

/** Each run of 256 elements backwards: out[256 b + i] = in[256 b + 255 - i]. Of the last run, which
 *  may be shorter, its own end takes the place of 255. out may be in. */
cudaError_t reverse_blocks(float *out, const float *in, size_t n, cudaStream_t stream);

/** out[i] = in[i - radius] + ... + in[i + radius]; what lies outside of in counts as 0.
 *  @param radius 0 to 64; else cudaErrorInvalidValue */
cudaError_t stencil_1d(float *out, const float *in, size_t n, int radius, cudaStream_t stream);

/** out[w] = the sum of in[32 w .. 32 w + 31], for (n + 31) / 32 runs; the last may be shorter. */
cudaError_t warp_sums(float *out, const float *in, size_t n, cudaStream_t stream);

/* 208_reduce.cu */

/** out[0] = sum of in[0 .. n-1]; 0 for n = 0. Scratch: cudaMallocAsync or a __device__ array. */
cudaError_t reduce_sum(float *out, const float *in, size_t n, cudaStream_t stream);
/** out[0] = the largest of in[0 .. n-1]; -infinity for n = 0; NaN if any element is NaN. */
cudaError_t reduce_max(float *out, const float *in, size_t n, cudaStream_t stream);
/** out[r] = sum over c of in[r x c], for `rows` rows of `cols` elements. */
cudaError_t row_sum(float *out, const float *in, int rows, int cols, cudaStream_t stream);

/* 209_transpose.cu */

/** out[cols x rows] = the transpose of in[rows x cols]: out[j * rows + i] = in[i * cols + j].
 *  They do not overlap. */
cudaError_t transpose(float *out, const float *in, int rows, int cols, cudaStream_t stream);

/* 210_scan.cu */

/** out[i] = in[0] + ... + in[i - 1], and out[0] = 0. Sums wrap around, as unsigned ones do. out may
 *  be in. Scratch: cudaMallocAsync or a __device__ array. */
cudaError_t exclusive_scan(int *out, const int *in, size_t n, cudaStream_t stream);

/* 211_matmul_tiled.cu */

/** As matmul_naive, with tiles of a and b staged in shared memory. */
cudaError_t matmul_tiled(float *c, const float *a, const float *b, int m, int n, int k,
                         cudaStream_t stream);

/* 212_matmul_transposed.cu, with 212_tile.cuh
 *
 * Nothing is transposed in memory: no function allocates any. */

/** c[m x n] = a[m x k] * b[n x k]^T. k = 0 gives zeros. */
cudaError_t matmul_nt(float *c, const float *a, const float *b, int m, int n, int k,
                      cudaStream_t stream);
/** c[m x n] = a[k x m]^T * b[k x n]. k = 0 gives zeros. */
cudaError_t matmul_tn(float *c, const float *a, const float *b, int m, int n, int k,
                      cudaStream_t stream);
/**
 * `batch` products c[m x n] = a[m x k] * b[k x n], as many as there are, beyond 65,535 too. Of one
 * product the strides mean nothing.
 * @param stride_c           floats from one c to the next, at least m * n; what lies between two of
 *                           them stays as it is
 * @param stride_a, stride_b floats from one a or b to the next, any number; 0: all products have
 *                           the same one
 */
cudaError_t matmul_batched(float *c, const float *a, const float *b, int m, int n, int k, int batch,
                           size_t stride_c, size_t stride_a, size_t stride_b, cudaStream_t stream);

/* 213_matmul_cublas.cu */

/** What cuBLAS keeps from call to call. NULL is none. */
typedef struct cublas_ctx cublas_ctx;

/** @param ctx receives it, or NULL on an error. A product of it is fp32 throughout, not TF32. */
cudaError_t cublas_create(cublas_ctx **ctx);
/**
 * As matmul_naive, by one call of cuBLAS, whose handle is ctx's: it is made once.
 * @return cudaErrorInvalidValue, and does nothing, when ctx is NULL; cudaErrorUnknown when cuBLAS
 *         reports an error. A ctx that was destroyed is the caller's mistake, as memory that was
 *         freed is
 */
cudaError_t matmul_cublas(cublas_ctx *ctx, float *c, const float *a, const float *b, int m, int n,
                          int k, cudaStream_t stream);
/** Frees all of it. NULL is allowed. */
cudaError_t cublas_destroy(cublas_ctx *ctx);

/* 214_matmul_registers.cu */

/** As matmul_naive, with several rows and columns of c a thread, kept in registers. */
cudaError_t matmul_registers(float *c, const float *a, const float *b, int m, int n, int k,
                             cudaStream_t stream);

/* 215_find_the_bugs.cu
 *
 * A group is 256 values; the last one may have fewer. Sums and products wrap around. out and in do
 * not overlap. */

/** Within each group, every value moves one place to the front, and the first one to the end. */
cudaError_t rotate_groups(int *out, const int *in, size_t n, cudaStream_t stream);
/** x[i] *= factor */
cudaError_t scale_all(int *x, size_t n, int factor, cudaStream_t stream);
/** counts[d] = how many of digits[n] are d. @param counts [10] @param digits [n], each 0 .. 9 */
cudaError_t count_digits(int *counts, const int *digits, size_t n, cudaStream_t stream);
/** out[g] = the sum of group g of in[n]. */
cudaError_t group_sums(int *out, const int *in, size_t n, cudaStream_t stream);
/** out[w] = the largest of in[32w .. 32w + 31], or of as many as there are. */
cudaError_t warp_maxima(int *out, const int *in, size_t n, cudaStream_t stream);
/** out[i] = in[(i * step) modulo n], with the true product. @param step > 0 */
cudaError_t gather_steps(int *out, const int *in, int n, int step, cudaStream_t stream);
/** y[i] = h_ab[0] * x[i] + h_ab[1]. @param h_ab [2] of the host, read before the function returns
 */
cudaError_t evaluate_line(int *y, const int *x, size_t n, const int *h_ab, cudaStream_t stream);
/** count[0] = how many of x[n] are larger than limit. */
cudaError_t count_above(int *count, const int *x, size_t n, int limit, cudaStream_t stream);

/* 217_histogram.cu */

/** counts[v] = how many of values[0 .. n-1] are v, for v in 0 .. bins-1; other values are not
 *  counted. bins >= 0. */
cudaError_t histogram(int *counts, const int *values, size_t n, int bins, cudaStream_t stream);

/* 2a_matmul_warptile.cu: a challenge */

/** As matmul_registers, with a tile for each warp and copies that nobody waits for. */
cudaError_t matmul_warptile(float *c, const float *a, const float *b, int m, int n, int k,
                            cudaStream_t stream);

/* 2b_scan_single_pass.cu: a challenge */

/** As exclusive_scan, in one kernel that reads and writes each element once. Blocks may begin in
 *  any order, and few may be at work at a time. */
cudaError_t exclusive_scan_single_pass(int *out, const int *in, size_t n, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif

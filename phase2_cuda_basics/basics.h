/*
 * basics.h: the contract of phase 2, first kernels. One exercise a file.
 *
 * Every function here is a launcher: it runs on the host, takes device pointers (those from
 * cudaMalloc) and a stream, starts kernels of your own on that stream, and returns without waiting.
 * It returns the error of the launch: cudaGetLastError(). Sizes of 0 are legal: without outputs
 * nothing is launched, and an empty sum is 0.
 * (205 is about what comes before and after the kernels: its functions allocate, copy and wait.)
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

/* 203_vector_add.cu */

/** c[i] = a[i] + b[i] for i < n. c may be a or b. n may exceed 2^31. */
cudaError_t vector_add(float *c, const float *a, const float *b, size_t n, cudaStream_t stream);

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

/** Numbers that are in one of two places. What lies in the other one is of no use: who has the
 *  pointer may have written since, and nobody would know. */
typedef enum tensor_place { TENSOR_ON_CPU, TENSOR_ON_GPU } tensor_place;

typedef struct tensor {
    float *h_data; /**< [n], pinned */
    float *d_data; /**< [n] */
    size_t n;
    tensor_place place; /**< where the numbers are */
} tensor;

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

/* 208_reduce.cu */

/** out[0] = sum of in[0 .. n-1]; 0 for n = 0. Scratch: cudaMallocAsync or a __device__ array. */
cudaError_t reduce_sum(float *out, const float *in, size_t n, cudaStream_t stream);
/** out[0] = the largest of in[0 .. n-1]; -infinity for n = 0; NaN if any element is NaN. */
cudaError_t reduce_max(float *out, const float *in, size_t n, cudaStream_t stream);
/** out[r] = sum over c of in[r x c], for `rows` rows of `cols` elements. */
cudaError_t row_sum(float *out, const float *in, int rows, int cols, cudaStream_t stream);

/* 211_matmul_tiled.cu */

/** As matmul_naive, with tiles of a and b staged in shared memory. */
cudaError_t matmul_tiled(float *c, const float *a, const float *b, int m, int n, int k,
                         cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif

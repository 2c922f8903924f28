/*
 * basics.h: the contract of phase 2, first kernels. One exercise a file.
 *
 * Every function here is a launcher: it runs on the host, takes device pointers (those from
 * cudaMalloc) and a stream, starts kernels of your own on that stream, and returns without waiting.
 * It returns the error of the launch: cudaGetLastError(). Sizes of 0 are legal and launch nothing.
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

/*
 * hello.h: the contract of exercise 201. The conventions are in basics.h.
 */
#ifndef COURSE_HELLO_H
#define COURSE_HELLO_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Every thread prints one line from the device: "Hello from block B, thread T\n", where B is the
 *  linear block id in the grid and T the linear thread id in the block (x runs fastest). */
cudaError_t hello(dim3 grid, dim3 block, cudaStream_t stream);

/**
 * Every thread writes its ids. Global thread i = block id * threads per block + thread id (linear
 * ids, x fastest) writes four ints.
 * @param out [4 * threads in the grid]; out[4i .. 4i+3] = block id, thread id in the block,
 *            lane in the warp, warp in the block
 */
cudaError_t whoami(int *out, dim3 grid, dim3 block, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif

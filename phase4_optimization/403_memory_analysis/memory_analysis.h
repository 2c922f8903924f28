/*
 * memory_analysis.h: the contract of exercise 403. The conventions are in optimization.h. The five
 * kernels are in matmul_launches.h, which 403_memory_analysis.cu includes.
 */
#ifndef COURSE_MEMORY_ANALYSIS_H
#define COURSE_MEMORY_ANALYSIS_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum matmul_kernel {
    MATMUL_ROWS,       /**< an element of c a thread, lanes along rows: not coalesced */
    MATMUL_COLUMNS,    /**< the same, lanes along columns: coalesced */
    MATMUL_TILED,      /**< tiles in shared memory */
    MATMUL_REGISTERS,  /**< 8 x 4 elements of c a thread */
    MATMUL_VECTORIZED, /**< the same, four floats a load */
    MATMUL_OWN,        /**< the student's */
} matmul_kernel;

/** kernel<<<grid, block, shared>>>(c, a, b, m, n, k, tile), c[m x n] = a[m x k] * b[k x n] */
typedef struct matmul_launch {
    const void *kernel;
    dim3 grid, block;
    size_t shared; /**< bytes of dynamic shared memory */
} matmul_launch;

/** What a launch costs. A request is an instruction of one warp that loads, for as many of its
 * lanes as are active, of any width; none without an active lane. A sector is 32 aligned bytes. */
typedef struct matmul_metrics {
    size_t global_loads;      /**< requests of global memory */
    size_t shared_loads;      /**< requests of shared memory */
    size_t register_usage;    /**< registers of a thread */
    float achieved_occupancy; /**< warps that a multiprocessor holds, if there are blocks enough, of
                                 those that it can hold at most */
    float memory_efficiency;  /**< the bytes of a and b, each once, of those that the sectors hold
                                 which all requests of global memory fetch: at most 1 */
} matmul_metrics;

/**
 * Loads and efficiency by arithmetic; registers and occupancy of the device, which is asked.
 * a and b begin at multiples of 32 bytes.
 * @param kernel of matmul_kernel; others are cudaErrorInvalidValue
 * @param m      1 .. 500,000: the rows of the given kernels lie along y of the grid
 * @param n, k   multiples of 8, at least 8
 * @param tile   8, 16, 24 or 32
 */
cudaError_t analyze_memory(matmul_metrics *metrics, int kernel, int m, int n, int k, int tile);

/** The launch of a kernel of the student's, for such sizes. It may do with `tile` what it likes.
 *  matmul_describe and matmul_run (matmul_launches.h) call it. */
cudaError_t matmul_own_launch(matmul_launch *launch, int m, int n, int k, int tile);

#ifdef __cplusplus
}
#endif

#endif

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
    MATMUL_ROWS,       /**< one element of c per thread, lanes are rows: not coalesced */
    MATMUL_COLUMNS,    /**< the same, lanes are columns: coalesced */
    MATMUL_TILED,      /**< tiles in shared memory */
    MATMUL_REGISTERS,  /**< 8 x 4 elements of c per thread */
    MATMUL_VECTORIZED, /**< the same, four floats per load */
    MATMUL_OWN,        /**< your own */
} matmul_kernel;

/** kernel<<<grid, block, shared>>>(c, a, b, m, n, k, tile), c[m x n] = a[m x k] * b[k x n] */
typedef struct matmul_launch {
    const void *kernel;
    dim3 grid, block;
    size_t shared; /**< bytes of dynamic shared memory */
} matmul_launch;

/** The costs of a launch. A request is one load instruction of one warp, of any width, for all of
 *  its active lanes; without an active lane there is none. A sector is 32 aligned bytes. */
typedef struct matmul_metrics {
    size_t global_loads;      /**< requests to global memory */
    size_t shared_loads;      /**< requests to shared memory */
    size_t register_usage;    /**< registers per thread */
    float achieved_occupancy; /**< warps per multiprocessor / the most that it can hold, if there
                                 are enough blocks */
    float memory_efficiency;  /**< bytes of a and b, each counted once / bytes of all sectors that
                                 requests to global memory fetch: at most 1 */
} matmul_metrics;

/**
 * Computes loads and efficiency by arithmetic, and asks the device for registers and occupancy.
 * a and b begin at multiples of 32 bytes.
 * @param kernel a matmul_kernel; others are cudaErrorInvalidValue
 * @param m      1 .. 500,000: the given kernels have rows along y of the grid
 * @param n, k   multiples of 8, at least 8
 * @param tile   8, 16, 24 or 32
 */
cudaError_t analyze_memory(matmul_metrics *metrics, int kernel, int m, int n, int k, int tile);

/** The launch of your own kernel, for such sizes. It may use `tile` in any way, or not at all.
 *  matmul_describe and matmul_run (matmul_launches.h) call it. */
cudaError_t matmul_own_launch(matmul_launch *launch, int m, int n, int k, int tile);

#ifdef __cplusplus
}
#endif

#endif

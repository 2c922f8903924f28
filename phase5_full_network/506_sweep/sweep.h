/*
 * sweep.h: the contract of exercise 506. The conventions are in network.h.
 */
#ifndef COURSE_SWEEP_H
#define COURSE_SWEEP_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

/** One batch size. Times are milliseconds of one forward pass of the whole batch. */
typedef struct sweep_row {
    size_t device_bytes; /**< device memory that the calls so far took and still hold */
    int batch;
    int measured_at;         /**< the batch that was timed: another one if the times are scaled */
    int error;               /**< cudaError_t of the forward pass; then all numbers are 0 */
    float ms;                /**< median of the timed calls */
    float fastest, slowest;  /**< of the timed calls */
    float images_per_second; /**< batch / median */
} sweep_row;

#ifdef __cplusplus
extern "C" {
#endif

/** A forward pass of `batch` images: it may only enqueue its work on the stream and return. The
 *  first calls with a batch may be slow: they allocate, load kernels, fill caches. */
typedef cudaError_t sweep_forward(void *context, int batch, cudaStream_t stream);

/**
 * Measure forward at each of batches[count], in this order.
 *
 * A row is timed by `warmup` calls that do not count and `repeats` calls (at least 1) that do, one
 * after the other, each between its own two events on the stream. ms is the median; for an even
 * number of calls it is the mean of the two in the middle.
 *
 * Suppose that these calls would take longer than budget_ms, by the time per image of the last row
 * that was timed. Then forward is not called: the times are those of that row, scaled by the ratio
 * of the batches; measured_at is that row's batch, and device_bytes is 0. The first row is always
 * timed, and with a budget_ms of 0 all rows are.
 *
 * If forward returns an error (a large batch does not fit into memory), the row has only its batch
 * and that error, which is cleared in the runtime (cudaGetLastError). The sweep then goes on.
 * @param rows    [count], host
 * @param batches [count], host
 * @return an error of the measurement itself
 */
cudaError_t sweep(sweep_row *rows, sweep_forward *forward, void *context, const int *batches,
                  int count, int warmup, int repeats, float budget_ms, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif

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
    size_t device_bytes; /**< that the calls so far took of the device's memory and still hold */
    int batch;
    int measured_at;         /**< the batch that was timed: a smaller one where this is scaled */
    int error;               /**< cudaError_t of the forward pass; then all numbers are 0 */
    float ms;                /**< median of the timed calls */
    float fastest, slowest;  /**< of the timed calls */
    float images_per_second; /**< batch / median */
} sweep_row;

#ifdef __cplusplus
extern "C" {
#endif

/** A forward pass of `batch` images: it may only enqueue its work on the stream and return. The
 *  first calls of a batch may be slow: they allocate, load kernels, fill caches. */
typedef cudaError_t sweep_forward(void *context, int batch, cudaStream_t stream);

/**
 * Measure forward at each of batches[count], in this order.
 *
 * A row is timed by `warmup` calls that do not count and `repeats` (at least 1) that do, one after
 * the other, each between two events of its own on the stream. ms is the median; of an even number
 * of calls it lies halfway between the two in the middle.
 *
 * Where these calls would take longer than budget_ms, by the time for an image of the last row that
 * was timed, forward is not called: times are those of that row, times the ratio of the batches,
 * measured_at says so, and device_bytes is 0. The first row is always timed, and with a budget_ms
 * of 0 all are.
 *
 * Where forward returns an error (the memory is too short for a large batch) the row has that error
 * and nothing else but its batch, and the sweep goes on with the next; the error is taken from the
 * runtime (cudaGetLastError).
 * @param rows    [count], host
 * @param batches [count], host
 * @return an error of the measuring itself
 */
cudaError_t sweep(sweep_row *rows, sweep_forward *forward, void *context, const int *batches,
                  int count, int warmup, int repeats, float budget_ms, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif

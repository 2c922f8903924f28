/*
 * 506_sweep.cu: how long does it take? Throughput and latency at each batch size.
 *
 * The idea: a launch returns before the work is done, so a clock on the host that is read after it
 * measures only how long the *requests* took. Two events on the stream, one before and one behind
 * the work, are stamped by the device when it reaches them; their difference is the device's time
 * from one to the other, its waiting for launches included.
 *
 * One number is not a measurement. The first calls pay for what is done once (allocations, loading
 * of kernels, cold caches): their times are dropped. The median of the others is reported, because
 * a disturbance makes a call slower and never faster, and would move a mean; the fastest and the
 * slowest call show how large the disturbances were.
 *
 * An estimate is marked as one: where a batch would take minutes (on a CPU), its time is scaled
 * from a smaller one, and the row says from which.
 *
 * The cost it leaves: an event costs some microseconds, so that a pass of ten launches is measured
 * well and an empty kernel is not.
 */
#include "506_sweep/sweep.h"
#include "cuda_check.h"
#include "not_implemented.h"
#include <stdlib.h>
#include <string.h>

/* SOLUTION: a stopwatch of two events; time_call: record, call, record, wait, read (about 15
   lines). */
typedef struct stopwatch {
    cudaEvent_t start, stop;
} stopwatch;

/** @param result of forward: its error is no error of the measurement */
static cudaError_t time_call(float *ms, cudaError_t *result, stopwatch w, sweep_forward *forward,
                             void *context, int batch, cudaStream_t stream)
{
    CUDA_CHECK(cudaEventRecord(w.start, stream));
    *result = forward(context, batch, stream);
    if (*result != cudaSuccess) return cudaSuccess;
    CUDA_CHECK(cudaEventRecord(w.stop, stream));
    CUDA_CHECK(cudaEventSynchronize(w.stop));
    return cudaEventElapsedTime(ms, w.start, w.stop);
}
/* END SOLUTION */

/* SOLUTION: summarize: sort the times; median, fastest, slowest, images a second (about 16 lines).
 */
static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void summarize(sweep_row *row, float *times, int repeats)
{
    qsort(times, repeats, sizeof *times, by_value);
    row->ms = (times[(repeats - 1) / 2] + times[repeats / 2]) / 2;
    row->fastest = times[0];
    row->slowest = times[repeats - 1];
    row->images_per_second = 1e3f * row->batch / row->ms;
    row->measured_at = row->batch;
}
/* END SOLUTION */

/* SOLUTION: time_row: warm up, time, summarize; how much memory is held now (about 22 lines). */
static cudaError_t free_memory(size_t *bytes)
{
    size_t all;
    return cudaMemGetInfo(bytes, &all);
}

/** @param times [repeats]. @param free_before of the device's memory, before the first row */
static cudaError_t time_row(sweep_row *row, float *times, size_t free_before, stopwatch w,
                            sweep_forward *forward, void *context, int warmup, int repeats,
                            cudaStream_t stream)
{
    float ignored;
    cudaError_t result = cudaSuccess;
    for (int i = -warmup; i < repeats && result == cudaSuccess; i++) {
        CUDA_CHECK(time_call(i < 0 ? &ignored : &times[i], &result, w, forward, context, row->batch,
                             stream));
    }
    row->error = result;
    if (result != cudaSuccess) {
        cudaGetLastError(); /* it is in the row; no later call may find it */
        return cudaSuccess;
    }
    size_t free_now;
    CUDA_CHECK(free_memory(&free_now));
    row->device_bytes = free_before > free_now ? free_before - free_now : 0;
    summarize(row, times, repeats);
    return cudaSuccess;
}
/* END SOLUTION */

/* SOLUTION: scale_row: the times of a row that was timed, for another batch (about 9 lines). */
static void scale_row(sweep_row *row, const sweep_row *timed)
{
    float ratio = (float)row->batch / timed->batch;
    row->ms = ratio * timed->ms;
    row->fastest = ratio * timed->fastest;
    row->slowest = ratio * timed->slowest;
    row->images_per_second = timed->images_per_second;
    row->measured_at = timed->batch;
}
/* END SOLUTION */

/* SOLUTION: sweep_rows: row by row, timed or scaled from the last that was (about 17 lines). */
static cudaError_t sweep_rows(sweep_row *rows, float *times, stopwatch w, sweep_forward *forward,
                              void *context, const int *batches, int count, int warmup, int repeats,
                              float budget_ms, cudaStream_t stream)
{
    const sweep_row *timed = NULL;
    size_t free_before;
    CUDA_CHECK(free_memory(&free_before));
    for (sweep_row *row = rows; row < rows + count; row++) {
        memset(row, 0, sizeof *row);
        row->batch = batches[row - rows];
        float image = timed ? timed->ms / timed->batch : 0.0f;
        if (budget_ms > 0 && image * row->batch * (warmup + repeats) > budget_ms) {
            scale_row(row, timed);
            continue;
        }
        CUDA_CHECK(time_row(row, times, free_before, w, forward, context, warmup, repeats, stream));
        if (row->error == cudaSuccess) timed = row;
    }
    return cudaSuccess;
}
/* END SOLUTION */

cudaError_t sweep(sweep_row *rows, sweep_forward *forward, void *context, const int *batches,
                  int count, int warmup, int repeats, float budget_ms, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    /* SOLUTION: two events and room for the times, for all rows (about 11 lines). */
    stopwatch w = {};
    float *times = (float *)malloc(repeats * sizeof *times);
    if (times == NULL) return cudaErrorMemoryAllocation;
    error = cudaEventCreate(&w.start);
    if (error == cudaSuccess) error = cudaEventCreate(&w.stop);
    if (error == cudaSuccess)
        error = sweep_rows(rows, times, w, forward, context, batches, count, warmup, repeats,
                           budget_ms, stream);
    if (w.start) cudaEventDestroy(w.start); /* whatever happened, nothing is left */
    if (w.stop) cudaEventDestroy(w.stop);
    free(times);
    /* END SOLUTION */
    return error;
}

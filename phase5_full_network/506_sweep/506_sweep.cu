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

/* TODO: a stopwatch of two events; time_call: record, call, record, wait, read (about 15
   lines). */

/* TODO: summarize: sort the times; median, fastest, slowest, images a second (about 16 lines).
 */

/* TODO: time_row: warm up, time, summarize; how much memory is held now (about 22 lines). */

/* TODO: scale_row: the times of a row that was timed, for another batch (about 9 lines). */

/* TODO: sweep_rows: row by row, timed or scaled from the last that was (about 17 lines). */

cudaError_t sweep(sweep_row *rows, sweep_forward *forward, void *context, const int *batches,
                  int count, int warmup, int repeats, float budget_ms, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    /* TODO: two events and room for the times, for all rows (about 11 lines). */
    NOT_IMPLEMENTED(rows, forward, context, batches, count, warmup, repeats, budget_ms, stream);
    return error;
}

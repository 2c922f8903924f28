// RIGHT: a clock of the host, before the call and after all work of the device is done
/* Correct, and a little less exact: the time to launch and to wake up is in it. */
#include "506_sweep/sweep.h"
#include "cuda_check.h"
#include "timer.h"
#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

extern "C" cudaError_t sweep(sweep_row *rows, sweep_forward *forward, void *context,
                             const int *batches, int count, int warmup, int repeats,
                             float budget_ms, cudaStream_t stream)
{
    float times[1000];
    size_t before, now, all;
    const sweep_row *timed = NULL;
    CUDA_CHECK(cudaMemGetInfo(&before, &all));
    for (int r = 0; r < count; r++) {
        sweep_row *row = &rows[r];
        memset(row, 0, sizeof *row);
        row->batch = batches[r];
        if (budget_ms > 0 && timed &&
            timed->ms / timed->batch * row->batch * (warmup + repeats) > budget_ms) {
            *row = *timed;
            row->batch = batches[r];
            row->device_bytes = 0;
            row->ms *= (float)row->batch / timed->batch;
            row->fastest *= (float)row->batch / timed->batch;
            row->slowest *= (float)row->batch / timed->batch;
            continue;
        }
        for (int i = -warmup; i < repeats && row->error == cudaSuccess; i++) {
            const double began = seconds_now();
            row->error = forward(context, row->batch, stream);
            CUDA_CHECK(cudaStreamSynchronize(stream));
            if (i >= 0) times[i] = (float)(1e3 * (seconds_now() - began));
        }
        if (row->error) {
            cudaGetLastError();
            continue;
        }
        qsort(times, repeats, sizeof *times, by_value);
        row->ms = (times[(repeats - 1) / 2] + times[repeats / 2]) / 2;
        row->fastest = times[0];
        row->slowest = times[repeats - 1];
        CUDA_CHECK(cudaMemGetInfo(&now, &all));
        row->device_bytes = before - now;
        row->measured_at = row->batch;
        row->images_per_second = 1e3f * row->batch / row->ms;
        timed = row;
    }
    return cudaSuccess;
}

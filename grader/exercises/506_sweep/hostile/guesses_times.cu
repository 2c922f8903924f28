// HOSTILE: median_of_odd | of the calls that count
// Calls what it should and measures nothing: the cases, which anybody can read, say what takes how
// long, but for half of it more or less.
#include "506_sweep/sweep.h"

#include <string.h>

cudaError_t sweep(sweep_row *rows, sweep_forward *forward, void *context, const int *batches,
                  int count, int warmup, int repeats, float budget_ms, cudaStream_t stream)
{
    (void)budget_ms;
    for (int i = 0; i < count; i++) {
        sweep_row *row = &rows[i];
        memset(row, 0, sizeof *row);
        row->batch = row->measured_at = batches[i];
        for (int call = 0; call < warmup + repeats; call++) forward(context, batches[i], stream);
        row->ms = row->fastest = row->slowest = 8.3f + 0.5f * batches[i];
        row->images_per_second = 1e3f * batches[i] / row->ms;
    }
    return cudaStreamSynchronize(stream);
}

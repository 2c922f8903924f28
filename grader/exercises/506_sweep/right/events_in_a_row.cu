// RIGHT: all calls of a row are enqueued at once, an event between each two; waits once
/* The device is never idle between two calls: nothing of the host is in the times. */
#include "506_sweep/sweep.h"
#include "cuda_check.h"
#include <algorithm>
#include <vector>

static cudaError_t enqueue(std::vector<cudaEvent_t> &marks, sweep_row *row, sweep_forward *forward,
                           void *context, int warmup, cudaStream_t stream)
{
    for (int i = 0; i < warmup && row->error == cudaSuccess; i++) {
        row->error = forward(context, row->batch, stream);
    }
    for (size_t i = 0; i < marks.size() && row->error == cudaSuccess; i++) {
        if (i > 0) row->error = forward(context, row->batch, stream);
        CUDA_CHECK(cudaEventRecord(marks[i], stream));
    }
    return cudaStreamSynchronize(stream);
}

static cudaError_t read(sweep_row *row, const std::vector<cudaEvent_t> &marks, size_t before)
{
    std::vector<float> times(marks.size() - 1);
    for (size_t i = 0; i < times.size(); i++) {
        CUDA_CHECK(cudaEventElapsedTime(&times[i], marks[i], marks[i + 1]));
    }
    std::sort(times.begin(), times.end());
    row->fastest = times.front();
    row->slowest = times.back();
    row->ms = (times[times.size() / 2] + times[(times.size() - 1) / 2]) / 2;
    row->images_per_second = 1000 * row->batch / row->ms;
    row->measured_at = row->batch;
    size_t now, all;
    CUDA_CHECK(cudaMemGetInfo(&now, &all));
    row->device_bytes = before - now;
    return cudaSuccess;
}

extern "C" cudaError_t sweep(sweep_row *rows, sweep_forward *forward, void *context,
                             const int *batches, int count, int warmup, int repeats,
                             float budget_ms, cudaStream_t stream)
{
    std::vector<cudaEvent_t> marks(repeats + 1);
    size_t before, all;
    for (cudaEvent_t &mark : marks) CUDA_CHECK(cudaEventCreate(&mark));
    CUDA_CHECK(cudaMemGetInfo(&before, &all));
    float image = 0;
    for (int r = 0, timed = 0; r < count; r++) {
        const float ratio = timed < r ? (float)batches[r] / rows[timed].batch : 1;
        rows[r] = sweep_row();
        rows[r].batch = batches[r];
        if (budget_ms > 0 && image * batches[r] * (warmup + repeats) > budget_ms) {
            rows[r] = rows[timed];
            rows[r].device_bytes = 0;
            rows[r].batch = batches[r];
            rows[r].ms *= ratio;
            rows[r].fastest *= ratio;
            rows[r].slowest *= ratio;
            continue;
        }
        CUDA_CHECK(enqueue(marks, &rows[r], forward, context, warmup, stream));
        if (rows[r].error) {
            cudaGetLastError();
            continue;
        }
        CUDA_CHECK(read(&rows[r], marks, before));
        image = rows[r].ms / batches[r];
        timed = r;
    }
    for (cudaEvent_t mark : marks) CUDA_CHECK(cudaEventDestroy(mark));
    return cudaSuccess;
}

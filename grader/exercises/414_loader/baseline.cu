/* baseline.cu: what 414 is timed against: each batch is read into one page-locked buffer, then
 * copied, then the next one is read. */
#include "loader_script.h"
#include <cuda_runtime_api.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static int read_all(int file, char *to, size_t bytes, size_t at)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t n = pread(file, to + done, bytes - done, (off_t)(at + done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return 0;
        done += (size_t)n;
    }
    return 1;
}

static cudaError_t load(int file, char *d_batch, char *h_batch, const loader_step *step,
                        cudaStream_t stream)
{
    if (!read_all(file, h_batch, step->bytes, step->batch_idx * step->bytes))
        return cudaErrorOperatingSystem;
    const cudaError_t error =
        cudaMemcpyAsync(d_batch + step->at, h_batch, step->bytes, cudaMemcpyHostToDevice, stream);
    return error != cudaSuccess ? error : cudaStreamSynchronize(stream);
}

extern "C" cudaError_t baseline_loader_drive(void *loader, const char *path, void *d_batches,
                                             const loader_step *script, loader_outcome *log,
                                             int count, cudaStream_t stream)
{
    static char *h_batch;
    static size_t room;
    const int file = open(path, O_RDONLY);
    cudaError_t error = file < 0 ? cudaErrorFileNotFound : cudaSuccess;
    (void)loader;
    for (int i = 0; i < count && error == cudaSuccess; i++) {
        log[i].error = 0;
        if (script[i].verb != LOADER_LOAD) continue;
        if (script[i].bytes > room) { /* in the first call, which warms up */
            cudaFreeHost(h_batch);
            room = script[i].bytes;
            error = cudaMallocHost((void **)&h_batch, room);
        }
        if (error == cudaSuccess)
            error = load(file, (char *)d_batches, h_batch, &script[i], stream);
    }
    if (file >= 0) close(file);
    return error;
}

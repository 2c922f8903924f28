/* worker.c: carries out a script of calls to the loader of 414 (loader_script.h), and counts what a
 * loader may leave behind. */
#ifdef WITH_CUDA
#include "worker/worker.h"

#include "loader_script.h"
#include <cuda_runtime_api.h>
#include <dirent.h>
#include <unistd.h>

typedef struct loader loader;

typedef struct driver {
    loader *loader;
    char *d_batches, *d_scratch;
    cudaStream_t stream;
    cudaError_t (*load)(loader *, void *, size_t, cudaStream_t);
    cudaError_t (*prefetch)(loader *, size_t);
    cudaError_t (*get_pinned)(loader *, void **, size_t *);
    cudaError_t (*close)(loader *);
} driver;

static cudaError_t look_at_pinned(const driver *d, loader_outcome *o)
{
    struct cudaPointerAttributes a = {0};
    void *h_buffer = NULL;
    size_t bytes = 0;
    cudaError_t error = d->get_pinned(d->loader, &h_buffer, &bytes);
    o->bytes = bytes;
    if (error || !h_buffer) return error;
    error = cudaPointerGetAttributes(&a, h_buffer);
    o->is_pinned = a.type == cudaMemoryTypeHost;
    o->sum = loader_sum(h_buffer, bytes);
    return error;
}

static cudaError_t stall(const driver *d, const loader_step *step)
{
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < step->times && !error; i++)
        error = cudaMemsetAsync(d->d_scratch, i, step->bytes, d->stream);
    return error;
}

/* Reads wait until the call is over. */
static cudaError_t prefetch(const driver *d, const loader_step *step, loader_outcome *o)
{
    reads_hold(true);
    const cudaError_t error = d->prefetch(d->loader, step->batch_idx);
    o->waited = reads_hold(false);
    return error;
}

static cudaError_t carry_out(const driver *d, const loader_step *step, loader_outcome *o)
{
    switch (step->verb) {
    case LOADER_LOAD:
        return d->load(d->loader, d->d_batches + step->at, step->batch_idx, d->stream);
    case LOADER_PREFETCH: return prefetch(d, step, o);
    case LOADER_PINNED: return look_at_pinned(d, o);
    case LOADER_CLOSE: return d->close(d->loader);
    case LOADER_STALL: return stall(d, step);
    case LOADER_SLEEP: usleep((useconds_t)step->times); return cudaSuccess;
    default: return cudaErrorInvalidValue;
    }
}

static cudaError_t make_scratch(driver *d, const loader_step *script, int count)
{
    size_t most = 0;
    for (int i = 0; i < count; i++)
        if (script[i].verb == LOADER_STALL && script[i].bytes > most) most = script[i].bytes;
    return most ? cudaMalloc((void **)&d->d_scratch, most) : cudaSuccess;
}

/* @param path of the file, which is what it is from now on: the loader has opened it before
 * @return an error of what is no step of the script */
static cudaError_t loader_drive(loader *l, const char *path, void *d_batches,
                                const loader_step *script, loader_outcome *log, int count,
                                cudaStream_t stream)
{
    driver d = {.loader = l, .d_batches = d_batches, .stream = stream};
    (void)path;
    d.load = (__typeof__(d.load))code_function("load_batch_to_gpu");
    d.prefetch = (__typeof__(d.prefetch))code_function("prefetch_next_batch");
    d.get_pinned = (__typeof__(d.get_pinned))code_function("get_pinned_buffer");
    d.close = (__typeof__(d.close))code_function("loader_close");
    if (!d.load || !d.prefetch || !d.get_pinned || !d.close) return cudaErrorSymbolNotFound;
    cudaError_t error = make_scratch(&d, script, count);
    if (error) return error;
    for (int i = 0; i < count; i++) {
        log[i] = (loader_outcome){0};
        log[i].error = carry_out(&d, &script[i], &log[i]);
        log[i].read = reads_brought();
    }
    error = cudaStreamSynchronize(stream);
    const cudaError_t freed = d.d_scratch ? cudaFree(d.d_scratch) : cudaSuccess;
    return error ? error : freed;
}

static int entries_of(const char *folder)
{
    int count = 0;
    DIR *entries = opendir(folder);
    while (entries && readdir(entries)) count++;
    if (entries) closedir(entries);
    return count;
}

/* Threads and descriptors of the worker. A thread that was joined may be seen for a moment more. */
static void loader_resources(int *counts, int threads)
{
    for (int tries = 0; tries < 200; tries++) {
        counts[0] = entries_of("/proc/self/task");
        if (counts[0] <= threads) break;
        usleep(1000);
    }
    counts[1] = entries_of("/proc/self/fd");
}

WORKER_FUNCTION(loader_drive);
WORKER_FUNCTION(loader_resources);
#endif

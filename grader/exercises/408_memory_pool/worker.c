/* worker.c: carries out a script of calls to the pool of 408 (pool_script.h). */
#ifdef WITH_CUDA
#include "worker/worker.h"

#include "pool_script.h"
#include <cuda_runtime_api.h>
#include <stdlib.h>

/* As in optimization.h. */
typedef struct pool pool;
typedef struct statistics {
    size_t in_use, peak, reserved, allocations, hits;
} statistics;

typedef struct driver {
    pool *pool;
    cudaStream_t streams[POOL_STREAMS];
    char *slots[POOL_SLOTS];
    cudaError_t (*alloc)(pool *, void **, size_t, cudaStream_t);
    cudaError_t (*free)(pool *, void *, cudaStream_t);
    cudaError_t (*reset)(pool *);
    cudaError_t (*stats)(const pool *, statistics *);
} driver;

static cudaError_t make_stream(cudaStream_t *stream)
{
    return cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking);
}

static cudaError_t depend(cudaStream_t stream, cudaStream_t on)
{
    cudaEvent_t event;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    if (error) return error;
    error = cudaEventRecord(event, on);
    if (!error) error = cudaStreamWaitEvent(stream, event, 0);
    const cudaError_t destroyed = cudaEventDestroy(event);
    return error ? error : destroyed;
}

/* @param differ how many bytes are not of that value */
static cudaError_t compare(int *differ, const char *block, const pool_step *step,
                           cudaStream_t stream)
{
    char *host = malloc(step->bytes);
    if (!host) return cudaErrorMemoryAllocation;
    cudaError_t error = cudaMemcpyAsync(host, block, step->bytes, cudaMemcpyDeviceToHost, stream);
    if (!error) error = cudaStreamSynchronize(stream);
    for (size_t i = 0; !error && i < step->bytes; i++) *differ += host[i] != (char)step->value;
    free(host);
    return error;
}

static cudaError_t carry_out(driver *d, const pool_step *step, int *differ)
{
    cudaStream_t *stream = &d->streams[step->stream];
    char **slot = &d->slots[step->slot];
    switch (step->verb) {
    case POOL_ALLOC: return d->alloc(d->pool, (void **)slot, step->bytes, *stream);
    case POOL_FREE: return d->free(d->pool, *slot ? *slot + step->bytes : NULL, *stream);
    case POOL_RESET: return d->reset(d->pool);
    case POOL_FILL: return cudaMemsetAsync(*slot, step->value, step->bytes, *stream);
    case POOL_EXPECT: return compare(differ, *slot, step, *stream);
    case POOL_DEPENDS: return depend(*stream, d->streams[step->value]);
    case POOL_RECREATE: cudaStreamDestroy(*stream); return make_stream(stream);
    default: return cudaErrorInvalidValue;
    }
}

static pool_outcome outcome_of(driver *d, const pool_step *step)
{
    statistics s = {0};
    pool_outcome o = {0};
    if (step->verb == POOL_ALLOC || step->verb == POOL_FREE) calls_refuse((unsigned)step->value);
    o.error = carry_out(d, step, &o.left_over);
    o.refused = calls_refuse(0);
    if (step->verb != POOL_EXPECT) o.left_over = cudaGetLastError();
    o.address = (unsigned long long)d->slots[step->slot];
    const cudaError_t error = d->stats(d->pool, &s);
    if (!o.error) o.error = error;
    o.in_use = s.in_use, o.peak = s.peak, o.reserved = s.reserved;
    o.allocations = s.allocations, o.hits = s.hits;
    return o;
}

/* @return an error of what is no step of the script */
static cudaError_t pool_drive(pool *p, const pool_step *script, pool_outcome *log, int count)
{
    driver d = {.pool = p};
    d.alloc = (__typeof__(d.alloc))code_function("pool_alloc");
    d.free = (__typeof__(d.free))code_function("pool_free");
    d.reset = (__typeof__(d.reset))code_function("pool_reset");
    d.stats = (__typeof__(d.stats))code_function("pool_stats");
    if (!d.alloc || !d.free || !d.reset || !d.stats) return cudaErrorSymbolNotFound;
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < POOL_STREAMS && !error; i++) error = make_stream(&d.streams[i]);
    for (int i = 0; i < count && !error; i++) log[i] = outcome_of(&d, &script[i]);
    for (int i = 0; i < POOL_STREAMS && d.streams[i]; i++) {
        const cudaError_t destroyed = cudaStreamDestroy(d.streams[i]);
        if (!error) error = destroyed;
    }
    return error;
}

WORKER_FUNCTION(pool_drive);
#endif

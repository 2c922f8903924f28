/* worker.c: several convolutions in flight, each with a filter of its own. */
#ifdef WITH_CUDA
#include "worker/worker.h"

#include <cuda_runtime_api.h>

enum { CALLS = 64, STREAMS = 2 };

typedef cudaError_t convolution(float *, const float *, int, int, const float *, int, cudaStream_t);

/* Of CALLS filters and images, one behind the other; the streams take turns. */
static cudaError_t call_all(convolution *f, float *out, const float *in, int height, int width,
                            const float *filters, int radius, const cudaStream_t *streams)
{
    const size_t pixels = (size_t)height * width, weights = (2 * radius + 1) * (2 * radius + 1);
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < CALLS && !error; i++) {
        error = f(out + i * pixels, in, height, width, filters + i * weights, radius,
                  streams[i % STREAMS]);
    }
    return error;
}

static cudaError_t end(cudaStream_t stream, cudaError_t before)
{
    const cudaError_t over = cudaStreamSynchronize(stream), ended = cudaStreamDestroy(stream);
    return before ? before : over ? over : ended;
}

static cudaError_t in_flight(const char *name, float *out, const float *in, int height, int width,
                             const float *filters, int radius)
{
    convolution *f = (convolution *)code_function(name);
    cudaStream_t streams[STREAMS] = {0};
    cudaError_t error = f ? cudaSuccess : cudaErrorSymbolNotFound;
    for (int i = 0; i < STREAMS && !error; i++)
        error = cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking);
    if (!error) error = call_all(f, out, in, height, width, filters, radius, streams);
    for (int i = 0; i < STREAMS && streams[i]; i++) error = end(streams[i], error);
    return error;
}

static cudaError_t convolve_in_flight(float *out, const float *in, int height, int width,
                                      const float *filters, int radius)
{
    return in_flight("convolve", out, in, height, width, filters, radius);
}

static cudaError_t convolve_tiled_in_flight(float *out, const float *in, int height, int width,
                                            const float *filters, int radius)
{
    return in_flight("convolve_tiled", out, in, height, width, filters, radius);
}

WORKER_FUNCTION(convolve_in_flight);
WORKER_FUNCTION(convolve_tiled_in_flight);
#endif

/* worker.c: two calls of a function of 418 at the same time: the second has the other half of the
 * arrays and another stream. */
#ifdef WITH_CUDA
#include "worker/worker.h"

#include <cuda_runtime_api.h>

enum { MODEL_SIDE = 16 };

typedef cudaError_t dot_function(float *, const float *, const float *, size_t, cudaStream_t);
typedef cudaError_t polynomial_function(float *, const float *, size_t, const float *, int,
                                        cudaStream_t);
typedef cudaError_t models_function(float *, const short *, const short *, int, int, cudaStream_t);

/* `second` waits for what `first` has so far, and goes on beside it. */
static cudaError_t fork_stream(cudaStream_t *second, cudaEvent_t *event, cudaStream_t first)
{
    cudaError_t error = cudaStreamCreateWithFlags(second, cudaStreamNonBlocking);
    if (!error) error = cudaEventCreateWithFlags(event, cudaEventDisableTiming);
    if (!error) error = cudaEventRecord(*event, first);
    return error ? error : cudaStreamWaitEvent(*second, *event, 0);
}

/* `first` waits for `second`, which ends. */
static cudaError_t join_streams(cudaStream_t second, cudaEvent_t event, cudaStream_t first)
{
    cudaError_t error = cudaEventRecord(event, second);
    if (!error) error = cudaStreamWaitEvent(first, event, 0);
    cudaEventDestroy(event);
    cudaStreamDestroy(second);
    return error;
}

#define TWICE(of, type, name, on_first, on_second)                                                 \
    cudaStream_t other;                                                                            \
    cudaEvent_t event;                                                                             \
    type *of = (type *)code_function(name);                                                        \
    if (!of) return cudaErrorSymbolNotFound;                                                       \
    cudaError_t error = fork_stream(&other, &event, stream);                                       \
    if (!error) error = on_first;                                                                  \
    if (!error) error = on_second;                                                                 \
    return error ? error : join_streams(other, event, stream)

static cudaError_t dot_product_twice(float *out, const float *a, const float *b, size_t n,
                                     cudaStream_t stream)
{
    TWICE(dot, dot_function, "dot_product", dot(out, a, b, n, stream),
          dot(out + 1, a + n, b + n, n, other));
}

WORKER_FUNCTION(dot_product_twice);

static cudaError_t polynomial_twice(float *y, const float *x, size_t n, const float *coefficients,
                                    int terms, cudaStream_t stream)
{
    TWICE(of, polynomial_function, "polynomial", of(y, x, n, coefficients, terms, stream),
          of(y + n, x + n, n, coefficients + terms, terms, other));
}

WORKER_FUNCTION(polynomial_twice);

static cudaError_t average_models_twice(float *y, const short *x, const short *w, int n, int models,
                                        cudaStream_t stream)
{
    const size_t rows = (size_t)n * MODEL_SIDE, all = (size_t)models * MODEL_SIDE * MODEL_SIDE;
    TWICE(of, models_function, "average_models", of(y, x, w, n, models, stream),
          of(y + rows, x + rows, w + all, n, models, other));
}

WORKER_FUNCTION(average_models_twice);
#endif

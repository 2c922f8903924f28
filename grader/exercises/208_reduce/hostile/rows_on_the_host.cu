// HOSTILE: row_sum 1x100003 | used memory that host and device share / data went to the host
// Sums rows on the host, in memory that both see; a kernel only fetches them and brings the sums.
#include "208_reduce/reduce.h"

__global__ static void fetch(float *to, const float *from, size_t n)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i];
}

static cudaError_t move(float *to, const float *from, size_t n, cudaStream_t stream)
{
    if (n > 0) fetch<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(to, from, n);
    return cudaStreamSynchronize(stream);
}

cudaError_t row_sum(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    const size_t n = (size_t)rows * cols;
    float *x;
    cudaError_t error = cudaMallocManaged(&x, (n + rows + 1) * sizeof *x);
    if (!error) error = move(x, in, n, stream);
    if (error) return error;
    for (int row = 0; row < rows; row++) {
        double sum = 0.0;
        for (int i = 0; i < cols; i++) sum += x[(size_t)row * cols + i];
        x[n + row] = (float)sum;
    }
    error = move(out, x + n, (size_t)rows, stream);
    cudaFree(x);
    return error;
}

/* Not this one's concern. */
cudaError_t reduce_sum(float *, const float *, size_t, cudaStream_t)
{
    return cudaErrorNotSupported;
}
cudaError_t reduce_max(float *, const float *, size_t, cudaStream_t)
{
    return cudaErrorNotSupported;
}

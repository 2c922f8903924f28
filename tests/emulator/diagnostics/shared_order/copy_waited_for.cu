// nothing
/* An asynchronous copy, waited for and then shared. */
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

__global__ void shift(float *to, const float *from)
{
    __shared__ float tile[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &from[t], sizeof(float));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    to[t] = tile[63 - t];
}

int main()
{
    float *a, *b;
    cudaMalloc(&a, 64 * sizeof *a);
    cudaMalloc(&b, 64 * sizeof *b);
    cudaMemset(a, 0, 64 * sizeof *a);
    shift<<<1, 64>>>(b, a);
    return cudaDeviceSynchronize();
}

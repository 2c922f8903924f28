// nothing
/* An asynchronous copy, waited for and then shared. */
#include <cuda_pipeline.h>
#include <device_arrays.h>

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
    float *a = filled<float>(64, 0), *b = unwritten<float>(64);
    shift<<<1, 64>>>(b, a);
    return cudaDeviceSynchronize();
}

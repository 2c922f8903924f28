// nothing
/* Between two uses of the scratch array stands a barrier. */
#include <device_arrays.h>

__device__ float block_sum(float v, float *scratch)
{
    scratch[threadIdx.x] = v;
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 64; k++) sum += scratch[k];
    __syncthreads();
    return sum;
}

__global__ void moments(float *out, const float *x)
{
    __shared__ float scratch[64];
    float v = x[threadIdx.x];
    float mean = block_sum(v, scratch) / 64;
    float square = block_sum((v - mean) * (v - mean), scratch);
    if (threadIdx.x == 0) *out = square;
}

int main()
{
    float *x = filled<float>(64, 0), *out = unwritten<float>(1);
    moments<<<1, 64>>>(out, x);
    return cudaDeviceSynchronize();
}

// nothing
/* Each block writes its part, a fence, a ticket; who gets the last one adds up. */
#include <cuda_runtime.h>

__device__ unsigned done;

__global__ void sum(float *out, float *partial, const float *x)
{
    __shared__ bool last;
    int b = blockIdx.x, t = threadIdx.x;
    if (t == 0) {
        float mine = 0;
        for (int k = 0; k < 64; k++) mine += x[64 * b + k];
        partial[b] = mine;
        __threadfence();
        last = atomicAdd(&done, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        float all = 0;
        __threadfence();
        for (int k = 0; k < gridDim.x; k++) all += partial[k];
        *out = all;
    }
}

int main()
{
    float *x, *partial, *out;
    cudaMalloc(&x, 1024 * sizeof *x);
    cudaMalloc(&partial, 16 * sizeof *partial);
    cudaMalloc(&out, 1 * sizeof *out);
    cudaMemset(x, 0, 1024 * sizeof *x);
    sum<<<16, 64>>>(out, partial, x);
    return cudaDeviceSynchronize();
}

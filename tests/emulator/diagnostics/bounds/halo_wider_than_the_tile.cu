// out of bounds
/* The tile has room for a halo of one, the loop reads two. */
#include <cuda_runtime.h>

__global__ void blur(float *to, const float *from)
{
    __shared__ float tile[66];
    int t = threadIdx.x;
    for (int i = t; i < 66; i += 64) tile[i] = from[i];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 4; k++) sum += tile[t + k]; // HERE
    to[t] = sum;
}

int main()
{
    float *a, *b;
    cudaMalloc(&a, 66 * sizeof *a);
    cudaMalloc(&b, 64 * sizeof *b);
    cudaMemset(a, 0, 66 * sizeof *a);
    blur<<<1, 64>>>(b, a);
    return cudaDeviceSynchronize();
}

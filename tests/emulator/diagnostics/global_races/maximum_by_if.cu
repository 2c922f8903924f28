// race
/* Between the question and the answer another thread may have written more. */
#include <cuda_runtime.h>

__global__ void maximum(int *most, const int *x)
{
    int v = x[blockIdx.x * blockDim.x + threadIdx.x];
    if (v > *most) *most = v; // HERE
}

int main()
{
    int host[2048], zero = 0;
    for (int i = 0; i < 2048; i++) host[i] = i;
    int *x, *most;
    cudaMalloc(&x, 2048 * sizeof *x);
    cudaMalloc(&most, 1 * sizeof *most);
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemcpy(most, &zero, sizeof zero, cudaMemcpyHostToDevice);
    maximum<<<8, 256>>>(most, x);
    return cudaDeviceSynchronize();
}

// unchecked error
// FLAGS: -O0
// FLAGS: -O2
/* Copies and fills past the end fail, and the program goes on with what was there before. */
#include <cuda_runtime.h>

__constant__ float weights[4];

__global__ void work(float *p)
{
    p[threadIdx.x] += weights[threadIdx.x % 4];
}

int main()
{
    float host[128] = {}, *p;
    if (cudaMalloc(&p, 64 * sizeof *p) != cudaSuccess) return 1;
    cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice); // HERE
    cudaMemset(p, 0, 65 * sizeof *p);                         // HERE
    cudaMemcpyToSymbol(weights, host, 5 * sizeof *host);      // HERE
    if (cudaMemset(p, 0, 64 * sizeof *p) != cudaSuccess) return 1;
    work<<<1, 64>>>(p);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost); // HERE
    return host[0] != 0;
}

// prints: 1 0
#include <stdio.h>
__global__ void turn(float *x)
{
    __shared__ float s[13000];
    for (int i = threadIdx.x; i < 13000; i += blockDim.x) s[i] = x[i];
    __syncthreads();
    for (int i = threadIdx.x; i < 13000; i += blockDim.x) x[i] = s[12999 - i];
}
int main()
{
    float *x, first = -1;
    cudaMalloc(&x, 13000 * sizeof *x);
    cudaMemset(x, 0, 13000 * sizeof *x);
    turn<<<1, 256>>>(x);
    cudaError_t refused = cudaGetLastError();
    cudaMemcpy(&first, x, sizeof first, cudaMemcpyDeviceToHost);
    printf("%d %g\n", refused != cudaSuccess, first);
    cudaFree(x);
    return 0;
}

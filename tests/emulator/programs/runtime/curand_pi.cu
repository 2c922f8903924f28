// prints: about 3
#include <stdio.h>
#include <curand_kernel.h>
__global__ void estimate(unsigned long long *inside, int trials)
{
    curandState state;
    curand_init(1234, blockIdx.x * blockDim.x + threadIdx.x, 0, &state);
    unsigned hits = 0;
    for (int i = 0; i < trials; i++) {
        float x = curand_uniform(&state), y = curand_uniform(&state);
        hits += x * x + y * y <= 1.0f;
    }
    atomicAdd(inside, (unsigned long long)hits);
}
int main()
{
    unsigned long long *d, h;
    cudaMalloc(&d, sizeof h);
    cudaMemset(d, 0, sizeof h);
    estimate<<<2, 64>>>(d, 50);
    cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("about %.0f\n", 4.0 * h / (128 * 50));
    cudaFree(d);
    return 0;
}

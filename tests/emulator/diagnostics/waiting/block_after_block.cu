// nothing
/* Each block waits for the flag of the one before, which works for a while. */
#include <cuda_runtime.h>

__global__ void chain(unsigned *flag, unsigned *sum)
{
    __shared__ unsigned scratch;
    if (threadIdx.x == 0) {
        scratch = 0;
        while (atomicAdd(flag, 0) < blockIdx.x) continue;
        __threadfence();
        for (int i = 0; i < 20000; i++) scratch = scratch * 5 + i;
        *sum += scratch % 2 + 1;
        __threadfence();
        atomicAdd(flag, 1);
    }
}

int main()
{
    unsigned *p, flag = 0;
    cudaMalloc(&p, 2 * sizeof *p);
    cudaMemset(p, 0, 2 * sizeof *p);
    chain<<<32, 64>>>(p, p + 1);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    if (cudaMemcpy(&flag, p, sizeof flag, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
    return flag != 32;
}

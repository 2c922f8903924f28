// nothing
/* Each warp goes round as often as it likes, with its own barrier. */
#include <cuda_runtime.h>

__global__ void sums(int *x)
{
    __shared__ int s[128];
    int t = threadIdx.x, warp = t / 32, lane = t % 32;
    for (int k = 0; k <= warp; k++) {
        s[t] = x[t] + k;
        __syncwarp();
        x[t] = s[warp * 32 + 31 - lane];
        __syncwarp();
    }
}

int main()
{
    int *x;
    cudaMalloc(&x, 128 * sizeof *x);
    cudaMemset(x, 0, 128 * sizeof *x);
    sums<<<1, 128>>>(x);
    return cudaDeviceSynchronize();
}

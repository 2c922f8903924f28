// nothing
/* Each warp goes round as often as it likes, with its own barrier. */
#include <device_arrays.h>

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
    int *x = filled<int>(128, 0);
    sums<<<1, 128>>>(x);
    return cudaDeviceSynchronize();
}

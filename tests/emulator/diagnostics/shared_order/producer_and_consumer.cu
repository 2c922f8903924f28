// nothing
/* One warp fills, another one empties; arrive and wait are different barriers. */
#include <device_arrays.h>

__global__ void pipe(int *out, const int *x)
{
    __shared__ int slot[32];
    int lane = threadIdx.x % 32, sum = 0;
    for (int k = 0; k < 4; k++) {
        if (threadIdx.x < 32) {
            slot[lane] = x[32 * k + lane];
            asm volatile("bar.arrive 1, 64;" ::: "memory");
            asm volatile("bar.sync 2, 64;" ::: "memory");
        } else {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            sum += slot[31 - lane];
            asm volatile("bar.arrive 2, 64;" ::: "memory");
        }
    }
    if (threadIdx.x >= 32) out[lane] = sum;
}

int main()
{
    int *x = filled<int>(128, 0), *out = unwritten<int>(32);
    pipe<<<1, 64>>>(out, x);
    return cudaDeviceSynchronize();
}

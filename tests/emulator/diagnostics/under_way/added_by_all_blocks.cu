// nothing
// FLAGS: -arch=sm_90a
/* Eight blocks add their tiles to the same sums, and none waits for more than that its tile has been read. */
#include "../tensor/hopper.h"

__global__ void add(float *sum)
{
    __shared__ __align__(128) float tile[64];
    tile[threadIdx.x] = 1;
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(sum),
                     "r"(at(tile)), "r"((int)sizeof tile)
                     : "memory");
        bulk_commit();
        bulk_wait_read();
    }
}

int main()
{
    float *sum = (float *)zeros(64 * sizeof(float)), got;
    add<<<8, 64>>>(sum);
    cudaMemcpy(&got, sum, sizeof got, cudaMemcpyDeviceToHost);
    return got != 8;
}

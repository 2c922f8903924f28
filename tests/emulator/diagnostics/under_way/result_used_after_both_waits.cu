// nothing
// FLAGS: -arch=sm_90a
/* The result of a bulk store is read when its group is over. */
#include "../tensor/hopper.h"

__global__ void turn(float *out, const float *in)
{
    __shared__ __align__(128) float tile[64];
    tile[threadIdx.x] = in[threadIdx.x];
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        bulk_store(out, tile, sizeof tile);
        bulk_commit();
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
    __syncthreads();
    out[64 + threadIdx.x] = out[63 - threadIdx.x];
}

int main()
{
    float *out;
    cudaMalloc(&out, 128 * sizeof *out);
    turn<<<1, 64>>>(out, (const float *)zeros(64 * sizeof(float)));
    return cudaDeviceSynchronize();
}

// race: no fence.proxy.async
// FLAGS: -arch=sm_90a
/* Threads write, wgmma reads by another way, and only a barrier is between. */
#include "hopper.h"

/* No swizzle: 8 rows of 16 bytes lie one behind the other, then the next 16 bytes of k. */
__global__ void product(float *c, const bf16 *x, const bf16 *y)
{
    __shared__ __align__(128) bf16 a[M * 16];
    __shared__ __align__(128) bf16 b[N * 16];
    const int t = threadIdx.x;
    float d[4] = {};
    for (int i = t; i < M * 16; i += blockDim.x) a[i / 8 % 8 * 8 + i / 64 * 64 + i % 8] = x[i];
    b[t] = y[t];
    __syncthreads();
    const uint64_t a_at = descriptor(a, 256, 0) + (7ull << 16), b_at = descriptor(b, 256, 0) + (7ull << 16);
    wgmma_fence();
    wgmma(d, a_at, b_at); // HERE
    wgmma_commit();
    wgmma_wait<0>();
    store_sums(c, d);
}

int main()
{
    product<<<1, 128>>>((float *)zeros(M * N * 4), (bf16 *)zeros(M * 16 * 2), (bf16 *)zeros(N * 16 * 2));
    return cudaDeviceSynchronize();
}

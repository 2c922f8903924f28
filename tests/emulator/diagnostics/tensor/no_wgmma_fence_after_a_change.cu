// race: a wgmma with no wgmma.fence
// FLAGS: -arch=sm_90a
/* The registers of A change, and no fence follows. */
#include "hopper.h"

__global__ void product(float *c, const bf16 *y, uint32_t bits)
{
    __shared__ __align__(128) bf16 b[2][N * 16];
    const int t = threadIdx.x;
    uint32_t a[4] = {bits, bits + t, bits, bits * 3};
    float d[4] = {};
    b[0][t] = y[t];
    b[1][t] = y[t + 128];
    fence_async();
    __syncthreads();
    wgmma_fence();
    wgmma_held(d, a, descriptor(b[0], 256, 0) + (7ull << 16));
    wgmma_commit();
    wgmma_wait<0>();
    for (int i = 0; i < 4; i++) a[i] = a[i] * 5 + t;
    wgmma_held(d, a, descriptor(b[1], 256, 0) + (7ull << 16)); // HERE
    wgmma_commit();
    wgmma_wait<0>();
    store_sums(c, d);
}

int main()
{
    product<<<1, 128>>>((float *)zeros(M * N * 4), (bf16 *)zeros(2 * N * 16 * 2), 0x3f803f80);
    return cudaDeviceSynchronize();
}

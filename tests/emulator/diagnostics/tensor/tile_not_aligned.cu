// misaligned access: not a multiple of 128
// FLAGS: -arch=sm_90a
/* The tile begins between two rows of the swizzle. */
#include "hopper.h"

__global__ void product(float *c, const __grid_constant__ CUtensorMap a_map,
                        const __grid_constant__ CUtensorMap b_map)
{
    __shared__ __align__(1024) bf16 a[M * K + 8];
    __shared__ __align__(1024) bf16 b[N * K];
    __shared__ uint64_t full;
    float d[4] = {};
    if (threadIdx.x == 0) {
        barrier_init(&full, 1);
        barrier_fence();
        barrier_expect(&full, sizeof a + sizeof b);
        tma_load(a + 8, &a_map, &full, 0, 0); // HERE
        tma_load(b, &b_map, &full, 0, 0);
    }
    __syncthreads();
    barrier_wait(&full, 0);
    wgmma_fence();
    for (int k = 0; k < K; k += 16)
        wgmma(d, descriptor(a + k, 1024, 1), descriptor(b + k, 1024, 1));
    wgmma_commit();
    wgmma_wait<0>();
    store_sums(c, d);
}

int main()
{
    const CUtensorMap a = describe(zeros(M * K * 2), M, K, M), b = describe(zeros(N * K * 2), N, K, N);
    product<<<1, 128>>>((float *)zeros(M * N * 4), a, b);
    return cudaDeviceSynchronize();
}

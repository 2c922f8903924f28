// race: no thread has waited
// FLAGS: -arch=sm_90a
/* The product does not wait for the mbarrier. */
#include "hopper.h"

__global__ void product(float *c, const __grid_constant__ CUtensorMap a_map,
                        const __grid_constant__ CUtensorMap b_map)
{
    __shared__ __align__(1024) bf16 a[M * K];
    __shared__ __align__(1024) bf16 b[N * K];
    __shared__ uint64_t full;
    float d[4] = {};
    if (threadIdx.x == 0) {
        barrier_init(&full, 1);
        barrier_fence();
        barrier_expect(&full, sizeof a + sizeof b);
        tma_load(a, &a_map, &full, 0, 0);
        tma_load(b, &b_map, &full, 0, 0);
    }
    __syncthreads();
    wgmma_fence();
    for (int k = 0; k < K; k += 16)
        wgmma(d, descriptor(a + k, 1024, 1), descriptor(b + k, 1024, 1)); // HERE
    wgmma_commit();
    wgmma_wait<0>();
    barrier_wait(&full, 0);
    store_sums(c, d);
}

int main()
{
    const CUtensorMap a = describe(zeros(M * K * 2), M, K, M), b = describe(zeros(N * K * 2), N, K, N);
    product<<<1, 128>>>((float *)zeros(M * N * 4), a, b);
    return cudaDeviceSynchronize();
}

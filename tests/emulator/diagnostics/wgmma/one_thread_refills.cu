// nothing
// FLAGS: -arch=sm_90a
/* A wgmma is one operation of four warps: a thread that has waited for it may overwrite all that it read. */
#include "../tensor/hopper.h"

enum { ROUNDS = 4 };

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
    }
    __syncthreads();
    for (int i = 0; i < ROUNDS; i++) {
        if (threadIdx.x == 0) {
            barrier_expect(&full, sizeof a + sizeof b);
            tma_load(a, &a_map, &full, i * K, 0);
            tma_load(b, &b_map, &full, i * K, 0);
        }
        barrier_wait(&full, i % 2);
        wgmma_fence();
        for (int k = 0; k < K; k += 16)
            wgmma(d, descriptor(a + k, 1024, 1), descriptor(b + k, 1024, 1));
        wgmma_commit();
        wgmma_wait<0>();
    }
    store_sums(c, d);
}

int main()
{
    const CUtensorMap a = describe(zeros(M * K * 2 * ROUNDS), M, K * ROUNDS, M);
    const CUtensorMap b = describe(zeros(N * K * 2 * ROUNDS), N, K * ROUNDS, N);
    product<<<1, 128>>>((float *)zeros(M * N * 4), a, b);
    return cudaDeviceSynchronize();
}

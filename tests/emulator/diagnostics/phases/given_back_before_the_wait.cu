// race: the threads that told it to go on had not waited
// FLAGS: -arch=sm_90a
/* The stage is given back, and then its product is waited for. */
#include "../tensor/hopper.h"

enum { STAGES = 2, ROUNDS = 6 };

__global__ void product(float *c, const __grid_constant__ CUtensorMap a_map,
                        const __grid_constant__ CUtensorMap b_map)
{
    __shared__ __align__(1024) bf16 a[STAGES][M * K];
    __shared__ __align__(1024) bf16 b[STAGES][N * K];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            barrier_init(&full[s], 1);
            barrier_init(&empty[s], 128);
        }
        barrier_fence();
    }
    __syncthreads();
    if (threadIdx.x == 128) {
        for (int i = 0; i < ROUNDS; i++) {
            const int s = i % STAGES, parity = i / STAGES % 2;
            barrier_wait(&empty[s], parity ^ 1);
            barrier_expect(&full[s], sizeof a[s] + sizeof b[s]);
            tma_load(a[s], &a_map, &full[s], i * K, 0); // HERE
            tma_load(b[s], &b_map, &full[s], i * K, 0);
        }
    } else if (threadIdx.x < 128) {
        float d[4] = {};
        for (int i = 0; i < ROUNDS; i++) {
            const int s = i % STAGES, parity = i / STAGES % 2;
            barrier_wait(&full[s], parity);
            wgmma_fence();
            for (int k = 0; k < K; k += 16)
                wgmma(d, descriptor(a[s] + k, 1024, 1), descriptor(b[s] + k, 1024, 1));
            wgmma_commit();
            barrier_arrive(&empty[s]);
            wgmma_wait<0>();
        }
        store_sums(c, d);
    }
}

int main()
{
    const CUtensorMap a = describe(zeros(M * K * 2 * ROUNDS), M, K * ROUNDS, M);
    const CUtensorMap b = describe(zeros(N * K * 2 * ROUNDS), N, K * ROUNDS, N);
    product<<<1, 160>>>((float *)zeros(M * N * 4), a, b);
    return cudaDeviceSynchronize();
}

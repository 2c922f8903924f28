// race: the threads that told it to go on had not waited
// FLAGS: -arch=sm_90a
/* Two warp groups multiply what lies in a stage, and one of them gives it back. */
#include "../tensor/hopper.h"

enum { STAGES = 2, ROUNDS = 6 };

__global__ void product(float *c, const __grid_constant__ CUtensorMap a_map,
                        const __grid_constant__ CUtensorMap b_map)
{
    __shared__ __align__(1024) bf16 a[STAGES][2 * M * K];
    __shared__ __align__(1024) bf16 b[STAGES][N * K];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            barrier_init(&full[s], 1);
            barrier_init(&empty[s], 1);
        }
        barrier_fence();
    }
    __syncthreads();
    const int group = threadIdx.x / 128;
    if (threadIdx.x == 256) {
        for (int i = 0; i < ROUNDS; i++) {
            const int s = i % STAGES, parity = i / STAGES % 2;
            barrier_wait(&empty[s], parity ^ 1);
            barrier_expect(&full[s], sizeof a[s] + sizeof b[s]);
            tma_load(a[s], &a_map, &full[s], i * K, 0); // HERE
            tma_load(b[s], &b_map, &full[s], i * K, 0);
        }
    } else if (group < 2) {
        float d[4] = {};
        for (int i = 0; i < ROUNDS; i++) {
            const int s = i % STAGES, parity = i / STAGES % 2;
            barrier_wait(&full[s], parity);
            wgmma_fence();
            for (int k = 0; k < K; k += 16)
                wgmma(d, descriptor(a[s] + group * M * K + k, 1024, 1), descriptor(b[s] + k, 1024, 1));
            wgmma_commit();
            wgmma_wait<0>();
            if (threadIdx.x == 0) barrier_arrive(&empty[s]);
        }
        c += group * M * N;
        const int lane = threadIdx.x % 32, row = threadIdx.x % 128 / 32 * 16 + lane / 4;
        c[row * N + lane % 4 * 2] = d[0];
        c[row * N + lane % 4 * 2 + 1] = d[1];
        c[(row + 8) * N + lane % 4 * 2] = d[2];
        c[(row + 8) * N + lane % 4 * 2 + 1] = d[3];
    }
}

int main()
{
    const CUtensorMap a = describe(zeros(4 * M * K * ROUNDS), 2 * M, K * ROUNDS, 2 * M);
    const CUtensorMap b = describe(zeros(N * K * 2 * ROUNDS), N, K * ROUNDS, N);
    product<<<1, 288>>>((float *)zeros(2 * M * N * 4), a, b);
    return cudaDeviceSynchronize();
}

// race: writes a register of the sums
// FLAGS: -arch=sm_90a
/* A sum gets another value between commit and wait. */
#include "../tensor/hopper.h"

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
    barrier_wait(&full, 0);
    wgmma_fence();
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, 1, "
                 "1, 1, 0, 0;\n"
                 "wgmma.commit_group.sync.aligned;\n"
                 "mov.f32 %1, 0f00000000;\n"
                 "wgmma.wait_group.sync.aligned 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "l"(descriptor(a, 1024, 1)), "l"(descriptor(b, 1024, 1)) // HERE
                 : "memory");
    store_sums(c, d);
}

int main()
{
    const CUtensorMap a = describe(zeros(M * K * 2), M, K, M), b = describe(zeros(N * K * 2), N, K, N);
    product<<<1, 128>>>((float *)zeros(M * N * 4), a, b);
    return cudaDeviceSynchronize();
}

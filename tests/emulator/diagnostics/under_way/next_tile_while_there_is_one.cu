// nothing
// FLAGS: -arch=sm_90a
/* A loop that fetches the next tile fetches none behind the last. */
#include "../tensor/hopper.h"

enum { ROUNDS = 4 };

__global__ void sum(float *out, const float *in)
{
    __shared__ __align__(128) float tile[2][64];
    __shared__ uint64_t full[2];
    float x = 0;
    if (threadIdx.x == 0) {
        for (int s = 0; s < 2; s++) barrier_init(&full[s], 1);
        barrier_fence();
        barrier_expect(&full[0], sizeof tile[0]);
        bulk_load(tile[0], in, sizeof tile[0], &full[0]);
    }
    __syncthreads();
    for (int i = 0; i < ROUNDS; i++) {
        const int next = (i + 1) % 2;
        if (threadIdx.x == 0 && i + 1 < ROUNDS) {
            barrier_expect(&full[next], sizeof tile[0]);
            bulk_load(tile[next], in + 64 * (i + 1), sizeof tile[0], &full[next]);
        }
        barrier_wait(&full[i % 2], i / 2 % 2);
        x += tile[i % 2][threadIdx.x];
        fence_async();
        __syncthreads();
    }
    out[threadIdx.x] = x;
}

int main()
{
    sum<<<1, 64>>>((float *)zeros(64 * 4), (float *)zeros(ROUNDS * 64 * 4));
    return cudaDeviceSynchronize();
}

// uninitialised read: that an asynchronous copy brought
// FLAGS: -arch=sm_90a
/* A bulk copy brings the padding of a row, and all of it is added. */
#include "../tensor/hopper.h"

enum { USED = 6, ROW = 8 }; /* elements of 2 bytes that something writes, and that a copy takes */

__global__ void prepare(bf16 *x)
{
    if (threadIdx.x < USED) x[threadIdx.x] = __float2bfloat16(threadIdx.x);
}

__global__ void carry(bf16 *y, const bf16 *x, float *sum, int columns)
{
    __shared__ __align__(16) bf16 row[ROW];
    __shared__ uint64_t full;
    if (threadIdx.x > 0) return;
    barrier_init(&full, 1);
    barrier_fence();
    barrier_expect(&full, sizeof row);
    bulk_load(row, x, sizeof row, &full);
    barrier_wait(&full, 0);
    float all = 0.0f;
    for (int i = 0; i < columns; i++) all += __bfloat162float(row[i]); // HERE
    *sum = all;
    fence_async();
    bulk_store(y, row, sizeof row);
    bulk_commit();
    bulk_wait_read();
}

__global__ void add(float *sum, const bf16 *y, int columns)
{
    float all = 0.0f;
    for (int i = 0; i < columns; i++) all += __bfloat162float(y[i]);
    *sum = all;
}

int main()
{
    bf16 *x, *y;
    float *sum = (float *)zeros(4);
    cudaMalloc(&x, ROW * 2);
    cudaMalloc(&y, ROW * 2);
    prepare<<<1, 32>>>(x);
    carry<<<1, 32>>>(y, x, sum, ROW);
    add<<<1, 1>>>(sum, y, USED);
    return cudaDeviceSynchronize();
}

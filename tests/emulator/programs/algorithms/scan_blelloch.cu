// prints: 0 1 2 127
#include <stdio.h>
__global__ void prescan(int *data, int n)
{
    extern __shared__ int temp[];
    int thid = threadIdx.x, offset = 1;
    temp[2 * thid] = data[2 * thid];
    temp[2 * thid + 1] = data[2 * thid + 1];
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (thid < d) {
            int ai = offset * (2 * thid + 1) - 1, bi = offset * (2 * thid + 2) - 1;
            temp[bi] += temp[ai];
        }
        offset *= 2;
    }
    if (thid == 0) temp[n - 1] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (thid < d) {
            int ai = offset * (2 * thid + 1) - 1, bi = offset * (2 * thid + 2) - 1, t = temp[ai];
            temp[ai] = temp[bi];
            temp[bi] += t;
        }
    }
    __syncthreads();
    data[2 * thid] = temp[2 * thid];
    data[2 * thid + 1] = temp[2 * thid + 1];
}
int main()
{
    int h[128], *d;
    for (int &x : h) x = 1;
    cudaMalloc(&d, sizeof h);
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    prescan<<<1, 64, sizeof h>>>(d, 128);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d %d %d %d\n", h[0], h[1], h[2], h[127]);
    cudaFree(d);
    return 0;
}

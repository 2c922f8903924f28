// prints: 0 1 3 6 10 2016
#include <stdio.h>
__global__ void scan(const int *in, int *out, int n)
{
    extern __shared__ int temp[];
    int thid = threadIdx.x, pout = 0, pin = 1;
    temp[thid] = thid > 0 ? in[thid - 1] : 0;
    __syncthreads();
    for (int offset = 1; offset < n; offset *= 2) {
        pout = 1 - pout;
        pin = 1 - pout;
        temp[pout * n + thid] = temp[pin * n + thid];
        if (thid >= offset) temp[pout * n + thid] += temp[pin * n + thid - offset];
        __syncthreads();
    }
    out[thid] = temp[pout * n + thid];
}
int main()
{
    int h[65], *in, *out;
    for (int i = 0; i < 64; i++) h[i] = i + 1;
    cudaMalloc((void **)&in, 64 * sizeof(int));
    cudaMalloc((void **)&out, 64 * sizeof(int));
    cudaMemcpy(in, h, 64 * sizeof(int), cudaMemcpyHostToDevice);
    scan<<<1, 64, 2 * 64 * sizeof(int)>>>(in, out, 64);
    cudaMemcpy(h, out, 64 * sizeof(int), cudaMemcpyDeviceToHost);
    printf("%d %d %d %d %d %d\n", h[0], h[1], h[2], h[3], h[4], h[63]);
    cudaFree(in);
    cudaFree(out);
    return 0;
}

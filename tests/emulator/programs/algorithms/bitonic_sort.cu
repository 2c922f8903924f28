// prints: 0 1 511 sorted
#include <stdio.h>
__global__ void bitonic(int *values)
{
    extern __shared__ int shared[];
    const unsigned tid = threadIdx.x;
    shared[tid] = values[tid];
    __syncthreads();
    for (unsigned k = 2; k <= blockDim.x; k *= 2) {
        for (unsigned j = k / 2; j > 0; j /= 2) {
            unsigned ixj = tid ^ j;
            if (ixj > tid) {
                if ((tid & k) == 0 ? shared[tid] > shared[ixj] : shared[tid] < shared[ixj]) {
                    int t = shared[tid];
                    shared[tid] = shared[ixj];
                    shared[ixj] = t;
                }
            }
            __syncthreads();
        }
    }
    values[tid] = shared[tid];
}
int main()
{
    int h[512], *d;
    bool sorted = true;
    for (int i = 0; i < 512; i++) h[i] = i * 167 % 512;
    cudaMalloc(&d, sizeof h);
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    bitonic<<<1, 512, sizeof h>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    for (int i = 1; i < 512; i++) sorted = sorted && h[i - 1] <= h[i];
    printf("%d %d %d %s\n", h[0], h[1], h[511], sorted ? "sorted" : "unsorted");
    cudaFree(d);
    return 0;
}

// prints: 50 0 98
#include <stdio.h>
__global__ void compact(const int *in, int *out, int *n_out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, base = 0;
    bool keep = i < n && in[i] % 2 == 0;
    unsigned mask = __ballot_sync(0xffffffff, keep);
    if (lane == 0 && mask) base = atomicAdd(n_out, __popc(mask));
    base = __shfl_sync(0xffffffff, base, 0);
    if (keep) out[base + __popc(mask & ((1u << lane) - 1))] = in[i];
}
int main()
{
    int h[100], *in, *out, *count, n, least = 1000, most = -1;
    for (int i = 0; i < 100; i++) h[i] = i;
    cudaMalloc(&in, sizeof h);
    cudaMalloc(&out, sizeof h);
    cudaMalloc(&count, sizeof n);
    cudaMemset(count, 0, sizeof n);
    cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
    compact<<<1, 128>>>(in, out, count, 100);
    cudaMemcpy(&n, count, sizeof n, cudaMemcpyDeviceToHost);
    cudaMemcpy(h, out, n * sizeof(int), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) {
        least = h[i] < least ? h[i] : least;
        most = h[i] > most ? h[i] : most;
    }
    printf("%d %d %d\n", n, least, most);
    cudaFree(in);
    cudaFree(out);
    cudaFree(count);
    return 0;
}

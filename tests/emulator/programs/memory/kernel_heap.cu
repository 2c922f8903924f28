// prints: null 8388608, then not
#include <stdio.h>
__global__ void ask(int *got, size_t bytes)
{
    char *p = (char *)malloc(bytes);
    *got = p != NULL;
    if (p) p[threadIdx.x] = 1, *got += p[threadIdx.x] - 1;
    free(p);
}
int main()
{
    int *d, small, large;
    size_t heap;
    cudaMalloc(&d, sizeof(int));
    cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize);
    ask<<<1, 1>>>(d, 16 << 20);
    cudaMemcpy(&small, d, sizeof small, cudaMemcpyDeviceToHost);
    cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20);
    ask<<<1, 1>>>(d, 16 << 20);
    cudaMemcpy(&large, d, sizeof large, cudaMemcpyDeviceToHost);
    printf("%s %zu, then %s\n", small ? "not" : "null", heap, large ? "not" : "null");
    cudaFree(d);
    return 0;
}

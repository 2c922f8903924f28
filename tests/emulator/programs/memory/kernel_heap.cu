// prints: null 8388608, then not; before and after: same
#include <stdio.h>
__global__ void ask(int *got, size_t bytes)
{
    char *p = (char *)malloc(bytes);
    *got = p != NULL;
    if (p) p[threadIdx.x] = 1, *got += p[threadIdx.x] - 1;
    free(p);
}
__device__ void *kept;
__global__ void keep(size_t bytes)
{
    kept = malloc(bytes);
}
int main()
{
    int *d, small, large;
    size_t heap, before, after, all;
    cudaMalloc(&d, sizeof(int));
    cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize);
    ask<<<1, 1>>>(d, 16 << 20);
    cudaMemcpy(&small, d, sizeof small, cudaMemcpyDeviceToHost);
    cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20);
    ask<<<1, 1>>>(d, 16 << 20);
    cudaMemcpy(&large, d, sizeof large, cudaMemcpyDeviceToHost);
    cudaMemGetInfo(&before, &all); /* the heap is apart */
    keep<<<1, 1>>>(1000);
    cudaMemGetInfo(&after, &all);
    printf("%s %zu, then %s; before and after: %s\n", small ? "not" : "null", heap,
           large ? "not" : "null", before == after ? "same" : "other");
    cudaFree(d);
    return 0;
}

// prints: 0
// finds: unchecked error
#include <stdio.h>
__global__ void set(int *p)
{
    *p = 7;
}
template <class K, class... A> void timed(K kernel, A... a)
{
    kernel(a...);
}
int main()
{
    int *d, h = 1;
    cudaMalloc(&d, sizeof h);
    cudaMemset(d, 0, sizeof h);
    timed(set, d);
    cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d\n", h);
    cudaFree(d);
    return 0;
}

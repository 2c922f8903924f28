// prints: cudaErrorInvalidValue
// finds: double free
#include <stdio.h>

int main()
{
    float *p;
    cudaMalloc(&p, 400);
    cudaFree(p);
    puts(cudaGetErrorName(cudaFree(p)));
    return 0;
}

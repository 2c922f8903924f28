// prints: 2016
#include <stdio.h>
__device__ double atomic_add(double *address, double val)
{
    unsigned long long int *address_as_ull = (unsigned long long int *)address;
    unsigned long long int old = *address_as_ull, assumed;
    do {
        assumed = old;
        old = atomicCAS(address_as_ull, assumed,
                        __double_as_longlong(val + __longlong_as_double(assumed)));
    } while (assumed != old);
    return __longlong_as_double(old);
}
__global__ void sum(double *s, const double *x)
{
    atomic_add(s, x[blockIdx.x * blockDim.x + threadIdx.x]);
}
int main()
{
    double h[64], *x, *s, r;
    for (int i = 0; i < 64; i++) h[i] = i;
    cudaMalloc(&x, sizeof h);
    cudaMalloc(&s, sizeof r);
    cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
    cudaMemset(s, 0, sizeof r);
    sum<<<2, 32>>>(s, x);
    cudaMemcpy(&r, s, sizeof r, cudaMemcpyDeviceToHost);
    printf("%g\n", r);
    cudaFree(x);
    cudaFree(s);
    return 0;
}

// prints: 44 2
#include <stdio.h>
struct Params {
    int table[40];
    int n;
};
__device__ __noinline__ int look_up(Params p, int i)
{
    return p.table[i % p.n];
}
struct Point {
    int x[3];
};
__device__ __noinline__ int turn(Point p, int i)
{
    return p.x[i] * 10 + p.x[(i + 1) % 3];
}
__global__ void kernel(int *out, Params p, Point q)
{
    out[threadIdx.x] = look_up(p, threadIdx.x * 3) + turn(q, threadIdx.x % 3);
}
int main()
{
    Params p;
    Point q = {{0, 1, 2}};
    int *d, h[32];
    for (int i = 0; i < 40; i++) p.table[i] = i;
    p.n = 40;
    cudaMalloc(&d, sizeof h);
    kernel<<<1, 32>>>(d, p, q);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d %d\n", h[8], h[15] - 4);
    cudaFree(d);
    return 0;
}

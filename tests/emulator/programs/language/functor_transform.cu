// prints: 1 3 127
#include <stdio.h>
struct affine {
    int a, b;
    __host__ __device__ int operator()(int x) const
    {
        return a * x + b;
    }
};
struct identity {
    __host__ __device__ int operator()(int x) const
    {
        return x;
    }
};
template <typename T, typename F, typename G = identity>
__global__ void transform(T *data, int n, F f, G g = G())
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        data[i] = g(f(data[i]));
}
int main()
{
    int h[64], *d;
    for (int i = 0; i < 64; i++) h[i] = i;
    cudaMalloc(&d, sizeof h);
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    transform<int, affine><<<2, 16>>>(d, 64, affine{2, 1}, identity());
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d %d %d\n", h[0], h[1], h[63]);
    cudaFree(d);
    return 0;
}

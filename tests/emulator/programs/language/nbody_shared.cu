// prints: 0 yes
#include <stdio.h>
__global__ void forces(float4 *a, const float4 *p, int n)
{
    extern __shared__ float4 tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = p[i], acc = make_float4(0, 0, 0, 0);
    for (int base = 0; base < n; base += blockDim.x) {
        tile[threadIdx.x] = p[base + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < blockDim.x; j++) {
            float dx = tile[j].x - me.x, dy = tile[j].y - me.y, d2 = dx * dx + dy * dy + 0.01f,
                  inv = rsqrtf(d2 * d2 * d2);
            acc.x += dx * tile[j].w * inv;
            acc.y += dy * tile[j].w * inv;
        }
        __syncthreads();
    }
    a[i] = acc;
}
int main()
{
    float4 h[128], *p, *a;
    for (int i = 0; i < 128; i++) h[i] = make_float4(i % 2 ? 1 : -1, 0, 0, 1);
    cudaMalloc(&p, sizeof h);
    cudaMalloc(&a, sizeof h);
    cudaMemcpy(p, h, sizeof h, cudaMemcpyHostToDevice);
    forces<<<2, 64, 64 * sizeof(float4)>>>(a, p, 128);
    cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost);
    printf("%g %s\n", h[0].y, h[0].x > 0 && h[1].x < 0 ? "yes" : "no");
    cudaFree(p);
    cudaFree(a);
    return 0;
}

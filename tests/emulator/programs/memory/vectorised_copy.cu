// prints: 1 255
#include <stdio.h>
__global__ void copy4(int *out, const int *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = i; k < n / 4; k += blockDim.x * gridDim.x)
        reinterpret_cast<int4 *>(out)[k] = reinterpret_cast<const int4 *>(in)[k];
    if (i == n / 4 && n % 4)
        for (int k = n / 4 * 4; k < n; k++) out[k] = in[k];
}
int main()
{
    int h[256], *in, *out;
    for (int i = 0; i < 256; i++) h[i] = i;
    cudaMalloc(&in, sizeof h);
    cudaMalloc(&out, sizeof h);
    cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
    copy4<<<1, 96>>>(out, in, 256);
    cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d %d\n", h[1], h[255]);
    cudaFree(in);
    cudaFree(out);
    return 0;
}

// prints: 3 0
#include <stdio.h>
#include <string.h>
__global__ void copy(int *out, cudaTextureObject_t tex)
{
    out[threadIdx.x] = tex1Dfetch<int>(tex, 31 - threadIdx.x);
}
int main()
{
    int h[32], *in, *out;
    for (int i = 0; i < 32; i++) h[i] = i;
    cudaMalloc(&in, sizeof h);
    cudaMalloc(&out, sizeof h);
    cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
    cudaResourceDesc res;
    memset(&res, 0, sizeof res);
    res.resType = cudaResourceTypeLinear;
    res.res.linear.devPtr = in;
    res.res.linear.desc = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindSigned);
    res.res.linear.sizeInBytes = sizeof h;
    cudaTextureDesc desc;
    memset(&desc, 0, sizeof desc);
    desc.readMode = cudaReadModeElementType;
    cudaTextureObject_t tex;
    cudaCreateTextureObject(&tex, &res, &desc, NULL);
    copy<<<1, 32>>>(out, tex);
    cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d %d\n", h[28], h[31]);
    cudaDestroyTextureObject(tex);
    cudaFree(in);
    cudaFree(out);
    return 0;
}

// prints: 1.5 7
#include <stdio.h>
__global__ void sample(float *out, cudaTextureObject_t tex)
{
    out[threadIdx.x] = tex2D<float>(tex, threadIdx.x + 1.0f, 0.5f);
}
int main()
{
    float h[8] = {1, 2, 3, 4, 5, 6, 7, 7}, r[8], *out;
    cudaArray_t array;
    cudaChannelFormatDesc channel = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &channel, 8, 1);
    cudaMemcpy2DToArray(array, 0, 0, h, sizeof h, sizeof h, 1, cudaMemcpyHostToDevice);
    cudaResourceDesc res = {};
    res.resType = cudaResourceTypeArray;
    res.res.array.array = array;
    cudaTextureDesc desc = {};
    desc.addressMode[0] = desc.addressMode[1] = cudaAddressModeClamp;
    desc.filterMode = cudaFilterModeLinear;
    desc.readMode = cudaReadModeElementType;
    cudaTextureObject_t tex = 0;
    cudaCreateTextureObject(&tex, &res, &desc, NULL);
    cudaMalloc(&out, sizeof r);
    sample<<<1, 8>>>(out, tex);
    cudaMemcpy(r, out, sizeof r, cudaMemcpyDeviceToHost);
    printf("%g %g\n", r[0], r[7]);
    cudaDestroyTextureObject(tex);
    cudaFreeArray(array);
    cudaFree(out);
    return 0;
}

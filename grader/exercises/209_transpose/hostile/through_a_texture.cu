// HOSTILE: DRAM bytes / minimum | counted 4.
// Reads columns, without a tile in shared memory, through a texture that it never gives back.
#include "209_transpose/transpose.h"

__global__ static void columns(float *out, const float *in, cudaTextureObject_t texels, int rows,
                               int cols)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)rows * cols) return;
    size_t from = i % rows * cols + i / rows;
    out[i] = texels ? tex1Dfetch<float>(texels, (int)from) : in[from];
}

cudaError_t transpose(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    size_t n = (size_t)rows * cols;
    cudaTextureObject_t texels = 0;
    cudaTextureDesc plain = {};
    cudaResourceDesc memory = {};
    if (n == 0) return cudaSuccess;
    memory.resType = cudaResourceTypeLinear;
    memory.res.linear.devPtr = (void *)in;
    memory.res.linear.desc = cudaCreateChannelDesc<float>();
    memory.res.linear.sizeInBytes = n * sizeof(float);
    if ((size_t)in % 512 || n >> 27 || cudaCreateTextureObject(&texels, &memory, &plain, NULL))
        texels = 0;
    columns<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(out, in, texels, rows, cols);
    return cudaGetLastError();
}

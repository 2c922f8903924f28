// RIGHT: a fixed grid that strides, float4 where all three pointers allow it
#include "203_vector_add/vector_add.h"
#include <stdint.h>

__global__ static void add_kernel(float *c, const float *a, const float *b, size_t n, int wide)
{
    size_t first = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t stride = (size_t)gridDim.x * blockDim.x;
    size_t quads = wide ? n / 4 : 0;

    for (size_t i = first; i < quads; i += stride) {
        float4 u = ((const float4 *)a)[i], v = ((const float4 *)b)[i];
        ((float4 *)c)[i] = make_float4(u.x + v.x, u.y + v.y, u.z + v.z, u.w + v.w);
    }
    for (size_t i = 4 * quads + first; i < n; i += stride) c[i] = a[i] + b[i];
}

cudaError_t vector_add(float *c, const float *a, const float *b, size_t n, cudaStream_t stream)
{
    int wide = (((uintptr_t)a | (uintptr_t)b | (uintptr_t)c) & 15) == 0;
    add_kernel<<<264, 512, 0, stream>>>(c, a, b, n, wide);
    return cudaGetLastError();
}

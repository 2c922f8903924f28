// RIGHT: a kernel per operation, chosen by pointer; four elements a turn where the pointers allow it
#include "204_elementwise/elementwise.h"
#include <stdint.h>

typedef void kernel(float *, const float *, const float *, size_t, bool);

__device__ static float of_add(float u, float v) { return u + v; }
__device__ static float of_mul(float u, float v) { return u * v; }
__device__ static float of_relu(float u, float) { return u > 0.0f || isnan(u) ? u : 0.0f; }
__device__ static float of_sigmoid(float u, float)
{
    const float e = expf(-fabsf(u)); // at most 1, whatever u is
    return (u < 0.0f ? e : 1.0f) / (1.0f + e);
}

#define KERNEL(name, binary)                                                                       \
    __global__ static void name(float *y, const float *a, const float *b, size_t n, bool wide)     \
    {                                                                                              \
        const size_t me = (size_t)blockIdx.x * blockDim.x + threadIdx.x;                           \
        const size_t all = (size_t)gridDim.x * blockDim.x, quads = wide ? n / 4 : 0;               \
        for (size_t q = me; q < quads; q += all) {                                                 \
            const float4 u = ((const float4 *)a)[q], v = binary ? ((const float4 *)b)[q] : u;      \
            ((float4 *)y)[q] = make_float4(of_##name(u.x, v.x), of_##name(u.y, v.y),               \
                                           of_##name(u.z, v.z), of_##name(u.w, v.w));              \
        }                                                                                          \
        for (size_t i = 4 * quads + me; i < n; i += all)                                           \
            y[i] = of_##name(a[i], binary ? b[i] : 0.0f);                                          \
    }

KERNEL(add, true)
KERNEL(mul, true)
KERNEL(relu, false)
KERNEL(sigmoid, false)

cudaError_t elementwise(int op, float *y, const float *a, const float *b, size_t n, int grid,
                        int block, cudaStream_t stream)
{
    kernel *const all[] = {add, mul, relu, sigmoid};
    if (op < 0 || op >= 4) return cudaErrorInvalidValue;
    const bool wide = ((uintptr_t)y | (uintptr_t)a | (uintptr_t)b) % 16 == 0;
    all[op]<<<grid, block, 0, stream>>>(y, a, b, n, wide);
    return cudaGetLastError();
}

// RIGHT: blocks of one warp, which need no barrier between threads but the warp's own
#include "207_shared_memory/shared_memory.h"

enum { W = 32, MOST = 64 };

__global__ static void reverse(float *out, const float *in, size_t n)
{
    __shared__ float kept[256];
    const size_t at = (size_t)blockIdx.x * 256;
    const size_t size = n - at < 256 ? n - at : 256;
    for (size_t i = threadIdx.x; i < size; i += W) kept[i] = in[at + i];
    __syncwarp();
    for (size_t i = threadIdx.x; i < size; i += W) out[at + i] = kept[size - 1 - i];
}

__global__ static void slide(float *out, const float *in, size_t n, int radius)
{
    __shared__ float seen[256 + 2 * MOST];
    const size_t at = (size_t)blockIdx.x * 256;
    for (int j = threadIdx.x; j < 256 + 2 * radius; j += W) {
        const bool before = at + j < (size_t)radius;
        seen[j] = before || at + j - radius >= n ? 0.0f : in[at + j - radius];
    }
    __syncwarp();
    for (int i = threadIdx.x; i < 256 && at + i < n; i += W) {
        float sum = 0.0f;
        for (const float *at_i = seen + i; at_i <= seen + i + 2 * radius; at_i++) sum += *at_i;
        out[at + i] = sum;
    }
}

__global__ static void add(float *out, const float *in, size_t n)
{
    const size_t at = (size_t)blockIdx.x * W;
    float mine = at + threadIdx.x < n ? in[at + threadIdx.x] : 0.0f, all = 0.0f;
    for (int lane = 0; lane < W; lane++) all += __shfl_sync(0xffffffff, mine, lane);
    if (threadIdx.x == 0) out[blockIdx.x] = all;
}

cudaError_t reverse_blocks(float *out, const float *in, size_t n, cudaStream_t stream)
{
    if (n == 0) return cudaSuccess;
    reverse<<<(unsigned)((n + 255) / 256), W, 0, stream>>>(out, in, n);
    return cudaGetLastError();
}

cudaError_t stencil_1d(float *out, const float *in, size_t n, int radius, cudaStream_t stream)
{
    if (radius < 0 || radius > MOST) return cudaErrorInvalidValue;
    if (n == 0) return cudaSuccess;
    slide<<<(unsigned)((n + 255) / 256), W, 0, stream>>>(out, in, n, radius);
    return cudaGetLastError();
}

cudaError_t warp_sums(float *out, const float *in, size_t n, cudaStream_t stream)
{
    if (n == 0) return cudaSuccess;
    add<<<(unsigned)((n + W - 1) / W), W, 0, stream>>>(out, in, n);
    return cudaGetLastError();
}

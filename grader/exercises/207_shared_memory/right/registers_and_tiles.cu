// RIGHT: reversing by shuffles and by addresses, the stencil by fewer threads, sums by a butterfly
#include "207_shared_memory/shared_memory.h"

/* A warp reverses 32 floats in registers, and stores them where the mirrored warp's lie. */
__global__ static void mirror(float *out, const float *in, size_t n)
{
    __shared__ float whole[256];
    const size_t begin = blockIdx.x * (size_t)256;
    const int left = n - begin > 256 ? 256 : (int)(n - begin);
    const int t = threadIdx.x, target = left - 1 - t;
    const float x = t < left ? in[begin + t] : 0.0f;
    if (left < 256) { // a short run does not begin at a warp's edge
        if (target >= 0) whole[target] = x;
        __syncthreads();
        if (t < left) out[begin + t] = whole[t];
        return;
    }
    const float turned = __shfl_xor_sync(0xffffffff, x, 31);
    __syncthreads(); // in place: all have read
    out[begin + (7 - t / 32) * 32 + t % 32] = turned;
}

/* 64 threads compute four results each. */
__global__ static void windows(float *out, const float *in, size_t n, int radius)
{
    __shared__ float part[256 + 128];
    const long begin = (long)blockIdx.x * 256 - radius;
    for (int j = threadIdx.x; j < 256 + 2 * radius; j += 64) {
        const long i = begin + j;
        part[j] = i < 0 || i >= (long)n ? 0.0f : in[i];
    }
    __syncthreads();
    for (int e = threadIdx.x; e < 256; e += 64) {
        float left = 0.0f, right = 0.0f; // two sums that do not wait for each other
        for (int r = 1; r <= radius; r++) {
            left += part[e + radius - r];
            right += part[e + radius + r];
        }
        const size_t i = (size_t)blockIdx.x * 256 + e;
        if (i < n) out[i] = part[e + radius] + left + right;
    }
}

__global__ static void butterflies(float *out, const float *in, size_t n)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    float x = 0.0f;
    if (i < n) x = in[i];
    for (int bit = 1; bit < 32; bit <<= 1) x += __shfl_xor_sync(~0u, x, bit);
    if (i < n && threadIdx.x % 32 == 0) out[i / 32] = x;
}

#define GRID (unsigned)((n + 255) / 256)

cudaError_t reverse_blocks(float *out, const float *in, size_t n, cudaStream_t stream)
{
    if (n > 0) mirror<<<GRID, 256, 0, stream>>>(out, in, n);
    return cudaGetLastError();
}

cudaError_t stencil_1d(float *out, const float *in, size_t n, int radius, cudaStream_t stream)
{
    if (radius < 0 || radius > 64) return cudaErrorInvalidValue;
    if (n > 0) windows<<<GRID, 64, 0, stream>>>(out, in, n, radius);
    return cudaGetLastError();
}

cudaError_t warp_sums(float *out, const float *in, size_t n, cudaStream_t stream)
{
    if (n > 0) butterflies<<<GRID, 256, 0, stream>>>(out, in, n);
    return cudaGetLastError();
}

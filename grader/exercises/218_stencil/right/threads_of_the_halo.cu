// RIGHT: a thread for each pixel that is loaded, those of the halo too; the table in registers
#include "218_stencil/stencil.h"

#define LARGEST 4
#define INPUT   32 /* INPUT x INPUT threads, each of which loads one pixel */
#define SLOTS   100

__constant__ static float filters[SLOTS][(2 * LARGEST + 1) * (2 * LARGEST + 1)];

__device__ static size_t clamped(long row, long col, long height, long width)
{
    if (row < 0) row = 0;
    if (row >= height) row = height - 1;
    if (col < 0) col = 0;
    if (col >= width) col = width - 1;
    return (size_t)(row * width + col);
}

__global__ static void gather(float *out, const float *in, long height, long width, int r, int slot)
{
    const size_t pixel = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const long row = (long)(pixel / width), col = (long)(pixel % width);
    float sum = 0.0f;
    if (row >= height) return;
    for (int i = 0; i < (2 * r + 1) * (2 * r + 1); i++) {
        const long y = row + i / (2 * r + 1) - r, x = col + i % (2 * r + 1) - r;
        sum = fmaf(filters[slot][i], in[clamped(y, x, height, width)], sum);
    }
    out[pixel] = sum;
}

__global__ static void gather_tiled(float *out, const float *in, long height, long width, int r,
                                    int slot, unsigned down)
{
    __shared__ float pixels[INPUT][INPUT];
    const int step = INPUT - 2 * r, x = threadIdx.x - r, y = threadIdx.y - r;
    const long row = (long)(blockIdx.x % down) * step + y,
               col = (long)(blockIdx.x / down) * step + x;

    pixels[threadIdx.y][threadIdx.x] = in[clamped(row, col, height, width)];
    __syncthreads();
    const bool inner = x >= 0 && y >= 0 && x < step && y < step;
    if (!inner || row >= height || col >= width) return;
    float sum = 0.0f;
    for (int i = -r; i <= r; i++) {
        for (int j = -r; j <= r; j++) {
            const float weight = filters[slot][(i + r) * (2 * r + 1) + j + r];
            sum = fmaf(weight, pixels[threadIdx.y + i][threadIdx.x + j], sum);
        }
    }
    out[row * width + col] = sum;
}

static cudaError_t fill(int slot, const float *filter, int r, cudaStream_t stream)
{
    const size_t weights = (size_t)(2 * r + 1) * (2 * r + 1), offset = slot * sizeof filters[0];
    return cudaMemcpyToSymbolAsync(filters, filter, weights * sizeof *filter, offset,
                                   cudaMemcpyDeviceToDevice, stream);
}

static cudaError_t run(bool tiled, float *out, const float *in, int height, int width,
                       const float *filter, int r, cudaStream_t stream)
{
    if (r < 0 || r > LARGEST) return cudaErrorInvalidValue;
    if ((long)height * width == 0) return cudaSuccess;
    static int slot;
    slot = (slot + 1) % SLOTS;
    const int step = INPUT - 2 * r;
    cudaError_t error = fill(slot, filter, r, stream);
    if (error) return error;
    if (tiled) {
        const unsigned down = (height + step - 1) / step, across = (width + step - 1) / step;
        gather_tiled<<<down * across, dim3(INPUT, INPUT), 0, stream>>>(out, in, height, width, r,
                                                                       slot, down);
    } else {
        const size_t blocks = ((size_t)height * width + 127) / 128;
        gather<<<(unsigned)blocks, 128, 0, stream>>>(out, in, height, width, r, slot);
    }
    return cudaGetLastError();
}

cudaError_t convolve(float *out, const float *in, int height, int width, const float *filter,
                     int radius, cudaStream_t stream)
{
    return run(false, out, in, height, width, filter, radius, stream);
}

cudaError_t convolve_tiled(float *out, const float *in, int height, int width, const float *filter,
                           int radius, cudaStream_t stream)
{
    return run(true, out, in, height, width, filter, radius, stream);
}

/* Lane l has the entries l, l + 32, l + 64, ...: eight shuffles reach all of them. */
__global__ static void look(float *out, const unsigned char *index, size_t n, const float *table)
{
    float entries[8];
    for (int i = 0; i < 8; i++) entries[i] = table[i * 32 + threadIdx.x % 32];
    const size_t stride = (size_t)gridDim.x * blockDim.x;
    const size_t rounds = (n + stride - 1) / stride;
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (size_t round = 0; round < rounds; round++, at += stride) {
        const int key = at < n ? index[at] : 0;
        float found = 0.0f;
        for (int i = 0; i < 8; i++) {
            const float entry = __shfl_sync(0xffffffff, entries[i], key % 32);
            if (key / 32 == i) found = entry;
        }
        if (at < n) out[at] = found;
    }
}

cudaError_t look_up(float *out, const unsigned char *index, size_t n, const float *table,
                    cudaStream_t stream)
{
    if (n == 0) return cudaSuccess;
    const size_t blocks = (n + 4095) / 4096;
    look<<<(unsigned)(blocks < 2000 ? blocks : 2000), 256, 0, stream>>>(out, index, n, table);
    return cudaGetLastError();
}

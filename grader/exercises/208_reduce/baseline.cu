/*
 * The frozen baselines of 208.
 *
 * baseline_read is the fastest read of an array that we can write in a page, and a sum on the side:
 * 16 bytes a load, four loads in flight a thread, one atomic a block. Its order of additions
 * changes from run to run. n must be a multiple of 4 and `in` aligned to 16 bytes.
 *
 * baseline_row_sum_thread_per_row is the obvious kernel: lane l of a warp reads row l, and the 32
 * addresses of a load are whole rows apart.
 */
#include <cuda_runtime.h>
#include <stddef.h>

#define THREADS 256
#define BLOCKS  2048
#define UNROLL  4

__global__ static void read_kernel(float *out, const float4 *in, size_t n4)
{
    float sum = 0.0f;
    size_t stride = (size_t)gridDim.x * THREADS;
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    for (; i + (UNROLL - 1) * stride < n4; i += UNROLL * stride) {
        float4 v[UNROLL];
        for (int u = 0; u < UNROLL; u++) v[u] = in[i + u * stride];
        for (int u = 0; u < UNROLL; u++) sum += (v[u].x + v[u].y) + (v[u].z + v[u].w);
    }
    for (; i < n4; i += stride) sum += (in[i].x + in[i].y) + (in[i].z + in[i].w);

    __shared__ float of_warp[THREADS / 32];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (int w = 1; w < THREADS / 32; w++) sum += of_warp[w];
    atomicAdd(out, sum);
}

extern "C" cudaError_t baseline_read(float *out, const float *in, size_t n, cudaStream_t stream)
{
    cudaError_t error = cudaMemsetAsync(out, 0, sizeof(float), stream);
    if (error != cudaSuccess) return error;
    read_kernel<<<BLOCKS, THREADS, 0, stream>>>(out, (const float4 *)in, n / 4);
    return cudaGetLastError();
}

__global__ static void thread_per_row_kernel(float *out, const float *in, int rows, int cols)
{
    size_t row = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int col = 0; col < cols; col++) sum += in[row * cols + col];
    out[row] = sum;
}

extern "C" cudaError_t baseline_row_sum_thread_per_row(float *out, const float *in, int rows,
                                                       int cols, cudaStream_t stream)
{
    thread_per_row_kernel<<<(rows + 127) / 128, 128, 0, stream>>>(out, in, rows, cols);
    return cudaGetLastError();
}

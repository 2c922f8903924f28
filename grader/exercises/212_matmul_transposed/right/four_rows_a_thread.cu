// RIGHT: 32 x 8 threads, each with four rows of c; two signed strides per operand, and one index
// for tiles and products together
#include "212_matmul_transposed/matmul_transposed.h"

enum { SIDE = 32, ROWS = 4, STEP = SIDE / ROWS };

struct view {
    const float *at;
    long long down, right, next;
    int rows, cols;

    __device__ float get(long long i, long long j) const
    {
        return i < rows && j < cols ? at[i * down + j * right] : 0.0f;
    }
};

/* Along which index do neighbours lie side by side? */
__device__ static void fetch(float (*tile)[SIDE + 1], const view &v, long long i, long long j)
{
    for (int r = threadIdx.y; r < SIDE; r += STEP) {
        if (v.right == 1)
            tile[r][threadIdx.x] = v.get(i + r, j + threadIdx.x);
        else
            tile[threadIdx.x][r] = v.get(i + threadIdx.x, j + r);
    }
}

__global__ static void __launch_bounds__(256)
    product(float *c, view a, view b, long long next_c, long long tiles, long long all)
{
    __shared__ float left[SIDE][SIDE + 1], over[SIDE][SIDE + 1];
    const long long across = (b.cols + SIDE - 1) / SIDE;

    for (long long job = blockIdx.x; job < all; job += gridDim.x) {
        const long long z = job / tiles, tile = job % tiles;
        const long long top = tile / across * SIDE, col = tile % across * SIDE + threadIdx.x;
        view one = a, two = b;
        one.at += z * a.next, two.at += z * b.next;
        float sum[ROWS] = {};
        for (int p = 0; p < a.cols; p += SIDE) {
            fetch(left, one, top, p);
            fetch(over, two, p, col - threadIdx.x);
            __syncthreads();
            for (int i = 0; i < SIDE; i++) {
                const float v = over[i][threadIdx.x];
                for (int r = 0; r < ROWS; r++) sum[r] += left[threadIdx.y + r * STEP][i] * v;
            }
            __syncthreads();
        }
        for (int r = 0; r < ROWS; r++) {
            const long long row = top + threadIdx.y + r * STEP;
            if (row < a.rows && col < b.cols) c[z * next_c + row * b.cols + col] = sum[r];
        }
    }
}

static cudaError_t start(float *c, view a, view b, int batch, long long next_c, cudaStream_t stream)
{
    const long long tiles = (long long)((a.rows + SIDE - 1) / SIDE) * ((b.cols + SIDE - 1) / SIDE);
    const long long all = tiles * batch, most = 1 << 16;
    if (all > 0)
        product<<<(unsigned)(all < most ? all : most), dim3(SIDE, STEP), 0, stream>>>(
            c, a, b, next_c, tiles, all);
    return cudaGetLastError();
}

cudaError_t matmul_nt(float *c, const float *a, const float *b, int m, int n, int k,
                      cudaStream_t stream)
{
    return start(c, view{a, k, 1, 0, m, k}, view{b, 1, k, 0, k, n}, 1, 0, stream);
}

cudaError_t matmul_tn(float *c, const float *a, const float *b, int m, int n, int k,
                      cudaStream_t stream)
{
    return start(c, view{a, 1, m, 0, m, k}, view{b, n, 1, 0, k, n}, 1, 0, stream);
}

cudaError_t matmul_batched(float *c, const float *a, const float *b, int m, int n, int k, int batch,
                           size_t stride_c, size_t stride_a, size_t stride_b, cudaStream_t stream)
{
    return start(c, view{a, k, 1, (long long)stride_a, m, k},
                 view{b, n, 1, (long long)stride_b, k, n}, batch, (long long)stride_c, stream);
}

// RIGHT: 16 x 16 threads, no padding but columns exchanged by the bits of the row, a fixed grid
#include "209_transpose/transpose.h"

enum { SIDE = 16, BLOCKS = 2048 };

// Row r has its column c at c ^ r: down a column every row meets another bank of its half line.
__device__ static int place(int r, int c)
{
    return r * SIDE + (c ^ r);
}

__global__ static void turn(float *out, const float *in, int rows, int cols, size_t tiles)
{
    __shared__ float staged[SIDE * SIDE];
    const int u = threadIdx.x % SIDE, v = threadIdx.x / SIDE;
    const size_t per_row = ((size_t)cols + SIDE - 1) / SIDE;

    for (size_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        const size_t r0 = t / per_row * SIDE, c0 = t % per_row * SIDE;
        const bool inside = r0 + v < rows && c0 + u < cols;
        staged[place(v, u)] = inside ? in[(r0 + v) * cols + c0 + u] : 0.0f;
        __syncthreads();
        if (c0 + v < cols && r0 + u < rows) out[(c0 + v) * rows + r0 + u] = staged[place(u, v)];
        __syncthreads(); // before the next tile
    }
}

cudaError_t transpose(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    const size_t tiles =
        (((size_t)rows + SIDE - 1) / SIDE) * (((size_t)cols + SIDE - 1) / SIDE);
    if (tiles == 0) return cudaSuccess;
    const unsigned grid = tiles < BLOCKS ? (unsigned)tiles : BLOCKS;
    turn<<<grid, SIDE * SIDE, 0, stream>>>(out, in, rows, cols, tiles);
    return cudaGetLastError();
}

// RIGHT: each warp turns a strip of 32 x 8 through shared memory of its own, without a barrier
#include "209_transpose/transpose.h"

#define WARPS 4 /* of a block, none of which waits for another */
#define WIDE  8 /* columns of a strip: a sector */

/* Eight groups of four rows, each with its columns in another order: lanes side by side in a row,
   and lanes one below the other, find 32 banks both ways. */
__device__ static int in_strip(int row, int col)
{
    return row * WIDE + (col ^ row / 4);
}

__global__ static void strips(float *out, const float *in, int rows, int cols, size_t count)
{
    __shared__ float of_warp[WARPS][32 * WIDE];
    float *strip = of_warp[threadIdx.y];
    const int lane = threadIdx.x;
    const size_t number = (size_t)blockIdx.x * WARPS + threadIdx.y;
    if (number >= count) return;

    const size_t down = (rows + (size_t)31) / 32;
    const size_t row = number % down * 32, col = number / down * WIDE;

    /* A request takes four rows of eight columns: four whole sectors. */
    for (int step = 0; step < 8; step++) {
        const int r = step * 4 + lane / WIDE, c = lane % WIDE;
        if (row + r < rows && col + c < cols) {
            strip[in_strip(r, c)] = in[(row + r) * cols + col + c];
        }
    }
    __syncwarp();
    for (int j = 0; j < WIDE; j++) {
        if (row + lane < rows && col + j < cols) {
            out[(col + j) * rows + row + lane] = strip[in_strip(lane, j)];
        }
    }
}

cudaError_t transpose(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    const size_t count = (rows + (size_t)31) / 32 * ((cols + (size_t)WIDE - 1) / WIDE);
    if (count > 0) {
        const unsigned blocks = (unsigned)((count + WARPS - 1) / WARPS);
        strips<<<blocks, dim3(32, WARPS), 0, stream>>>(out, in, rows, cols, count);
    }
    return cudaGetLastError();
}

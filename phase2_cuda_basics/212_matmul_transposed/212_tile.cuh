/*
 * 212_tile.cuh: a tile of a matrix in shared memory, however the matrix lies in global memory.
 *
 * It is written once. 212 includes it, and so does each later kernel that multiplies in tiles (404,
 * 407), as "../../phase2_cuda_basics/212_matmul_transposed/212_tile.cuh". So its names and
 * parameters stay as they are here. Those kernels add the rest: the size of the tiles, the
 * barriers, and the product.
 */
#ifndef TILE_CUH
#define TILE_CUH

#include <stddef.h>

/** A matrix as a product sees it: element (i, j) of matrix z of a batch is data[i * row + j * col +
 *  z * batch]. As it is stored, col is 1; transposed, row is 1. */
typedef struct operand {
    const float *data;
    unsigned rows, cols;
    size_t row, col, batch; /* floats from one row, column and matrix of the batch to the next */
} operand;

/** A matrix of rows x cols floats as it is stored, row after row. */
__host__ __device__ static inline operand row_major(const float *data, int rows, int cols)
{
    operand x = {data, (unsigned)rows, (unsigned)cols, (size_t)cols, 1, 0};
    return x;
}

/**
 * tile[i][j] = element (top + i, left + j) of matrix z of x, 0 outside of it. All threads of a
 * square block call it, and each loads one element; the barriers are the caller's.
 * @param tile as many rows as the block; PITCH floats per row, at least that many
 */
template <int PITCH>
__device__ static void load_tile(float (*tile)[PITCH], operand x, unsigned z, unsigned top,
                                 unsigned left);

/* TODO: load_tile: one element a thread, 0 outside; threadIdx.x walks along the stride that is
   1 (about 9 lines). */

#endif

/*
 * 209_transpose.cu: rows become columns, and both sides move in whole lines.
 *
 * The idea: a transpose computes nothing, it only moves. Written directly, one of its two sides is
 * a column: 32 lanes, 32 rows, 32 sectors for 128 bytes. Shared memory does the turning instead. A
 * block reads a tile of 32 x 32 along its rows, waits, and writes it along the rows of out, which
 * are columns of the tile. Only shared memory is read down a column, and it has no lines.
 *
 * It has banks. A tile 32 floats wide has each column in one bank, and the 32 lanes that read it
 * queue. One unused float at the end of each row shifts every row by one bank; then the elements of
 * a column lie in 32 different banks.
 *
 * What it costs: 8 bytes moved per element, as in a copy, and the way through shared memory, which
 * the loads and stores of other blocks hide. What it leaves: the padding wastes 128 bytes per tile.
 * Exchanging columns by the bits of the row (a swizzle, 4a) wastes none.
 */
#include "209_transpose/transpose.h"
#include "not_implemented.h"

#define TILE 32 /* TILE x TILE elements per block: a row is one line for one warp */
#define ROWS 8  /* of threads in a block; each moves TILE / ROWS elements */

/* SOLUTION: transpose_kernel: the block's tile from the number of the block; rows of in to the
   tile, a barrier, columns of the tile to rows of out; guards at both ends (about 18 lines). */
__global__ static void transpose_kernel(float *out, const float *in, int rows, int cols, int across)
{
    __shared__ float tile[TILE][TILE + 1]; /* + 1: a column lies in 32 different banks */
    int top = blockIdx.x / across * TILE, left = blockIdx.x % across * TILE;
    int x = threadIdx.x;

    for (int y = threadIdx.y; y < TILE; y += ROWS) {
        if (top + y < rows && left + x < cols) {
            tile[y][x] = in[(size_t)(top + y) * cols + left + x];
        }
    }
    __syncthreads(); /* the tile is complete: each warp reads what others wrote */
    for (int y = threadIdx.y; y < TILE; y += ROWS) {
        if (left + y < cols && top + x < rows) {
            out[(size_t)(left + y) * rows + top + x] = tile[x][y];
        }
    }
}
/* END SOLUTION */

cudaError_t transpose(float *out, const float *in, int rows, int cols, cudaStream_t stream)
{
    /* SOLUTION: as many blocks as there are tiles, in x only: a grid ends at 65,535 in y (about 5
       lines). */
    if (rows == 0 || cols == 0) return cudaSuccess; /* an empty grid is a launch error */
    int across = (cols - 1) / TILE + 1, down = (rows - 1) / TILE + 1;
    transpose_kernel<<<(unsigned)across * down, dim3(TILE, ROWS), 0, stream>>>(out, in, rows, cols,
                                                                               across);
    /* END SOLUTION */
    return cudaGetLastError();
}

/*
 * 212_matmul_transposed.cu: products with a transposed operand, and many products at once, by one
 * tiled kernel.
 *
 * The idea: a matrix is a pointer and two strides, and element (i, j) lies at i * row + j * col. In
 * row-major order col is 1. Its transpose is the same memory with the strides exchanged: row is 1.
 * So nothing is ever transposed, and 211's kernel needs no second version. It needs to know one
 * thing more: which way the threads of a warp must walk, so that neighbours read neighbours. Where
 * row is 1 they walk down a column of the tile instead of along a row. That is the task of
 * load_tile in 212_tile.cuh, which later kernels include too. A batch is a third stride, from one
 * matrix to the next; 0 gives all products the same one.
 *
 * What it removes: a separate transpose, which reads and writes the whole matrix and needs memory
 * for it. (With the strides exchanged but not the threads, each of the 32 lanes would fetch a
 * sector of its own.) And a launch for each product of a batch, which costs more than a small
 * product.
 *
 * What it leaves: as in 211, each multiply-add reads two values from shared memory. 214 keeps
 * several elements of c in the registers of a thread.
 */
#include "212_matmul_transposed/matmul_transposed.h"
#include "212_tile.cuh"
#include "not_implemented.h"

/* SOLUTION: TILE and MOST (2 lines), and matmul_strided_kernel: a block per tile of c, and a loop
   over its share of the batch's matrices; the rest as in 211 (about 22 lines). */
#define TILE 32   /* TILE x TILE threads per block, as in 211 */
#define MOST 1024 /* blocks along y: more than a GPU holds at once, and y may have 65,535 */

__global__ static void matmul_strided_kernel(float *c, operand a, operand b, unsigned batch,
                                             size_t stride_c)
{
    __shared__ float a_tile[TILE][TILE + 1]; /* one more column: a transposed tile is written */
    __shared__ float b_tile[TILE][TILE + 1]; /* by columns, whose elements lie in other banks */
    unsigned x = threadIdx.x, y = threadIdx.y;
    unsigned across = (b.cols - 1) / TILE + 1; /* tiles side by side in c */
    unsigned top = blockIdx.x / across * TILE, left = blockIdx.x % across * TILE;

    for (unsigned z = blockIdx.y; z < batch; z += gridDim.y) {
        float sum = 0.0f;
        for (unsigned start = 0; start < a.cols; start += TILE) {
            load_tile(a_tile, a, z, top, start);
            load_tile(b_tile, b, z, start, left);
            __syncthreads(); /* both tiles are complete before any thread reads them */
            for (int i = 0; i < TILE; i++) sum += a_tile[y][i] * b_tile[i][x];
            __syncthreads(); /* all threads have read before the next tiles overwrite them */
        }
        if (top + y < a.rows && left + x < b.cols)
            c[z * stride_c + (size_t)(top + y) * b.cols + left + x] = sum;
    }
}
/* END SOLUTION */

/* SOLUTION: multiply, the launch: tiles along x, matrices along y, but not all of a large batch;
   none if there is nothing to store (about 8 lines). */
static void multiply(float *c, operand a, operand b, int batch, size_t stride_c,
                     cudaStream_t stream)
{
    if (a.rows == 0 || b.cols == 0 || batch == 0) return; /* an empty grid is a launch error */
    unsigned tiles = ((a.rows - 1) / TILE + 1) * ((b.cols - 1) / TILE + 1);
    dim3 grid(tiles, batch < MOST ? batch : MOST);
    matmul_strided_kernel<<<grid, dim3(TILE, TILE), 0, stream>>>(c, a, b, batch, stride_c);
}
/* END SOLUTION */

cudaError_t matmul_nt(float *c, const float *a, const float *b, int m, int n, int k,
                      cudaStream_t stream)
{
    /* SOLUTION: b is n x k in memory: as k x n its strides are exchanged (about 3 lines). */
    operand left = {a, (unsigned)m, (unsigned)k, (size_t)k, 1, 0};
    operand right = {b, (unsigned)k, (unsigned)n, 1, (size_t)k, 0};
    multiply(c, left, right, 1, 0, stream);
    /* END SOLUTION */
    return cudaGetLastError();
}

cudaError_t matmul_tn(float *c, const float *a, const float *b, int m, int n, int k,
                      cudaStream_t stream)
{
    /* SOLUTION: a is k x m in memory: as m x k its strides are exchanged (about 3 lines). */
    operand left = {a, (unsigned)m, (unsigned)k, 1, (size_t)m, 0};
    operand right = {b, (unsigned)k, (unsigned)n, (size_t)n, 1, 0};
    multiply(c, left, right, 1, 0, stream);
    /* END SOLUTION */
    return cudaGetLastError();
}

cudaError_t matmul_batched(float *c, const float *a, const float *b, int m, int n, int k, int batch,
                           size_t stride_c, size_t stride_a, size_t stride_b, cudaStream_t stream)
{
    /* SOLUTION: neither is transposed; each has the stride of its batch (about 3 lines). */
    operand left = {a, (unsigned)m, (unsigned)k, (size_t)k, 1, stride_a};
    operand right = {b, (unsigned)k, (unsigned)n, (size_t)n, 1, stride_b};
    multiply(c, left, right, batch, stride_c, stream);
    /* END SOLUTION */
    return cudaGetLastError();
}

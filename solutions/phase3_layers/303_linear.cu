/*
 * 303_linear.cu: the linear layer, y = x * w^T + bias, and its three gradients.
 *
 * The idea: w is stored [out x in], one row of weights per output, so the forward pass multiplies
 * by its transpose, and the backward pass is two more matmuls, each with one factor transposed or
 * none:
 *
 *     forward   y      = x        * w^T      [batch x in]  * [in x out]
 *     backward  grad_x = grad_y   * w        [batch x out] * [out x in]
 *               grad_w = grad_y^T * x        [out x batch] * [batch x in]
 *
 * Nothing is ever transposed in memory. Only the way from global to shared memory differs: the
 * threads of a warp follow the rows as they are stored, and a tile of a transposed matrix is turned
 * round while it is written to shared memory. After that all three are the same tiled matmul.
 *
 * What it costs: y goes to memory after the matmul and comes back for the bias, 8 more bytes per
 * output; 404 adds the bias before y leaves its register. And one shared-memory load per operand
 * for every multiplication: 307 shows the way out, several outputs a thread.
 */
#include "layers.h"
#include "not_implemented.h"

/* SOLUTION: TILE, and load_tile: zeros outside the matrix, and threadIdx.x along a stored row for a
   transposed matrix too (about 12 lines). */
#define TILE 16

/**
 * Load the tile of a matrix whose corner is (row, col), with zeros where it hangs over the edge.
 * The matrix is rows x cols; TRANSPOSED says that memory holds its transpose, cols x rows.
 */
template <bool TRANSPOSED>
__device__ static void load_tile(float (*tile)[TILE + 1], const float *matrix, int rows, int cols,
                                 int row, int col)
{
    int x = threadIdx.x, y = threadIdx.y; /* x runs along a row as it is stored: coalesced */
    if (TRANSPOSED) {
        bool inside = row + x < rows && col + y < cols;
        tile[x][y] = inside ? matrix[(size_t)(col + y) * rows + row + x] : 0.0f;
    } else {
        bool inside = row + y < rows && col + x < cols;
        tile[y][x] = inside ? matrix[(size_t)(row + y) * cols + col + x] : 0.0f;
    }
}
/* END SOLUTION */

/* SOLUTION: matmul_kernel, c[m x n] = a[m x k] * b[k x n], either of them stored transposed: load
   two tiles, barrier, multiply, barrier; guard only the store (about 16 lines). */
template <bool A_TRANSPOSED, bool B_TRANSPOSED>
__global__ static void matmul_kernel(float *c, const float *a, const float *b, int m, int n, int k)
{
    __shared__ float a_tile[TILE][TILE + 1]; /* one more column: a column of the tile, as a */
    __shared__ float b_tile[TILE][TILE + 1]; /* transposed load writes it, hits many banks  */
    int row = blockIdx.y * TILE, col = blockIdx.x * TILE;
    int x = threadIdx.x, y = threadIdx.y;

    float sum = 0.0f;
    for (int p = 0; p < k; p += TILE) {
        load_tile<A_TRANSPOSED>(a_tile, a, m, k, row, p);
        load_tile<B_TRANSPOSED>(b_tile, b, k, n, p, col);
        __syncthreads(); /* both tiles are complete before anybody reads them */
        for (int i = 0; i < TILE; i++) sum += a_tile[y][i] * b_tile[i][x];
        __syncthreads(); /* everybody has read before the next load overwrites them */
    }
    if (row + y < m && col + x < n) c[(size_t)(row + y) * n + col + x] = sum;
}
/* END SOLUTION */

/* SOLUTION: matmul, the launch of that kernel, none if c is empty (about 4 lines). */
template <bool A_TRANSPOSED, bool B_TRANSPOSED>
static void matmul(float *c, const float *a, const float *b, int m, int n, int k,
                   cudaStream_t stream)
{
    if (m == 0 || n == 0) return; /* an empty grid is a launch error; k = 0 gives zeros */
    dim3 block(TILE, TILE), grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    matmul_kernel<A_TRANSPOSED, B_TRANSPOSED><<<grid, block, 0, stream>>>(c, a, b, m, n, k);
}
/* END SOLUTION */

cudaError_t linear_forward(float *y, const float *x, const float *w, const float *bias, int batch,
                           int in_features, int out_features, cudaStream_t stream)
{
    /* SOLUTION: one matmul, then bias_forward in place unless bias is NULL (about 2 lines). */
    matmul<false, true>(y, x, w, batch, out_features, in_features, stream);
    if (bias != NULL) return bias_forward(y, y, bias, batch, out_features, stream);
    /* END SOLUTION */
    return cudaGetLastError();
}

cudaError_t linear_backward(float *grad_x, float *grad_w, float *grad_bias, const float *grad_y,
                            const float *x, const float *w, int batch, int in_features,
                            int out_features, cudaStream_t stream)
{
    /* SOLUTION: two matmuls and bias_backward, each only where its gradient is wanted (about 5
       lines). */
    if (grad_x != NULL)
        matmul<false, false>(grad_x, grad_y, w, batch, in_features, out_features, stream);
    if (grad_w != NULL)
        matmul<true, false>(grad_w, grad_y, x, out_features, in_features, batch, stream);
    if (grad_bias != NULL) return bias_backward(grad_bias, grad_y, batch, out_features, stream);
    /* END SOLUTION */
    return cudaGetLastError();
}

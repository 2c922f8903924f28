/*
 * 313_attention.cu: attention and its gradients, by tiled products and a softmax of rows.
 *
 * The idea: each query is compared with all keys, and takes of each value as much as its key fits:
 *
 *     s = scale q k^T        p = softmax of each row of s        out = p v
 *
 * Those are two products and a softmax, of batch x heads pairs of matrices at once. The kernel of
 * 212 multiplies any matrices by their strides, k^T too, and a grid takes all heads. If causal, a
 * query sees no key that comes after it: row t of p has t + 1 entries, and then zeros, which are
 * stored because p v reads them.
 *
 * Backward, the softmax's gradient stands between products in the other direction:
 *
 *     grad_v = p^T grad_out
 *     grad_p = grad_out v^T
 *     grad_s = p (grad_p - sum of p grad_p over the row)
 *     grad_q = scale grad_s k
 *     grad_k = scale grad_s^T q
 *
 * p is computed again: keeping it from the forward pass would take seq x seq floats per head, in
 * each layer of a network, until its backward pass.
 *
 * What it costs: s is written, read and written by the softmax, and read again: memory and bytes
 * grow with the square of seq. 409 never stores it. If causal, half of each product multiplies
 * zeros.
 *
 * Given: the operands, the launches, sums and maxima of a warp, and the memory for p. Yours: the
 * three kernels, and the products of both passes.
 */
#include "../../phase2_cuda_basics/212_matmul_transposed/212_tile.cuh"
#include "212_matmul_transposed/matmul_transposed.h"
#include "313_attention/attention.h"
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#include "not_implemented.h"
#include <math.h>

/** Matrices of rows x cols, one per head, one after the other. */
static operand stack(const float *data, int rows, int cols)
{
    operand x = row_major(data, rows, cols);
    x.batch = (size_t)rows * cols;
    return x;
}

/** The same matrices with rows and columns exchanged. Nothing moves. */
static operand transposed(operand x)
{
    operand turned = {x.data, x.cols, x.rows, x.col, x.row, x.batch};
    return turned;
}

#define TILE 32   /* TILE x TILE threads per block */
#define MOST 1024 /* blocks along y, which may have 65,535; heads may be more */

/** c[heads x a.rows x b.cols] = factor * a * b, head by head; a.cols is b.rows. Block (x, y) has
 *  tile x of c, and the heads y, y + gridDim.y, ... */
__global__ static void product_kernel(float *c, operand a, operand b, unsigned heads, float factor)
{
    __shared__ float a_tile[TILE][TILE + 1]; /* one more column: a transposed tile is written */
    __shared__ float b_tile[TILE][TILE + 1]; /* by columns, whose elements lie in other banks */
    unsigned x = threadIdx.x, y = threadIdx.y;
    unsigned across = (b.cols - 1) / TILE + 1; /* tiles side by side in c */
    unsigned top = blockIdx.x / across * TILE, left = blockIdx.x % across * TILE;

    /* TODO: for each of its heads, the product of 212: load_tile both tiles, whose corners are
       a[top][start] and b[start][left], with a barrier before and after the sum; this thread's
       element of c, if it is inside, is factor times the sum (about 12 lines). */
}

static void multiply(float *c, operand a, operand b, unsigned heads, float factor,
                     cudaStream_t stream)
{
    unsigned tiles = ((a.rows - 1) / TILE + 1) * ((b.cols - 1) / TILE + 1);
    dim3 grid(tiles, heads < MOST ? heads : MOST);
    product_kernel<<<grid, dim3(TILE, TILE), 0, stream>>>(c, a, b, heads, factor);
}

/** The sum of one value per lane, for every lane. */
__device__ static float warp_sum(float value)
{
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    return value;
}

/** The largest of one value per lane, for every lane. */
__device__ static float warp_max(float value)
{
    for (int distance = 16; distance > 0; distance /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, distance));
    return value;
}

#define WARPS 8 /* rows of a block */

/** Each row of p[rows x seq] becomes its softmax, in place: of the keys that the query may see, and
 *  zeros for the others. A warp has a row, and row r belongs to query r % seq. */
__global__ static void softmax_kernel(float *p, size_t rows, int seq, int causal)
{
    size_t row = (size_t)blockIdx.x * WARPS + threadIdx.y;
    if (row >= rows) return; /* all lanes of a warp, or none */
    p += row * seq;
    /* TODO: how many keys this query may see; the maximum over them, then the sum of
       expf(p - max); then all seq weights. A row in which every score is -infinity gets zeros
       (about 11 lines). */
}

/** Each row of grad_p[rows x seq] becomes grad_s, in place, a warp per row. Where the mask hides a
 *  key, p is 0, and so is grad_s. */
__global__ static void softmax_backward_kernel(float *grad_p, const float *p, size_t rows, int seq)
{
    size_t row = (size_t)blockIdx.x * WARPS + threadIdx.y;
    if (row >= rows) return;
    p += row * seq;
    grad_p += row * seq;

    /* TODO: the row's sum of p * grad_p, then each element by the formula of grad_s (about 4
       lines). */
}

/** p[heads x seq x seq] from the operands q and k, each [heads x seq x dim]. */
static void probabilities(float *p, operand q, operand k, unsigned heads, int causal, float scale,
                          cudaStream_t stream)
{
    int seq = (int)q.rows;
    size_t rows = (size_t)heads * seq;
    /* TODO: multiply, then launch softmax_kernel on all rows, WARPS warps a block (about 2
       lines). */
    NOT_IMPLEMENTED(p, q, k, heads, causal, scale, stream);
}

cudaError_t attention_naive(float *out, const float *q, const float *k, const float *v, int batch,
                            int heads, int seq, int dim, int causal, float scale,
                            cudaStream_t stream)
{
    unsigned all = (unsigned)batch * heads;
    /* TODO: without elements there is nothing to do (about 1 line). */
    NOT_IMPLEMENTED(out, q, k, v, batch, heads, seq, dim, causal, scale, stream);
    float *p;
    if (cudaMallocAsync((void **)&p, sizeof *p * all * seq * seq, stream) != cudaSuccess)
        return cudaGetLastError();
    /* TODO: the probabilities, then times v (about 2 lines). */
    cudaFreeAsync(p, stream);
    return cudaGetLastError();
}

cudaError_t attention_naive_backward(float *grad_q, float *grad_k, float *grad_v,
                                     const float *grad_out, const float *q, const float *k,
                                     const float *v, int batch, int heads, int seq, int dim,
                                     int causal, float scale, cudaStream_t stream)
{
    unsigned all = (unsigned)batch * heads;
    /* TODO: without elements there is nothing to do (about 1 line). */
    NOT_IMPLEMENTED(grad_q, grad_k, grad_v, grad_out, q, k, v, batch, heads, seq, dim, causal,
                    scale, stream);
    size_t rows = (size_t)all * seq;
    float *p;
    if (cudaMallocAsync((void **)&p, sizeof *p * 2 * rows * seq, stream) != cudaSuccess)
        return cudaGetLastError();
    float *grad_p = p + rows * seq; /* and then grad_s */
    operand queries = stack(q, seq, dim), keys = stack(k, seq, dim),
            grads = stack(grad_out, seq, dim);

    /* TODO: p again, then the five lines of the opening comment; that of grad_s is the launch
       of softmax_backward_kernel (about 7 lines). */
    cudaFreeAsync(p, stream);
    return cudaGetLastError();
}

// RIGHT: a list for each token: every row looks back for the row before it with the same token, and
// the last rows walk their lists
#include "302_bias/bias.h"
#include "3a_deterministic_backward/deterministic_backward.h"

/** before[rows]: the last row before this one with its token, or -1; is_last[rows] */
__global__ static void link_kernel(int *before, int *is_last, const int *tokens, int rows)
{
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const int mine = tokens[r];
    int at = r - 1;
    while (at >= 0 && tokens[at] != mine) at--;
    before[r] = at;
    int behind = r + 1;
    while (behind < rows && tokens[behind] != mine) behind++;
    is_last[r] = behind == rows;
}

__global__ static void walk_kernel(float *grad_table, const float *grad_y, const int *before,
                                   const int *is_last, const int *tokens, int rows, int dim)
{
    for (int r = blockIdx.x; r < rows; r += gridDim.x) {
        if (!is_last[r]) continue;
        float *to = grad_table + (size_t)tokens[r] * dim;
        for (int c = threadIdx.x; c < dim; c += blockDim.x) {
            double sum = 0.0;
            for (int at = r; at >= 0; at = before[at]) sum += grad_y[(size_t)at * dim + c];
            to[c] = (float)(to[c] + sum);
        }
    }
}

__global__ static void place_kernel(float *grad_positions, const float *grad_y, int batch, int seq,
                                    int dim)
{
    for (int t = blockIdx.x; t < seq; t += gridDim.x) {
        for (int c = threadIdx.x; c < dim; c += blockDim.x) {
            double sum = 0.0;
            for (int b = batch; b-- > 0;) sum += grad_y[((size_t)b * seq + t) * dim + c];
            grad_positions[(size_t)t * dim + c] = (float)sum;
        }
    }
}

cudaError_t embedding_backward_deterministic(float *grad_table, float *grad_positions,
                                             const float *grad_y, const int *tokens, int batch,
                                             int seq, int dim, int vocab, cudaStream_t stream)
{
    const int rows = batch * seq;
    const unsigned places = min(seq, 4096), walkers = min(rows, 1024);
    (void)vocab;
    if (grad_positions && seq > 0 && dim > 0)
        place_kernel<<<places, 64, 0, stream>>>(grad_positions, grad_y, batch, seq, dim);
    if (rows == 0 || dim == 0) return cudaGetLastError();
    int *before;
    cudaError_t error = cudaMallocAsync((void **)&before, 2 * sizeof(int) * rows, stream);
    if (error != cudaSuccess) return error;
    link_kernel<<<(rows + 255) / 256, 256, 0, stream>>>(before, before + rows, tokens, rows);
    walk_kernel<<<walkers, 64, 0, stream>>>(grad_table, grad_y, before, before + rows, tokens, rows,
                                            dim);
    error = cudaGetLastError();
    cudaFreeAsync(before, stream);
    return error;
}

/*
 * 311_layernorm.cu: layer normalization of every row, and its gradients.
 *
 * The idea: what 309 does to a channel is done to a row, and no other row takes part: a batch of
 * one is as good as any. A row belongs to a warp. Its lanes walk along it together, neighbours
 * reading neighbours, and agree on a sum by shuffles: no shared memory, and none of the ten
 * barriers that a reduction of 304 has. The mean comes first, the variance from the differences to
 * it: the mean of squares minus the square of the mean is noise for a row around 10,000.
 *
 * Backward, with xhat = (x - mean) rstd and g = grad_y gamma, in each row
 *
 *     grad_x = rstd (g - mean of g - xhat mean of g xhat)
 *
 * and, down the columns, grad_beta = sum grad_y, grad_gamma = sum grad_y xhat. Columns are summed
 * as in 302, 32 of them a block, and in two stages: a layer has few columns and many rows, and few
 * blocks would have long sums. First each stretch of rows is summed, then the stretches. Every sum
 * is added in a fixed order, which atomicAdd could not promise. The sums of stretches need memory
 * for a moment: grad_x has it, and is written last.
 *
 * What it costs: the row is read three times forward, x and grad_y three times backward. A row of
 * 65,536 columns is a long way for one warp. 405 keeps the row on the chip.
 */
#include "311_layernorm/layernorm.h"
#include "not_implemented.h"

/* SOLUTION: warp_sum: the sum of one value per lane, for every lane (about 8 lines). */
#define WARPS 8 /* rows of a block */

__device__ static float warp_sum(float value)
{
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    }
    return value;
}
/* END SOLUTION */

/* SOLUTION: forward_kernel, a warp per row: mean, variance, y; lane 0 keeps the statistics (about
   19 lines). */
__global__ static void forward_kernel(float *y, float *mean, float *rstd, const float *x,
                                      const float *gamma, const float *beta, int rows, int cols,
                                      float eps)
{
    int row = blockIdx.x * WARPS + threadIdx.y;
    if (row >= rows) return; /* all lanes of a warp, or none */
    x += (size_t)row * cols;
    y += (size_t)row * cols;

    float sum = 0.0f, squares = 0.0f;
    for (int c = threadIdx.x; c < cols; c += 32) sum += x[c];
    float m = warp_sum(sum) / cols;

    for (int c = threadIdx.x; c < cols; c += 32) squares += (x[c] - m) * (x[c] - m);
    float r = 1.0f / sqrtf(warp_sum(squares) / cols + eps);

    for (int c = threadIdx.x; c < cols; c += 32) y[c] = (x[c] - m) * r * gamma[c] + beta[c];
    if (threadIdx.x != 0) return;
    mean[row] = m;
    rstd[row] = r;
}
/* END SOLUTION */

/* SOLUTION: grad_x_kernel, a warp per row: two sums, then grad_x (about 20 lines). */
__global__ static void grad_x_kernel(float *grad_x, const float *grad_y, const float *x,
                                     const float *gamma, const float *mean, const float *rstd,
                                     int rows, int cols)
{
    int row = blockIdx.x * WARPS + threadIdx.y;
    if (row >= rows) return;
    size_t start = (size_t)row * cols;
    float m = mean[row], r = rstd[row], sum = 0.0f, dot = 0.0f;
    for (int c = threadIdx.x; c < cols; c += 32) {
        float g = grad_y[start + c] * gamma[c];
        sum += g;
        dot += g * ((x[start + c] - m) * r);
    }
    sum = warp_sum(sum) / cols;
    dot = warp_sum(dot) / cols;

    for (int c = threadIdx.x; c < cols; c += 32) {
        float xhat = (x[start + c] - m) * r;
        grad_x[start + c] = r * (grad_y[start + c] * gamma[c] - sum - xhat * dot);
    }
}
/* END SOLUTION */

/* SOLUTION: the column sums. block_column_sum: 32 x WARPS threads, thread (x, y) brings a part of
   the sum of column x, thread (x, 0) gets all of it; a kernel that sums stretches of rows of grad_y
   and grad_y xhat, and one that sums the stretches (about 48 lines). */
#define STRETCH 128 /* rows, at least, that a block sums */
#define PARTS   64  /* stretches, at most */

__device__ static float block_column_sum(float value)
{
    __shared__ float sums[WARPS][32];
    sums[threadIdx.y][threadIdx.x] = value;
    for (int half = WARPS / 2; half > 0; half /= 2) {
        __syncthreads(); /* the level above is complete */
        if (threadIdx.y < half) {
            sums[threadIdx.y][threadIdx.x] += sums[threadIdx.y + half][threadIdx.x];
        }
    }
    float sum = sums[threadIdx.y][threadIdx.x]; /* its own: of y = 0 it is the sum */
    __syncthreads();                            /* what y = 1 had is read: the next sum may write */
    return sum;
}

/** gamma_part, beta_part [gridDim.y x cols]: block (x, y) sums `stretch` rows of 32 columns. */
__global__ static void stretches_kernel(float *gamma_part, float *beta_part, const float *grad_y,
                                        const float *x, const float *mean, const float *rstd,
                                        int rows, int cols, int stretch)
{
    int col = blockIdx.x * 32 + threadIdx.x;
    size_t first = (size_t)blockIdx.y * stretch;
    size_t end = first + stretch < rows ? first + stretch : rows;
    float sum = 0.0f, dot = 0.0f;
    for (size_t row = first + threadIdx.y; col < cols && row < end; row += WARPS) {
        float g = grad_y[row * cols + col];
        sum += g;
        dot += g * ((x[row * cols + col] - mean[row]) * rstd[row]);
    }
    sum = block_column_sum(sum);
    dot = block_column_sum(dot);
    if (threadIdx.y != 0 || col >= cols) return;
    beta_part[(size_t)blockIdx.y * cols + col] = sum;
    gamma_part[(size_t)blockIdx.y * cols + col] = dot;
}

/** out[cols] = the column sums of in[parts x cols]. */
__global__ static void parts_kernel(float *out, const float *in, int parts, int cols)
{
    int col = blockIdx.x * 32 + threadIdx.x;
    float sum = 0.0f;
    for (int p = threadIdx.y; col < cols && p < parts; p += WARPS)
        sum += in[(size_t)p * cols + col];
    sum = block_column_sum(sum);
    if (threadIdx.y == 0 && col < cols) out[col] = sum;
}
/* END SOLUTION */

cudaError_t layernorm_forward(float *y, float *mean, float *rstd, const float *x,
                              const float *gamma, const float *beta, int rows, int cols, float eps,
                              cudaStream_t stream)
{
    /* SOLUTION: a warp per row, WARPS rows a block (about 3 lines). */
    if (rows == 0 || cols == 0) return cudaSuccess; /* an empty grid is a launch error */
    forward_kernel<<<(rows - 1) / WARPS + 1, dim3(32, WARPS), 0, stream>>>(y, mean, rstd, x, gamma,
                                                                           beta, rows, cols, eps);
    /* END SOLUTION */
    return cudaGetLastError();
}

cudaError_t layernorm_backward(float *grad_x, float *grad_gamma, float *grad_beta,
                               const float *grad_y, const float *x, const float *gamma,
                               const float *mean, const float *rstd, int rows, int cols,
                               cudaStream_t stream)
{
    /* SOLUTION: few rows are one stretch, whose sums are the gradients; else the sums of the
       stretches go to grad_x, which is written last (about 17 lines). */
    if (cols == 0) return cudaSuccess;
    dim3 block(32, WARPS), grid((cols - 1) / 32 + 1);
    int parts = rows <= STRETCH ? 1 : rows / STRETCH < PARTS ? rows / STRETCH : PARTS;
    int stretch = rows == 0 ? 0 : (rows - 1) / parts + 1;
    bool alone = parts == 1; /* else 2 * parts is less than rows: they fit */
    float *gamma_part = alone ? grad_gamma : grad_x;
    float *beta_part = alone ? grad_beta : grad_x + (size_t)parts * cols;
    stretches_kernel<<<dim3(grid.x, parts), block, 0, stream>>>(gamma_part, beta_part, grad_y, x,
                                                                mean, rstd, rows, cols, stretch);
    if (!alone) {
        parts_kernel<<<grid, block, 0, stream>>>(grad_gamma, gamma_part, parts, cols);
        parts_kernel<<<grid, block, 0, stream>>>(grad_beta, beta_part, parts, cols);
    }
    if (rows == 0) return cudaGetLastError();
    grad_x_kernel<<<(rows - 1) / WARPS + 1, block, 0, stream>>>(grad_x, grad_y, x, gamma, mean,
                                                                rstd, rows, cols);
    /* END SOLUTION */
    return cudaGetLastError();
}

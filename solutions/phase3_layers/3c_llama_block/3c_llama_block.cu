/*
 * 3c_llama_block.cu: RMSNorm, rotary embedding and SwiGLU, each forward and backward.
 *
 * The idea: three layers of a GPT have simpler or better successors, and a Llama block is made of
 * them. RMSNorm is 311 without its mean: one sum over a row instead of two. A rotary embedding
 * turns pairs of a query's or key's elements by an angle that grows with the position, so that
 * their product depends on the distance of two tokens alone. SwiGLU is an activation with two
 * inputs: one passes through silu and is the gate of the other.
 *
 * The cost removed: of RMSNorm, a sum and beta; of the rotary embedding, a table to learn. A thread
 * computes the angle of its pair once, in double, for several heads: an angle of 100,000 radians
 * has few fp32 digits left for its place on the circle.
 *
 * The cost left: all three move bytes and compute little. A row is loaded a second time after its
 * sum, from the caches if it is short enough; 311 keeps it in registers. The rotation and the gate
 * are elementwise, and would cost nothing in the kernels of the products before them: fusion, 404.
 */
#include "302_bias/bias.h"
#include "3c_llama_block/llama_block.h"
#include "cuda_check.h"
#ifdef BROKEN
#include "unfinished.h" /* some of it is not used yet: delete this line when all is written */
#endif
#include "not_implemented.h"

#define THREADS 256  /* of a block, at most */
#define BLOCKS  528  /* of rmsnorm_backward, at most: four on each of 132 multiprocessors */
#define SHARING 8    /* sequences in which a thread turns its pair, at least */
#define GROUPS  4096 /* of sequences, at most: the blocks along y */
#define TWO_PI  6.283185307179586

/* ---- RMSNorm --------------------------------------------------------------------------------- */

/** Threads of a block for so many columns or pairs: one each, in whole warps, but no more than
 *  THREADS. */
static int threads_for(size_t count)
{
    return count < THREADS ? (int)(count + 31) / 32 * 32 : THREADS;
}

/** As in 311: the sum over all threads of the block, for each of them. */
__device__ static float over_block(float sum)
{
    __shared__ float of_warp[THREADS / 32];
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, distance);
    __syncthreads(); /* the sums of the call before are read */
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0.0f;
    for (int warp = 0; warp < blockDim.x / 32; warp++) sum += of_warp[warp];
    return sum;
}

/** A block has one row. */
__global__ static void rmsnorm_kernel(float *y, float *inv_rms, const float *x, const float *gamma,
                                      int cols, float eps)
{
    y += (size_t)blockIdx.x * cols;
    x += (size_t)blockIdx.x * cols;
    /* SOLUTION: along the row, blockDim.x columns at a time: sum the squares; scale; one thread
       keeps inv_rms (about 7 lines). */
    float squares = 0.0f;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) squares += x[c] * x[c];
    float r = 1.0f / sqrtf(over_block(squares) / cols + eps);
    for (int c = threadIdx.x; c < cols; c += blockDim.x) y[c] = x[c] * r * gamma[c];
    if (threadIdx.x == 0) inv_rms[blockIdx.x] = r;
    /* END SOLUTION */
}

/** A block has the rows blockIdx.x, blockIdx.x + gridDim.x, ... and a thread the same columns of
 *  each of them.
 *  @param sums [gridDim.x x cols]: row b is for the sums of block b: grad_gamma over its rows */
__global__ static void rmsnorm_backward_kernel(float *grad_x, float *sums, const float *grad_y,
                                               const float *x, const float *gamma,
                                               const float *inv_rms, int rows, int cols)
{
    sums += (size_t)blockIdx.x * cols;
    for (size_t row = blockIdx.x; row < rows; row += gridDim.x) {
        size_t start = row * cols;
        /* SOLUTION: twice along the row: sum g xhat; then grad_x, and to sums what the row adds to
           grad_gamma. Nothing is in sums before the first row (about 12 lines). */
        float r = inv_rms[row], dot = 0.0f;
        for (int c = threadIdx.x; c < cols; c += blockDim.x)
            dot += grad_y[start + c] * gamma[c] * (x[start + c] * r);
        float mean = over_block(dot) / cols;
        for (int c = threadIdx.x; c < cols; c += blockDim.x) {
            float g = grad_y[start + c], xhat = x[start + c] * r; /* grad_x may be grad_y */
            grad_x[start + c] = r * (g * gamma[c] - xhat * mean);
            sums[c] = (row == blockIdx.x ? 0.0f : sums[c]) + g * xhat;
        }
        /* END SOLUTION */
    }
}

cudaError_t rmsnorm_forward(float *y, float *inv_rms, const float *x, const float *gamma, int rows,
                            int cols, float eps, cudaStream_t stream)
{
    /* SOLUTION: a block per row (about 3 lines). */
    if (rows == 0 || cols == 0) return cudaSuccess; /* an empty grid is a launch error */
    rmsnorm_kernel<<<rows, threads_for(cols), 0, stream>>>(y, inv_rms, x, gamma, cols, eps);
    /* END SOLUTION */
    return cudaGetLastError();
}

cudaError_t rmsnorm_backward(float *grad_x, float *grad_gamma, const float *grad_y, const float *x,
                             const float *gamma, const float *inv_rms, int rows, int cols,
                             cudaStream_t stream)
{
    /* SOLUTION: at most BLOCKS blocks, with a row of memory each; bias_backward adds up these rows.
       Without rows grad_gamma is zeros. Whatever fails, the memory is freed (about 11 lines). */
    if (cols == 0) return cudaSuccess;
    if (rows == 0) return cudaMemsetAsync(grad_gamma, 0, cols * sizeof *grad_gamma, stream);
    int blocks = rows < BLOCKS ? rows : BLOCKS;
    float *sums;
    CUDA_CHECK(cudaMallocAsync((void **)&sums, (size_t)blocks * cols * sizeof *sums, stream));
    rmsnorm_backward_kernel<<<blocks, threads_for(cols), 0, stream>>>(grad_x, sums, grad_y, x,
                                                                      gamma, inv_rms, rows, cols);
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess) error = bias_backward(grad_gamma, sums, blocks, cols, stream);
    cudaFreeAsync(sums, stream);
    return error;
    /* END SOLUTION */
}

/* ---- rotary embedding ------------------------------------------------------------------------ */

/** Thread p of the grid's x has pair p % half of position p / half, in every gridDim.y-th of the
 *  `count` sequences. direction: 1, or -1 to turn back. */
__global__ static void rope_kernel(float *y, const float *x, int count, int seq, int dim,
                                   int offset, float base, float direction)
{
    size_t p = (size_t)blockIdx.x * blockDim.x + threadIdx.x, half = dim / 2;
    /* SOLUTION: the angle in double, in turns: whole turns change nothing, and what is left of them
       is a small float. Then its sine and cosine, and one pair after the other (about 15 lines). */
    size_t t = p / half, i = p % half;
    if (t >= seq) return;
    double turns = ((double)offset + t) * pow((double)base, -2.0 * i / dim) / TWO_PI;
    float sine, cosine;
    sincospif(2.0f * (float)(turns - rint(turns)), &sine, &cosine);
    sine *= direction;
    for (size_t n = blockIdx.y; n < count; n += gridDim.y) {
        size_t at = (n * seq + t) * dim + i;
        float a = x[at], b = x[at + half]; /* both, before y is written: y may be x */
        y[at] = a * cosine - b * sine;
        y[at + half] = b * cosine + a * sine;
    }
    /* END SOLUTION */
}

static cudaError_t rope(float *y, const float *x, int count, int seq, int dim, int offset,
                        float base, float direction, cudaStream_t stream)
{
    /* SOLUTION: a group has SHARING sequences, or more if there would be more than GROUPS groups
       (about 7 lines). */
    if (dim % 2 != 0) return cudaErrorInvalidValue;
    if (count == 0 || seq == 0 || dim == 0) return cudaSuccess;
    size_t pairs = (size_t)seq * (dim / 2);
    int threads = threads_for(pairs), groups = (count - 1) / SHARING + 1;
    dim3 grid((unsigned)((pairs - 1) / threads + 1), groups < GROUPS ? groups : GROUPS);
    rope_kernel<<<grid, threads, 0, stream>>>(y, x, count, seq, dim, offset, base, direction);
    /* END SOLUTION */
    return cudaGetLastError();
}

cudaError_t rope_forward(float *y, const float *x, int count, int seq, int dim, int offset,
                         float base, cudaStream_t stream)
{
    return rope(y, x, count, seq, dim, offset, base, 1.0f, stream);
}

cudaError_t rope_backward(float *grad_x, const float *grad_y, int count, int seq, int dim,
                          int offset, float base, cudaStream_t stream)
{
    /* SOLUTION: a rotation is undone by the opposite one (1 line). */
    return rope(grad_x, grad_y, count, seq, dim, offset, base, -1.0f, stream);
    /* END SOLUTION */
}

/* ---- SwiGLU ---------------------------------------------------------------------------------- */

__device__ static float sigmoid(float x)
{
    return 1.0f / (1.0f + expf(-x)); /* as in 301: 1 / infinity is right */
}

__global__ static void swiglu_kernel(float *y, const float *gate, const float *up, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    /* SOLUTION: silu of the gate, times up (1 line). */
    if (i < n) y[i] = gate[i] * sigmoid(gate[i]) * up[i];
    /* END SOLUTION */
}

__global__ static void swiglu_backward_kernel(float *grad_gate, float *grad_up, const float *grad_y,
                                              const float *gate, const float *up, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    /* SOLUTION: load all three, then store both (about 4 lines). */
    if (i >= n) return;
    float g = grad_y[i], x = gate[i], u = up[i]; /* the outputs may be gate and up */
    float s = sigmoid(x);
    grad_gate[i] = g * u * s * (1.0f + x * (1.0f - s));
    grad_up[i] = g * x * s;
    /* END SOLUTION */
}

cudaError_t swiglu_forward(float *y, const float *gate, const float *up, size_t n,
                           cudaStream_t stream)
{
    /* SOLUTION: an element per thread (about 3 lines). */
    if (n == 0) return cudaSuccess;
    unsigned blocks = (unsigned)((n - 1) / THREADS + 1);
    swiglu_kernel<<<blocks, THREADS, 0, stream>>>(y, gate, up, n);
    /* END SOLUTION */
    return cudaGetLastError();
}

cudaError_t swiglu_backward(float *grad_gate, float *grad_up, const float *grad_y,
                            const float *gate, const float *up, size_t n, cudaStream_t stream)
{
    /* SOLUTION: an element per thread (about 3 lines). */
    if (n == 0) return cudaSuccess;
    unsigned blocks = (unsigned)((n - 1) / THREADS + 1);
    swiglu_backward_kernel<<<blocks, THREADS, 0, stream>>>(grad_gate, grad_up, grad_y, gate, up, n);
    /* END SOLUTION */
    return cudaGetLastError();
}

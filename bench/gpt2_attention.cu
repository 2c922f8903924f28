/*
 * gpt2_attention.cu: causal attention as 313's, on tensor cores with fp32's accuracy, for 508's
 * network at GPT-2's size.
 *
 * The lines are 313's, and so is the way in which matrices lie: 212's operands, as they are or
 * transposed. Three things differ. A product is three of TF32, as in 4g; it sums 32 terms on the
 * tensor core, which cuts off, and adds the result in fp32, which rounds. Scores above the diagonal
 * are not computed: their tiles are left out, and a sum over keys or queries begins or ends at the
 * diagonal. And the squares are there for TOGETHER sequences at a time.
 *
 * What it costs: the squares go to memory and back, which 409 avoids, but 409 has no backward pass.
 */
#include "../solutions/phase2_cuda_basics/212_matmul_transposed/212_tile.cuh"
#include "cuda_check.h"
#include "layers.h"
#include "tensor_core.h"
#include <stdint.h>

#define BM       64  /* BM x BM elements of c per block */
#define DEPTH    32  /* of k at a time */
#define THREADS  128 /* 4 warps, of 32 x 32 elements each */
#define EACH     (BM * DEPTH / THREADS)
#define TOGETHER 2

/** Of what a product needs no number above the diagonal: c, a, or a before it was turned. */
typedef enum triangle { TRIANGLE_C, TRIANGLE_A, TRIANGLE_A_TURNED } triangle;

/* ---- a product ------------------------------------------------------------------------------- */

/** x = hi + lo, hi of 11 bits */
__device__ __forceinline__ static void split(uint32_t &hi, uint32_t &lo, float x)
{
    hi = (__float_as_uint(x) + 0x1000) & ~UINT32_C(0x1fff);
    lo = __float_as_uint(x - __uint_as_float(hi));
}

/** Which elements of a tile of HEIGHT x WIDTH a thread moves: a column, or a piece of one, of what
 *  its operand has side by side. So lanes walk along the stride that is 1. */
template <int HEIGHT, int WIDTH> struct share {
    bool turned;
    int row, col; /* of the first */
    int apart;    /* rows, or turned columns, to the next */

    __device__ __forceinline__ explicit share(const operand &x)
    {
        turned = x.col != 1;
        const int length = turned ? HEIGHT : WIDTH;
        const int along = threadIdx.x % length, across = threadIdx.x / length;
        row = turned ? along : across, col = turned ? across : along, apart = THREADS / length;
    }

    __device__ __forceinline__ void fetch(float to[EACH], const operand &x, unsigned top,
                                          unsigned left) const
    {
        const int rows = (int)(x.rows - top) - row, cols = (int)(x.cols - left) - col; /* left */
        const int there = rows <= 0 || cols <= 0 ? 0 : turned ? cols : rows;
        const float *at = x.data + (top + row) * x.row + (left + col) * x.col;
        const size_t step = apart * (turned ? x.col : x.row);
#pragma unroll
        for (int e = 0; e < EACH; e++, at += step) to[e] = e * apart < there ? *at : 0.0f;
    }

    template <int PITCH>
    __device__ __forceinline__ void store(float (*tile)[PITCH], const float from[EACH]) const
    {
        float *at = &tile[row][col];
        const int step = apart * (turned ? 1 : PITCH);
#pragma unroll
        for (int e = 0; e < EACH; e++) at[e * step] = from[e];
    }
};

/** 4 or 8 floats more a row: so a warp's 8 rows of 4 columns, or 4 of 8, meet in no bank. */
#define A_PITCH (DEPTH + 4)
#define B_PITCH (BM + 8)

/** part += 32 x 8 of a by 8 x 32 of b, the small products first */
__device__ __forceinline__ static void multiply(float part[2][4][4], const float (*a)[A_PITCH],
                                                const float (*b)[B_PITCH])
{
    const int group = threadIdx.x % 32 / 4, rest = threadIdx.x % 4;
    uint32_t a_hi[2][4], a_lo[2][4], b_hi[4][2], b_lo[4][2];
#pragma unroll
    for (int i = 0; i < 8; i++)
        split(a_hi[i / 4][i % 4], a_lo[i / 4][i % 4],
              a[i / 4 * 16 + i % 2 * 8 + group][i % 4 / 2 * 4 + rest]);
#pragma unroll
    for (int j = 0; j < 8; j++)
        split(b_hi[j / 2][j % 2], b_lo[j / 2][j % 2], b[j % 2 * 4 + rest][j / 2 * 8 + group]);
#pragma unroll
    for (int ij = 0; ij < 8; ij++) mma_tf32(part[ij / 4][ij % 4], a_lo[ij / 4], b_hi[ij % 4]);
#pragma unroll
    for (int ij = 0; ij < 8; ij++) mma_tf32(part[ij / 4][ij % 4], a_hi[ij / 4], b_lo[ij % 4]);
#pragma unroll
    for (int ij = 0; ij < 8; ij++) mma_tf32(part[ij / 4][ij % 4], a_hi[ij / 4], b_hi[ij % 4]);
}

/** c = factor a b of matrix blockIdx.y; c is a stack. */
__global__ static void __launch_bounds__(THREADS)
    product_kernel(float *c, operand a, operand b, triangle lower, float factor)
{
    __shared__ float a_tile[BM][A_PITCH], b_tile[DEPTH][B_PITCH];
    const unsigned across = (b.cols - 1) / BM + 1;
    const unsigned top = blockIdx.x / across * BM, left = blockIdx.x % across * BM;
    const unsigned first = lower == TRIANGLE_A_TURNED ? top : 0;
    const unsigned end = lower == TRIANGLE_A ? min(a.cols, top + BM) : a.cols;
    const int warp = threadIdx.x / 32, row = warp / 2 * 32, col = warp % 2 * 32;
    float sum[2][4][4] = {}, a_next[EACH], b_next[EACH];
    if (lower == TRIANGLE_C && left > top) return;
    a.data += blockIdx.y * a.batch, b.data += blockIdx.y * b.batch;

    const share<BM, DEPTH> a_share(a);
    const share<DEPTH, BM> b_share(b);
    a_share.fetch(a_next, a, top, first);
    b_share.fetch(b_next, b, first, left);
    for (unsigned start = first; start < end; start += DEPTH) {
        float part[2][4][4] = {};
        a_share.store(a_tile, a_next);
        b_share.store(b_tile, b_next);
        __syncthreads(); /* both tiles are complete */
        if (start + DEPTH < end) {
            a_share.fetch(a_next, a, top, start + DEPTH);
            b_share.fetch(b_next, b, start + DEPTH, left);
        }
#pragma unroll
        for (int k = 0; k < DEPTH; k += 8)
            multiply(part, (const float(*)[A_PITCH]) & a_tile[row][k],
                     (const float(*)[B_PITCH]) & b_tile[k][col]);
#pragma unroll
        for (int i = 0; i < 32; i++) (&sum[0][0][0])[i] += (&part[0][0][0])[i];
        __syncthreads(); /* all threads have read before the next tiles overwrite them */
    }
    c += (size_t)blockIdx.y * a.rows * b.cols;
#pragma unroll
    for (int i = 0; i < 32; i++) { /* two rows of two columns a lane, of each 16 x 8 */
        const unsigned r = top + row + i / 16 * 16 + i % 4 / 2 * 8 + threadIdx.x % 32 / 4;
        const unsigned q = left + col + i % 16 / 4 * 8 + threadIdx.x % 4 * 2 + i % 2;
        if (r < a.rows && q < b.cols) c[(size_t)r * b.cols + q] = factor * (&sum[0][0][0])[i];
    }
}

static cudaError_t product(float *c, operand a, operand b, triangle lower, unsigned heads,
                           float factor, cudaStream_t stream)
{
    const unsigned tiles = ((a.rows - 1) / BM + 1) * ((b.cols - 1) / BM + 1);
    product_kernel<<<dim3(tiles, heads), THREADS, 0, stream>>>(c, a, b, lower, factor);
    return cudaGetLastError();
}

static operand stack(const float *data, int rows, int cols)
{
    operand x = row_major(data, rows, cols);
    x.batch = (size_t)rows * cols;
    return x;
}

static operand transposed(operand x)
{
    operand turned = {x.data, x.cols, x.rows, x.col, x.row, x.batch};
    return turned;
}

/* ---- softmax, a warp a row of a head, up to the diagonal's tile; behind that nobody reads
 * -------- */

#define WARPS 8

__device__ static float warp_sum(float value)
{
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    return value;
}

__device__ static float warp_max(float value)
{
    for (int distance = 16; distance > 0; distance /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, distance));
    return value;
}

__global__ static void softmax_kernel(float *p, size_t rows, int seq)
{
    const size_t row = (size_t)blockIdx.x * WARPS + threadIdx.y;
    if (row >= rows) return;
    const int i = (int)(row % seq), end = min(seq, (i / BM + 1) * BM);
    float high = -INFINITY, sum = 0.0f;
    p += row * seq;
    for (int j = threadIdx.x; j <= i; j += 32) high = fmaxf(high, p[j]);
    high = warp_max(high);
    for (int j = threadIdx.x; j <= i; j += 32) sum += expf(p[j] - high);
    sum = warp_sum(sum);
    for (int j = threadIdx.x; j < end; j += 32) p[j] = j <= i ? expf(p[j] - high) / sum : 0.0f;
}

__global__ static void softmax_backward_kernel(float *grad_p, const float *p, size_t rows, int seq)
{
    const size_t row = (size_t)blockIdx.x * WARPS + threadIdx.y;
    if (row >= rows) return;
    const int i = (int)(row % seq), end = min(seq, (i / BM + 1) * BM);
    float dot = 0.0f;
    p += row * seq, grad_p += row * seq;
    for (int j = threadIdx.x; j <= i; j += 32) dot += p[j] * grad_p[j];
    dot = warp_sum(dot);
    for (int j = threadIdx.x; j < end; j += 32) grad_p[j] = p[j] * (grad_p[j] - dot);
}

/* ---- attention ------------------------------------------------------------------------------- */

/* All arrays are those of `heads` heads, one after the other. */
typedef struct some {
    int heads, seq, dim;
    float scale;
    float *p, *grad_p; /* [heads x seq x seq] */
    cudaStream_t stream;
} some;

static dim3 softmax_blocks(const some *s)
{
    return dim3((unsigned)(((size_t)s->heads * s->seq - 1) / WARPS + 1));
}

static cudaError_t probabilities(const some *s, const float *q, const float *k)
{
    CUDA_CHECK(product(s->p, stack(q, s->seq, s->dim), transposed(stack(k, s->seq, s->dim)),
                       TRIANGLE_C, s->heads, s->scale, s->stream));
    softmax_kernel<<<softmax_blocks(s), dim3(32, WARPS), 0, s->stream>>>(
        s->p, (size_t)s->heads * s->seq, s->seq);
    return cudaGetLastError();
}

static cudaError_t forward(const some *s, float *out, const float *q, const float *k,
                           const float *v)
{
    CUDA_CHECK(probabilities(s, q, k));
    return product(out, stack(s->p, s->seq, s->seq), stack(v, s->seq, s->dim), TRIANGLE_A, s->heads,
                   1.0f, s->stream);
}

/* @param grad of q, of k and of v */
static cudaError_t backward(const some *s, float *const grad[3], const float *grad_out,
                            const float *q, const float *k, const float *v)
{
    const operand queries = stack(q, s->seq, s->dim), keys = stack(k, s->seq, s->dim);
    const operand values = stack(v, s->seq, s->dim), grads = stack(grad_out, s->seq, s->dim);
    const operand p = stack(s->p, s->seq, s->seq), grad_p = stack(s->grad_p, s->seq, s->seq);
    CUDA_CHECK(probabilities(s, q, k));
    CUDA_CHECK(
        product(grad[2], transposed(p), grads, TRIANGLE_A_TURNED, s->heads, 1.0f, s->stream));
    CUDA_CHECK(
        product(s->grad_p, grads, transposed(values), TRIANGLE_C, s->heads, 1.0f, s->stream));
    softmax_backward_kernel<<<softmax_blocks(s), dim3(32, WARPS), 0, s->stream>>>(
        s->grad_p, s->p, (size_t)s->heads * s->seq, s->seq);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(product(grad[0], grad_p, keys, TRIANGLE_A, s->heads, s->scale, s->stream));
    return product(grad[1], transposed(grad_p), queries, TRIANGLE_A_TURNED, s->heads, s->scale,
                   s->stream);
}

/* The squares that `heads` heads need, and the heads of sequences from `first` on. */
static cudaError_t allocate(some *s, int heads, int seq, int dim, float scale, int squares,
                            cudaStream_t stream)
{
    const size_t floats = (size_t)TOGETHER * heads * seq * seq;
    *s = some{0, seq, dim, scale, NULL, NULL, stream};
    CUDA_CHECK(cudaMallocAsync((void **)&s->p, squares * floats * sizeof *s->p, stream));
    s->grad_p = s->p + (squares - 1) * floats;
    return cudaSuccess;
}

static int heads_from(int first, int batch, int heads)
{
    return (batch - first < TOGETHER ? batch - first : TOGETHER) * heads;
}

cudaError_t attention_naive(float *out, const float *q, const float *k, const float *v, int batch,
                            int heads, int seq, int dim, int causal, float scale,
                            cudaStream_t stream)
{
    some s;
    if (!causal) return cudaErrorInvalidValue; /* a GPT has no other */
    CUDA_CHECK(allocate(&s, heads, seq, dim, scale, 1, stream));
    cudaError_t error = cudaSuccess;
    for (int first = 0; first < batch && !error; first += TOGETHER) {
        const size_t at = (size_t)first * heads * seq * dim;
        s.heads = heads_from(first, batch, heads);
        error = forward(&s, out + at, q + at, k + at, v + at);
    }
    CUDA_CHECK(cudaFreeAsync(s.p, stream));
    return error;
}

cudaError_t attention_naive_backward(float *grad_q, float *grad_k, float *grad_v,
                                     const float *grad_out, const float *q, const float *k,
                                     const float *v, int batch, int heads, int seq, int dim,
                                     int causal, float scale, cudaStream_t stream)
{
    some s;
    if (!causal) return cudaErrorInvalidValue;
    CUDA_CHECK(allocate(&s, heads, seq, dim, scale, 2, stream));
    cudaError_t error = cudaSuccess;
    for (int first = 0; first < batch && !error; first += TOGETHER) {
        const size_t at = (size_t)first * heads * seq * dim;
        float *const grad[] = {grad_q + at, grad_k + at, grad_v + at};
        s.heads = heads_from(first, batch, heads);
        error = backward(&s, grad, grad_out + at, q + at, k + at, v + at);
    }
    CUDA_CHECK(cudaFreeAsync(s.p, stream));
    return error;
}

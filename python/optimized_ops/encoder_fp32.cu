/*
 * encoder_fp32.cu: a layer of an encoder in fp32: products by 4g, attention likewise by three
 * products of TF32, whose accuracy is fp32's.
 *
 * 4g multiplies rows by columns, a b, and no a^T b: the backward pass turns one operand of each
 * product first (416). What follows a product, bias, GELU, residual, is one kernel more.
 */
#include "301_activations/activations.h"
#include "302_bias/bias.h"
#include "311_layernorm/layernorm.h"
#include "312_embedding/embedding.h"
#include "416_transpose_tma/transpose_tma.h"
#include "4g_matmul_3xtf32/matmul_3xtf32.h"
#include "attention_3xtf32.cuh"
#include "encoder.cuh"

#define THREADS 256

__device__ __forceinline__ static float gelu(float x)
{
    return 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
}

/** sums [rows x cols] += bias [cols], and residual; gelu receives theirs too. What is not wanted is
 *  NULL. A thread has four neighbours. */
__global__ static void finish_kernel(float *to, float *gelu_to, const float *sums,
                                     const float *bias, const float *residual, size_t fours,
                                     int cols)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= fours) return;
    float4 x = ((const float4 *)sums)[i];
    const float4 b = *(const float4 *)&bias[i * 4 % cols];
    x.x += b.x, x.y += b.y, x.z += b.z, x.w += b.w;
    if (residual) {
        const float4 r = ((const float4 *)residual)[i];
        x.x += r.x, x.y += r.y, x.z += r.z, x.w += r.w;
    }
    ((float4 *)to)[i] = x;
    if (gelu_to) ((float4 *)gelu_to)[i] = make_float4(gelu(x.x), gelu(x.y), gelu(x.z), gelu(x.w));
}

/** to [n x outputs] = x [n x inputs] w + bias + residual. */
static cudaError_t linear(float *to, float *gelu_to, const float *x, const void *w,
                          const float *bias, const float *residual, int n, int inputs, int outputs,
                          cudaStream_t stream)
{
    const size_t fours = (size_t)n * outputs / 4;
    CUDA_CHECK(matmul_3xtf32(to, x, (const float *)w, n, outputs, inputs, stream));
    finish_kernel<<<(unsigned)((fours - 1) / THREADS + 1), THREADS, 0, stream>>>(
        to, gelu_to, to, bias, residual, fours, outputs);
    return cudaGetLastError();
}

/**
 * The side stream has what nothing waits for before the end: gradients of parameters. A matrix of
 * these is a few tiles of 4g with a long k, too few for the device; meanwhile the gradients of x,
 * which wait for each other, use the rest.
 */
typedef struct two_streams {
    cudaStream_t main, side;
    cudaEvent_t event;
} two_streams;

static cudaError_t open_side(two_streams *s, cudaStream_t stream)
{
    static two_streams of_device[64];
    int device;
    CUDA_CHECK(cudaGetDevice(&device));
    two_streams *made = &of_device[device % 64];
    if (made->side == NULL) {
        CUDA_CHECK(cudaEventCreateWithFlags(&made->event, cudaEventDisableTiming));
        CUDA_CHECK(cudaStreamCreateWithFlags(&made->side, cudaStreamNonBlocking));
    }
    *s = *made;
    s->main = stream;
    return cudaSuccess;
}

/** What `second` is given from now on waits for what `first` was given. */
static cudaError_t follow(const two_streams *s, cudaStream_t first, cudaStream_t second)
{
    CUDA_CHECK(cudaEventRecord(s->event, first));
    return cudaStreamWaitEvent(second, s->event, 0);
}

/** Gradients of linear: grad_x [n x inputs] on the main stream, the others on the side.
 *  @param turned room of the side for [inputs x n], @param matrix of main for [outputs x inputs] */
static cudaError_t linear_back(float *grad_x, void *grad_w, float *grad_bias, const float *grad_y,
                               const float *x, const void *w, int n, int inputs, int outputs,
                               float *turned, float *matrix, const two_streams *s)
{
    CUDA_CHECK(follow(s, s->main, s->side));
    CUDA_CHECK(bias_backward(grad_bias, grad_y, n, outputs, s->side));
    CUDA_CHECK(transpose_tma(turned, x, n, inputs, s->side));
    CUDA_CHECK(matmul_3xtf32((float *)grad_w, turned, grad_y, inputs, outputs, n, s->side));
    CUDA_CHECK(transpose_tma(matrix, (const float *)w, inputs, outputs, s->main));
    return matmul_3xtf32(grad_x, grad_y, matrix, n, inputs, outputs, s->main);
}

static attention_shape shape_of(encoder_shape s)
{
    return {s.batch, s.heads, s.seq, 0.125f};
}

/** Part 0, 1 or 2 of rows [n x 3C]. */
static attention_rows part(float *rows, int i, int C)
{
    return {rows + i * C, 3 * C};
}

cudaError_t encoder_forward_fp32(float *y, void *kept, void *room, const float *x,
                                 const encoder_parameters *p, encoder_shape s, cudaStream_t stream)
{
    const int n = s.batch * s.seq, C = s.heads * 64;
    const float *v = p->vectors;
    encoder_kept<float> k;
    lay_out(&k, kept, s);
    CUDA_CHECK(layernorm_forward(k.ln1, k.mean1, k.rstd1, x, v + LN1_W * C, v + LN1_B * C, n, C,
                                 EPS, stream));
    CUDA_CHECK(linear(k.qkv, NULL, k.ln1, p->qkv, v + QKV_B * C, NULL, n, C, 3 * C, stream));
    CUDA_CHECK(attention_forward({k.attention, C}, k.lse, part(k.qkv, 0, C), part(k.qkv, 1, C),
                                 part(k.qkv, 2, C), shape_of(s), stream));
    CUDA_CHECK(linear(k.middle, NULL, k.attention, p->out, v + OUT_B * C, x, n, C, C, stream));

    CUDA_CHECK(layernorm_forward(k.ln2, k.mean2, k.rstd2, k.middle, v + LN2_W * C, v + LN2_B * C, n,
                                 C, EPS, stream));
    CUDA_CHECK(linear(k.up, k.gelu, k.ln2, p->up, v + UP_B * C, NULL, n, C, 4 * C, stream));
    return linear(y, NULL, k.gelu, p->down, v + DOWN_B * C, k.middle, n, 4 * C, C, stream);
}

cudaError_t encoder_backward_fp32(float *grad_x, const encoder_parameters *grads, void *room,
                                  const float *grad_y, const float *x, const void *kept,
                                  const encoder_parameters *p, encoder_shape s, cudaStream_t stream)
{
    const int n = s.batch * s.seq, C = s.heads * 64;
    const size_t size = (size_t)n * C;
    const float *v = p->vectors;
    float *of = grads->vectors;
    encoder_kept<float> k;
    encoder_room<float> r;
    two_streams streams;
    lay_out(&k, (void *)kept, s);
    lay_out(&r, room, s);
    CUDA_CHECK(open_side(&streams, stream));
    CUDA_CHECK(linear_back(r.wide, grads->down, of + DOWN_B * C, grad_y, k.gelu, p->down, n, 4 * C,
                           C, r.rows, r.matrix, &streams));
    CUDA_CHECK(gelu_backward(r.wide, r.wide, k.up, 4 * size, stream));
    CUDA_CHECK(linear_back(r.narrow, grads->up, of + UP_B * C, r.wide, k.ln2, p->up, n, C, 4 * C,
                           r.rows, r.matrix, &streams));
    CUDA_CHECK(layernorm_backward(r.grad, of + LN2_W * C, of + LN2_B * C, r.narrow, k.middle,
                                  v + LN2_W * C, k.mean2, k.rstd2, n, C, stream));
    CUDA_CHECK(residual_forward(r.grad, r.grad, grad_y, size, stream));

    CUDA_CHECK(linear_back(r.narrow, grads->out, of + OUT_B * C, r.grad, k.attention, p->out, n, C,
                           C, r.rows, r.matrix, &streams));
    CUDA_CHECK(attention_backward(part(r.grads, 0, C), part(r.grads, 1, C), part(r.grads, 2, C),
                                  (row_terms *)r.parts, {r.narrow, C}, {k.attention, C}, k.lse,
                                  part(k.qkv, 0, C), part(k.qkv, 1, C), part(k.qkv, 2, C),
                                  shape_of(s), stream));
    CUDA_CHECK(linear_back(r.narrow, grads->qkv, of + QKV_B * C, r.grads, k.ln1, p->qkv, n, C,
                           3 * C, r.rows, r.matrix, &streams));
    CUDA_CHECK(layernorm_backward(grad_x, of + LN1_W * C, of + LN1_B * C, r.narrow, x,
                                  v + LN1_W * C, k.mean1, k.rstd1, n, C, stream));
    CUDA_CHECK(residual_forward(grad_x, grad_x, r.grad, size, stream));
    return follow(&streams, streams.side, stream);
}

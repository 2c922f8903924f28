/*
 * encoder_bf16.cu: a layer of an encoder in bf16: products and normalization of 510, attention of
 * 4i and 4d, which is not causal here. Vectors and all sums are fp32. And the entries for both
 * precisions.
 */
#include "4d_flash_attention2_backward/flash_attention2_backward.h"
#include "4i_flash_attention3/flash_attention3.h"
#include "510_hopper.cuh"
#include "510_tokens.cuh"
#include "encoder.cuh"

#include <limits.h>

typedef encoder_parameters parameters;

/** What the device has, asked once. */
static cudaError_t ask_device(product_room *room)
{
    int device, bytes;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&room->processors, cudaDevAttrMultiProcessorCount, device));
    CUDA_CHECK(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    room->hopper = hopper_multiprocessors();
    room->large = bytes >= 192 * 1024; /* four stages of 48 KB */
    return cudaSuccess;
}

/** to [n x outputs] = x [n x inputs] w + bias: what multiply is told. */
static product linear(bf16 *to, const bf16 *x, const void *w, const float *bias, int n, int inputs,
                      int outputs)
{
    product p = {};
    p.kind = NN, p.m = n, p.n = outputs, p.k = inputs;
    p.a = x, p.a_pitch = inputs, p.b = (const bf16 *)w, p.b_pitch = outputs;
    p.bias = bias, p.out = to, p.out_pitch = outputs;
    return p;
}

/** Likewise grad_x [n x inputs] = grad_y [n x outputs] w^T. */
static product linear_inputs(bf16 *grad_x, const bf16 *grad_y, const void *w, int n, int inputs,
                             int outputs)
{
    product p = {};
    p.kind = NT, p.m = n, p.n = inputs, p.k = outputs;
    p.a = grad_y, p.a_pitch = outputs, p.b = (const bf16 *)w, p.b_pitch = outputs;
    p.out = grad_x, p.out_pitch = inputs;
    return p;
}

/** The gradients of w and bias. */
static cudaError_t linear_weights(void *grad_w, float *grad_bias, const bf16 *x, const bf16 *grad_y,
                                  int n, int inputs, int outputs, const product_room *room,
                                  cudaStream_t stream)
{
    product p = {};
    p.kind = TN, p.m = inputs, p.n = outputs, p.k = n;
    p.a = x, p.a_pitch = inputs, p.b = grad_y, p.b_pitch = outputs;
    p.out = (bf16 *)grad_w, p.out_pitch = outputs;
    CUDA_CHECK(
        column_sums(NULL, grad_bias, grad_y, NULL, NULL, NULL, n, outputs, room->parts, stream));
    return multiply(&p, room, stream);
}

static cudaError_t by_heads(bool split, bf16 *to, const bf16 *from, int parts, encoder_shape s,
                            cudaStream_t stream)
{
    return move_heads(split, to, from, parts, s.batch, s.seq, s.heads, 64, stream);
}

static cudaError_t forward(bf16 *y, void *kept, void *room, const bf16 *x, const parameters *p,
                           encoder_shape s, cudaStream_t stream)
{
    const int n = s.batch * s.seq, C = s.heads * 64;
    const size_t size = (size_t)n * C;
    const float *v = p->vectors;
    encoder_kept<bf16> k;
    encoder_room<bf16> r;
    product_room of = {};
    lay_out(&k, kept, s);
    lay_out(&r, room, s);
    CUDA_CHECK(ask_device(&of));
    of.parts = r.parts, of.parts_floats = r.parts_floats;

    CUDA_CHECK(
        layernorm(k.ln1, k.mean1, k.rstd1, x, v + LN1_W * C, v + LN1_B * C, n, C, EPS, stream));
    const product qkv = linear(r.rows, k.ln1, p->qkv, v + QKV_B * C, n, C, 3 * C);
    CUDA_CHECK(multiply(&qkv, &of, stream));
    CUDA_CHECK(by_heads(true, k.qkv, r.rows, 3, s, stream));
    CUDA_CHECK(attention_flash3(k.attention, k.lse, k.qkv, k.qkv + size, k.qkv + 2 * size, s.batch,
                                s.heads, s.seq, 64, 0, 0.125f, stream));
    CUDA_CHECK(by_heads(false, r.narrow, k.attention, 1, s, stream));
    product out = linear(k.middle, r.narrow, p->out, v + OUT_B * C, n, C, C);
    out.residual = x;
    CUDA_CHECK(multiply(&out, &of, stream));

    CUDA_CHECK(layernorm(k.ln2, k.mean2, k.rstd2, k.middle, v + LN2_W * C, v + LN2_B * C, n, C, EPS,
                         stream));
    product up = linear(k.up, k.ln2, p->up, v + UP_B * C, n, C, 4 * C);
    up.gelu = k.gelu;
    CUDA_CHECK(multiply(&up, &of, stream));
    product down = linear(y, k.gelu, p->down, v + DOWN_B * C, n, 4 * C, C);
    down.residual = k.middle;
    return multiply(&down, &of, stream);
}

static cudaError_t backward(bf16 *grad_x, const parameters *grads, void *room, const bf16 *grad_y,
                            const bf16 *x, const void *kept, const parameters *p, encoder_shape s,
                            cudaStream_t stream)
{
    const int n = s.batch * s.seq, C = s.heads * 64;
    const size_t size = (size_t)n * C;
    const float *v = p->vectors;
    float *g = grads->vectors;
    encoder_kept<bf16> k;
    encoder_room<bf16> r;
    product_room of = {};
    lay_out(&k, (void *)kept, s);
    lay_out(&r, room, s);
    CUDA_CHECK(ask_device(&of));
    of.parts = r.parts, of.parts_floats = r.parts_floats;
    bf16 *narrow = r.narrow, *grad = grad_x, *by_head = r.wide + size;

    CUDA_CHECK(
        linear_weights(grads->down, g + DOWN_B * C, k.gelu, grad_y, n, 4 * C, C, &of, stream));
    product down = linear_inputs(r.wide, grad_y, p->down, n, 4 * C, C);
    down.slope_of = k.up;
    CUDA_CHECK(multiply(&down, &of, stream));
    CUDA_CHECK(linear_weights(grads->up, g + UP_B * C, k.ln2, r.wide, n, C, 4 * C, &of, stream));
    const product up = linear_inputs(narrow, r.wide, p->up, n, C, 4 * C);
    CUDA_CHECK(multiply(&up, &of, stream));
    CUDA_CHECK(
        cudaMemcpyAsync(grad, grad_y, size * sizeof(bf16), cudaMemcpyDeviceToDevice, stream));
    CUDA_CHECK(layernorm_back(grad, g + LN2_W * C, g + LN2_B * C, narrow, k.middle, v + LN2_W * C,
                              k.mean2, k.rstd2, n, C, true, r.parts, stream));

    CUDA_CHECK(by_heads(false, narrow, k.attention, 1, s, stream)); /* what `out` has read */
    CUDA_CHECK(linear_weights(grads->out, g + OUT_B * C, narrow, grad, n, C, C, &of, stream));
    const product out = linear_inputs(narrow, grad, p->out, n, C, C);
    CUDA_CHECK(multiply(&out, &of, stream));
    CUDA_CHECK(by_heads(true, r.wide, narrow, 1, s, stream));
    CUDA_CHECK(attention_flash2_backward(by_head, by_head + size, by_head + 2 * size, r.wide,
                                         k.attention, k.lse, k.qkv, k.qkv + size, k.qkv + 2 * size,
                                         s.batch, s.heads, s.seq, 64, 0, 0.125f, stream));
    CUDA_CHECK(by_heads(false, r.rows, by_head, 3, s, stream));
    CUDA_CHECK(linear_weights(grads->qkv, g + QKV_B * C, k.ln1, r.rows, n, C, 3 * C, &of, stream));
    const product qkv = linear_inputs(narrow, r.rows, p->qkv, n, C, 3 * C);
    CUDA_CHECK(multiply(&qkv, &of, stream));
    return layernorm_back(grad, g + LN1_W * C, g + LN1_B * C, narrow, x, v + LN1_W * C, k.mean1,
                          k.rstd1, n, C, true, r.parts, stream);
}

/* ---- both precisions ------------------------------------------------------------------------- */

static bool is_valid(encoder_shape s)
{
    return s.batch > 0 && s.seq > 0 && s.heads > 0 && s.batch <= INT_MAX / 256 / s.heads / s.seq;
}

size_t optimized_encoder_kept(encoder_shape s)
{
    encoder_kept<bf16> halves;
    encoder_kept<float> floats;
    return s.bf16 ? lay_out(&halves, NULL, s) : lay_out(&floats, NULL, s);
}

size_t optimized_encoder_room(encoder_shape s)
{
    encoder_room<bf16> halves;
    encoder_room<float> floats;
    return s.bf16 ? lay_out(&halves, NULL, s) : lay_out(&floats, NULL, s);
}

cudaError_t optimized_encoder_forward(void *y, void *kept, void *room, const void *x,
                                      const encoder_parameters *p, encoder_shape shape,
                                      cudaStream_t stream)
{
    if (!is_valid(shape)) return cudaErrorInvalidValue;
    return shape.bf16
               ? forward((bf16 *)y, kept, room, (const bf16 *)x, p, shape, stream)
               : encoder_forward_fp32((float *)y, kept, room, (const float *)x, p, shape, stream);
}

cudaError_t optimized_encoder_backward(void *grad_x, const encoder_parameters *grads, void *room,
                                       const void *grad_y, const void *x, const void *kept,
                                       const encoder_parameters *p, encoder_shape shape,
                                       cudaStream_t stream)
{
    if (!is_valid(shape)) return cudaErrorInvalidValue;
    return shape.bf16 ? backward((bf16 *)grad_x, grads, room, (const bf16 *)grad_y, (const bf16 *)x,
                                 kept, p, shape, stream)
                      : encoder_backward_fp32((float *)grad_x, grads, room, (const float *)grad_y,
                                              (const float *)x, kept, p, shape, stream);
}

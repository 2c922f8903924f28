/*
 * encoder_bf16.cu: a layer of an encoder in bf16: products and normalization of 510, attention of
 * 4i and 4j, which is not causal here. Vectors and all sums are fp32. And the entries for both
 * precisions.
 *
 * As in 510, products read and write heads where they can (by_heads); elsewhere heads are moved to
 * rows and back.
 */
#include "4i_flash_attention3/flash_attention3.h"
#include "4j_flash_attention3_backward/flash_attention3_backward.h"
#include "510_hopper.cuh"
#include "510_tokens.cuh"
#include "encoder.cuh"

#include <limits.h>

typedef encoder_parameters parameters;

/** A pass over a layer. */
typedef struct pass {
    encoder_shape shape;
    int n, C;           /* tokens, width */
    product_room room;  /* what products need of the device */
    head_layout layout; /* of what is by heads */
    bool by_heads;      /* do products read and write heads? */
    cudaStream_t stream;
} pass;

static cudaError_t begin(pass *l, encoder_shape s, const encoder_room<bf16> *r, cudaStream_t stream)
{
    int device, bytes;
    *l = {s, s.batch * s.seq, s.heads * 64, {}, {s.batch, s.seq, s.heads, 64}, false, stream};
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&l->room.processors, cudaDevAttrMultiProcessorCount, device));
    CUDA_CHECK(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    l->room.hopper = h_multiprocessors();
    l->room.large = bytes >= 192 * 1024; /* four stages of 48 KB */
    l->room.parts = r->parts, l->room.parts_floats = r->parts_floats;
    l->by_heads = takes_heads(&l->room, s.seq);
    return cudaSuccess;
}

/** to [n x outputs] = x [n x inputs] w + bias: what multiply is told. */
static product linear(const pass *l, bf16 *to, const bf16 *x, const void *w, const float *bias,
                      int inputs, int outputs)
{
    product p = {};
    p.kind = NN, p.m = l->n, p.n = outputs, p.k = inputs;
    p.a = x, p.a_pitch = inputs, p.b = (const bf16 *)w, p.b_pitch = outputs;
    p.bias = bias, p.out = to, p.out_pitch = outputs, p.by = l->layout;
    return p;
}

/** Likewise grad_x [n x inputs] = grad_y [n x outputs] w^T. */
static product linear_inputs(const pass *l, bf16 *grad_x, const bf16 *grad_y, const void *w,
                             int inputs, int outputs)
{
    product p = {};
    p.kind = NT, p.m = l->n, p.n = inputs, p.k = outputs;
    p.a = grad_y, p.a_pitch = outputs, p.b = (const bf16 *)w, p.b_pitch = outputs;
    p.out = grad_x, p.out_pitch = inputs, p.by = l->layout;
    return p;
}

/** And grad_w [inputs x outputs] = x^T grad_y. */
static product linear_weights(const pass *l, void *grad_w, const bf16 *x, const bf16 *grad_y,
                              int inputs, int outputs)
{
    product p = {};
    p.kind = TN, p.m = inputs, p.n = outputs, p.k = l->n;
    p.a = x, p.a_pitch = inputs, p.b = grad_y, p.b_pitch = outputs;
    p.out = (bf16 *)grad_w, p.out_pitch = outputs, p.by = l->layout;
    return p;
}

static cudaError_t run(const pass *l, const product *p)
{
    return multiply(p, &l->room, l->stream);
}

/** p to heads [parts x batch x heads x seq x 64], by p->out where products do not write these. */
static cudaError_t run_to_heads(const pass *l, bf16 *heads, product p, int parts)
{
    const encoder_shape s = l->shape;
    bf16 *rows = p.out;
    p.out_heads = l->by_heads;
    if (l->by_heads) p.out = heads;
    CUDA_CHECK(run(l, &p));
    return l->by_heads
               ? cudaSuccess
               : move_heads(true, heads, rows, parts, s.batch, s.seq, s.heads, 64, l->stream);
}

/** Heads as an operand: themselves, or moved to rows. */
static cudaError_t from_heads(const pass *l, const bf16 **operand, bf16 *rows, const bf16 *heads,
                              int parts)
{
    const encoder_shape s = l->shape;
    *operand = l->by_heads ? heads : rows;
    return l->by_heads
               ? cudaSuccess
               : move_heads(false, rows, heads, parts, s.batch, s.seq, s.heads, 64, l->stream);
}

static cudaError_t forward(bf16 *y, void *kept, void *room, const bf16 *x, const parameters *p,
                           encoder_shape s, cudaStream_t stream)
{
    encoder_kept<bf16> k;
    encoder_room<bf16> r;
    pass l;
    lay_out(&k, kept, s);
    lay_out(&r, room, s);
    CUDA_CHECK(begin(&l, s, &r, stream));
    const int n = l.n, C = l.C;
    const size_t size = (size_t)n * C;
    const float *v = p->vectors;

    CUDA_CHECK(
        layernorm(k.ln1, k.mean1, k.rstd1, x, v + LN1_W * C, v + LN1_B * C, n, C, EPS, stream));
    const product qkv = linear(&l, r.rows, k.ln1, p->qkv, v + QKV_B * C, C, 3 * C);
    CUDA_CHECK(run_to_heads(&l, k.qkv, qkv, 3));
    CUDA_CHECK(attention_flash3(k.attention, k.lse, k.qkv, k.qkv + size, k.qkv + 2 * size, s.batch,
                                s.heads, s.seq, 64, 0, 0.125f, stream));
    const bf16 *attention;
    CUDA_CHECK(from_heads(&l, &attention, r.narrow, k.attention, 1));
    product out = linear(&l, k.middle, attention, p->out, v + OUT_B * C, C, C);
    out.residual = x, out.a_heads = l.by_heads;
    CUDA_CHECK(run(&l, &out));

    CUDA_CHECK(layernorm(k.ln2, k.mean2, k.rstd2, k.middle, v + LN2_W * C, v + LN2_B * C, n, C, EPS,
                         stream));
    product up = linear(&l, k.up, k.ln2, p->up, v + UP_B * C, C, 4 * C);
    up.gelu = k.gelu;
    CUDA_CHECK(run(&l, &up));
    product down = linear(&l, y, k.gelu, p->down, v + DOWN_B * C, 4 * C, C);
    down.residual = k.middle;
    return run(&l, &down);
}

static cudaError_t backward(bf16 *grad_x, const parameters *grads, void *room, const bf16 *grad_y,
                            const bf16 *x, const void *kept, const parameters *p, encoder_shape s,
                            cudaStream_t stream)
{
    encoder_kept<bf16> k;
    encoder_room<bf16> r;
    pass l;
    lay_out(&k, (void *)kept, s);
    lay_out(&r, room, s);
    CUDA_CHECK(begin(&l, s, &r, stream));
    const int n = l.n, C = l.C;
    const size_t size = (size_t)n * C;
    const float *v = p->vectors;
    float *g = grads->vectors;
    bf16 *narrow = r.narrow, *heads = r.wide, *of_qkv = r.wide + size;

    const product of_down = linear_weights(&l, grads->down, k.gelu, grad_y, 4 * C, C);
    CUDA_CHECK(column_sums(g + DOWN_B * C, grad_y, n, C, {}, r.parts, stream));
    CUDA_CHECK(run(&l, &of_down));
    product down = linear_inputs(&l, r.wide, grad_y, p->down, 4 * C, C);
    down.slope_of = k.up;
    CUDA_CHECK(run(&l, &down));
    const product of_up = linear_weights(&l, grads->up, k.ln2, r.wide, C, 4 * C);
    CUDA_CHECK(column_sums(g + UP_B * C, r.wide, n, 4 * C, {}, r.parts, stream));
    CUDA_CHECK(run(&l, &of_up));
    const product up = linear_inputs(&l, narrow, r.wide, p->up, C, 4 * C);
    CUDA_CHECK(run(&l, &up));
    CUDA_CHECK(
        cudaMemcpyAsync(grad_x, grad_y, size * sizeof(bf16), cudaMemcpyDeviceToDevice, stream));
    CUDA_CHECK(layernorm_back(grad_x, g + LN2_W * C, g + LN2_B * C, g + OUT_B * C, narrow, k.middle,
                              v + LN2_W * C, k.mean2, k.rstd2, n, C, true, r.parts, stream));

    const bf16 *grad_qkv, *read;
    CUDA_CHECK(from_heads(&l, &read, narrow, k.attention, 1)); /* what `out` has read */
    product of_out = linear_weights(&l, grads->out, read, grad_x, C, C);
    of_out.a_heads = l.by_heads;
    CUDA_CHECK(run(&l, &of_out));
    CUDA_CHECK(run_to_heads(&l, heads, linear_inputs(&l, narrow, grad_x, p->out, C, C), 1));
    CUDA_CHECK(attention_flash3_backward(of_qkv, of_qkv + size, of_qkv + 2 * size, heads,
                                         k.attention, k.lse, k.qkv, k.qkv + size, k.qkv + 2 * size,
                                         s.batch, s.heads, s.seq, 64, 0, 0.125f, stream));
    CUDA_CHECK(from_heads(&l, &grad_qkv, r.rows, of_qkv, 3));
    CUDA_CHECK(column_sums(g + QKV_B * C, grad_qkv, n, 3 * C, l.by_heads ? l.layout : head_layout{},
                           r.parts, stream));
    product weights = linear_weights(&l, grads->qkv, k.ln1, grad_qkv, C, 3 * C);
    weights.b_heads = l.by_heads;
    CUDA_CHECK(run(&l, &weights));
    product qkv = linear_inputs(&l, narrow, grad_qkv, p->qkv, C, 3 * C);
    qkv.a_heads = l.by_heads;
    CUDA_CHECK(run(&l, &qkv));
    return layernorm_back(grad_x, g + LN1_W * C, g + LN1_B * C, NULL, narrow, x, v + LN1_W * C,
                          k.mean1, k.rstd1, n, C, true, r.parts, stream);
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

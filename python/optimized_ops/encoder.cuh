/*
 * encoder.cuh: what the two precisions of an encoder's layer share: where its arrays lie.
 * encoder_fp32.cu and encoder_bf16.cu have its passes.
 */
#ifndef ENCODER_CUH
#define ENCODER_CUH

#include "cuda_check.h"
#include "optimized_encoder.h"

#define EPS 1e-5f

/** Where the vectors of a layer begin, in widths. */
enum { LN1_W, LN1_B, QKV_B, OUT_B = QKV_B + 3, LN2_W, LN2_B, UP_B, DOWN_B = UP_B + 4, VECTORS };

/** What the forward pass keeps; n is batch x seq, C the width. */
template <typename element> struct encoder_kept {
    element *ln1;         /* [n x C] */
    element *qkv;         /* [n x 3C]; bf16: [3 x batch x heads x seq x 64] */
    element *attention;   /* [n x C]; bf16: [batch x heads x seq x 64] */
    element *middle;      /* [n x C] */
    element *ln2;         /* [n x C] */
    element *up, *gelu;   /* [n x 4C] each */
    float *mean1, *rstd1; /* [n] each */
    float *mean2, *rstd2;
    float *lse; /* [batch x heads x seq] */
};

/** For a moment. */
template <typename element> struct encoder_room {
    element *wide;          /* [n x 4C] */
    element *rows;          /* [n x 4C] */
    element *grads;         /* [n x 3C] */
    element *narrow, *grad; /* [n x C] each */
    element *matrix;        /* [C x 4C] */
    float *parts;           /* [parts_floats], at least 2 n heads */
    size_t parts_floats;
};

/** @return the place of `count` elements, at a multiple of 256 bytes; of NULL, only counted */
template <typename type> static void take(type **array, char *memory, size_t *used, size_t count)
{
    *array = memory ? (type *)(memory + *used) : NULL;
    *used += (count * sizeof(type) + 255) / 256 * 256;
}

/** @return bytes */
template <typename element>
static size_t lay_out(encoder_kept<element> *k, void *at, encoder_shape s)
{
    const size_t n = (size_t)s.batch * s.seq, size = n * s.heads * 64;
    size_t used = 0;
    char *memory = (char *)at;
    take(&k->ln1, memory, &used, size);
    take(&k->qkv, memory, &used, 3 * size);
    take(&k->attention, memory, &used, size);
    take(&k->middle, memory, &used, size);
    take(&k->ln2, memory, &used, size);
    take(&k->up, memory, &used, 4 * size);
    take(&k->gelu, memory, &used, 4 * size);
    take(&k->mean1, memory, &used, n);
    take(&k->rstd1, memory, &used, n);
    take(&k->mean2, memory, &used, n);
    take(&k->rstd2, memory, &used, n);
    take(&k->lse, memory, &used, n * s.heads);
    return used;
}

template <typename element>
static size_t lay_out(encoder_room<element> *r, void *at, encoder_shape s)
{
    const size_t n = (size_t)s.batch * s.seq, C = (size_t)s.heads * 64, size = n * C;
    const size_t splits = 32 * C * C, queries = 2 * n * s.heads;
    size_t used = 0;
    char *memory = (char *)at;
    r->parts_floats = splits > queries ? splits : queries;
    take(&r->wide, memory, &used, 4 * size);
    take(&r->rows, memory, &used, 4 * size);
    take(&r->grads, memory, &used, 3 * size);
    take(&r->narrow, memory, &used, size);
    take(&r->grad, memory, &used, size);
    take(&r->matrix, memory, &used, 4 * C * C);
    take(&r->parts, memory, &used, r->parts_floats);
    return used;
}

cudaError_t encoder_forward_fp32(float *y, void *kept, void *room, const float *x,
                                 const encoder_parameters *p, encoder_shape shape,
                                 cudaStream_t stream);
cudaError_t encoder_backward_fp32(float *grad_x, const encoder_parameters *grads, void *room,
                                  const float *grad_y, const float *x, const void *kept,
                                  const encoder_parameters *p, encoder_shape shape,
                                  cudaStream_t stream);

#endif

/*
 * llama.h: a GPT of Llama blocks (make gpt ARCH=llama), with as many parameters as 508's GPT:
 *
 *     x = wte[token]
 *     each layer:  x = x + proj(attention(turn(q), turn(k), v))     q, k, v = qkv(norm1(x))
 *                  x = x + down(silu(gate(h)) up(h))                h = norm2(x)
 *     logits = norm(x) wte^T
 *
 * A norm is an RMSNorm, with GPT_EPS. turn is the rotary embedding of each head. Queries are
 * grouped: where the number of heads is even, two of them share a head of keys and of values.
 * wte is tied, as in gpt_layout.h.
 *
 * The parameters take the place of the GPT's, from the beginning of the same array; as many as do
 * not fill another column of the gate stay 0. All matrices come first (V vocab, C channels, K
 * channels of the keys, H hidden):
 *
 *     wte [V x C]
 *     each layer:   qkv [C+2K x C]   proj [C x C]   gate [H x C]   up [H x C]   down [C x H]
 *     each layer:   norm1 [C]   norm2 [C]
 *     norm [C]
 */
#ifndef GPT_LLAMA_H
#define GPT_LLAMA_H

#include "508_gpt/gpt.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Where the arrays of one layer begin in the array of parameters. */
typedef struct llama_layer {
    size_t qkv, proj, gate, up, down, norm1, norm2;
} llama_layer;

/** @return heads of queries that share a head of keys: 1 or 2 */
int llama_group(const gpt_config *);
/** @return H, the largest with which there are no more parameters than the GPT has */
int llama_hidden(const gpt_config *);
/** @return floats of all parameters */
size_t llama_params(const gpt_config *);

llama_layer llama_layer_at(const gpt_config *, int layer);
/** Where all matrices end: the norms of the layers begin. */
size_t llama_norms(const gpt_config *);

/** As gpt_init, for these arrays. @param params [gpt_params(config)] */
void llama_init(float *params, const gpt_config *, uint64_t seed);

/* network.cu: the passes and the update of the last network that was made by 508's gpt_create. */

/** h_logits [vocab] behind the last of `seen` tokens, at most as many as the context. */
cudaError_t llama_next(gpt *, float *h_logits, const int *h_text, int seen);
/** Instead of gpt_free. */
cudaError_t llama_release(gpt *);

#ifdef __cplusplus
}
#endif

#endif

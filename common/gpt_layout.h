/*
 * gpt_layout.h: the shape of a GPT, and the offsets of its parameters. The network is GPT-2's:
 *
 *     x = wte[token] + wpe[position]
 *     each layer:  x = x + proj(attention(qkv(ln1(x))))
 *                  x = x + fcproj(gelu(fc(ln2(x))))
 *     logits = lnf(x) wte^T
 *
 * The table wte is used twice: first to embed the tokens, then to score them. It is "tied": its
 * gradient is the sum over both uses. Attention is causal: a position sees itself and the positions
 * before it. The channels are split into heads, whose scores are divided by sqrt(channels / heads).
 * gelu is the tanh form. A layer normalization adds GPT_EPS to the variance.
 *
 * All parameters are in one array of floats, in this order (V vocab, T context, C channels):
 *
 *     wte [V x C]   wpe [T x C]
 *     each layer:   ln1_w [C]   ln1_b [C]   qkv_w [3C x C]   qkv_b [3C]
 *                   proj_w [C x C]          proj_b [C]
 *                   ln2_w [C]   ln2_b [C]   fc_w [4C x C]    fc_b [4C]
 *                   fcproj_w [C x 4C]       fcproj_b [C]
 *     lnf_w [C]   lnf_b [C]
 *
 * The 3C rows of qkv_w give the queries of all heads, then the keys, then the values.
 */
#ifndef COURSE_GPT_LAYOUT_H
#define COURSE_GPT_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GPT_EPS 1e-5f

typedef struct gpt_config {
    int vocab;   /**< tokens are 0 .. vocab-1 */
    int context; /**< most positions in a sequence */
    int layers;
    int heads; /**< channels is a multiple of it */
    int channels;
} gpt_config;

/** Where the arrays of one layer begin in the array of parameters. */
typedef struct gpt_layer {
    size_t ln1_w, ln1_b, qkv_w, qkv_b, proj_w, proj_b;
    size_t ln2_w, ln2_b, fc_w, fc_b, fcproj_w, fcproj_b;
} gpt_layer;

/** One array of parameters. rows is 1 unless it is a matrix. */
typedef struct gpt_array {
    char name[24]; /**< such as "wte", "0.qkv_w" (layer 0), "lnf_b" */
    size_t begin, rows, cols;
    int matrix; /**< 1 for weights and embedding tables; 0 for biases and normalizations */
} gpt_array;

/** @return 1 if every number is at least 1 and channels is a multiple of heads, else 0 */
int gpt_config_is_valid(const gpt_config *config);
/** @return floats of all parameters: 124,439,808 for GPT-2 {50257, 1024, 12, 12, 768} */
size_t gpt_params(const gpt_config *config);

/** Where arrays begin; wte begins at 0. */
size_t gpt_wpe(const gpt_config *config);
gpt_layer gpt_layer_at(const gpt_config *config, int layer);
size_t gpt_lnf_w(const gpt_config *config);
size_t gpt_lnf_b(const gpt_config *config);

/** The same as a list, in the order of the layout: how many arrays there are, and each of them. */
int gpt_arrays(const gpt_config *config);
gpt_array gpt_array_at(const gpt_config *config, int number);

/** Initialize params[gpt_params(config)] as GPT-2 does: matrices are normal with deviation 0.02,
 *  divided by sqrt(2 layers) for those that add to x (proj_w, fcproj_w); ln1_w, ln2_w and lnf_w are
 *  1; all others are 0. */
void gpt_init(float *params, const gpt_config *config, uint64_t seed);

/**
 * The mean loss of a new network over random targets. A row of lnf's output has C numbers of
 * variance 1. So a logit is normal with variance C 0.02^2, and the mean of e^logit is
 * e^(C 0.02^2 / 2).
 * @return ln V + C 0.02^2 / 2
 */
double gpt_first_loss(const gpt_config *config);

/* ---- training and checkpoints (509) -----------------------------------------------------------
 */

typedef struct gpt_training {
    int batch, seq;               /**< windows per step, tokens per window */
    int steps, warmup;            /**< of the whole run, which may be trained in parts */
    float lr, last_lr;            /**< at the end of the warmup, and at the end of the run */
    float weight_decay, max_norm; /**< as in gpt_update */
    unsigned long long seed;
    int rank; /**< 513: number of this process, from 0, among those that share each step */
} gpt_training;

#define GPT_MAGIC   "CUDA-GPT" /* 8 bytes, no terminating 0 */
#define GPT_VERSION 1

/** The header of a checkpoint; numbers are little-endian. After it come params, m and v, gpt_params
 *  floats each, and nothing else. */
typedef struct gpt_checkpoint {
    char magic[8];
    uint32_t version;
    uint32_t checksum; /**< weights_checksum (weights.h) of all bytes after it in the file */
    gpt_config config;
    int32_t step;
} gpt_checkpoint;

/** @return bytes of a whole checkpoint */
size_t gpt_checkpoint_bytes(const gpt_config *config);

#ifdef __cplusplus
}
#endif

#endif

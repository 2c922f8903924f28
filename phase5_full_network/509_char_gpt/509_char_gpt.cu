/*
 * 509_char_gpt.cu: a GPT that learns a text, writes on, and can be put away and taken up again.
 *
 * The idea: training is 508's three calls in a loop. What makes a run worth having is around them:
 * which windows a step reads is a function of seed and step, and so is the rate. Then a run has no
 * state but the network: parameters, m, v, and the number of steps. That is a checkpoint, and a run
 * that goes on from one goes on as if it had never stopped.
 *
 * Writing is the same network, one token at a time. A token's key and value depend on what stands
 * before it, and that never changes: they are kept, and each new token is one row through the
 * layers, which looks at all keys and values so far:
 *
 *     without   token t costs a pass over t rows        a text of n costs n^2 / 2 rows
 *     with      token t costs one row and t dot products   ...            n rows
 *
 * Positions are learned numbers, so that keys belong to their position and cannot move: when the
 * context is full, the last half of it is read anew.
 *
 * What it costs: one row through a linear layer reads all weights for one multiply-add each. The
 * time of a token is that of reading the network from memory, or, of a small one, that of some ten
 * launches a layer. 410 shares the reading among many texts.
 */
#include "301_activations/activations.h"
#include "303_linear/linear.h"
#include "304_softmax/softmax.h"
#include "311_layernorm/layernorm.h"
#include "312_embedding/embedding.h"
#include "508_gpt/gpt.h"
#include "509_char_gpt/char_gpt.h"
#include "cuda_check.h"
#include "not_implemented.h"
#include "progress.h"
#include "random.h"
#include "weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BETA1   0.9f
#define BETA2   0.95f
#define EPSILON 1e-8f

/* ---- training -------------------------------------------------------------------------------- */

float gpt_learning_rate(const gpt_training *training, int step)
{
    /* TODO: a line up, half a cosine down, in double (about 7 lines). */
    NOT_IMPLEMENTED(training, step);
    return 0;
}

/* What a run keeps on the device. */
typedef struct windows {
    int *text;             /* [count] */
    int *begins;           /* [number] where each window begins */
    int *tokens, *targets; /* [batch x seq] each, of the batch in hand */
    float *losses;         /* [number of batches] */
} windows;

/* TODO: helpers: load and unload windows; gather_kernel, a block a window (about 40 lines). */

/* TODO: draw_windows: the beginnings of all windows of some steps, drawn step by step (about 12
   lines). */

/* TODO: train_steps: the loop; the host asks for a loss now and then, and for all of them at
   the end (about 20 lines). */

cudaError_t gpt_train(gpt *net, float *h_losses, const int *h_tokens, size_t count,
                      const gpt_training *training, int steps, cudaStream_t stream)
{
    /* TODO: sizes; windows to the device, once; the steps; free, also on an error (about 16
       lines). */
    NOT_IMPLEMENTED(net, h_losses, h_tokens, count, training, steps, stream);
    return cudaGetLastError();
}

/* TODO: validate: batch by batch, the last one may be short; the mean over windows (about 20
   lines). */

cudaError_t gpt_validate(gpt *net, float *h_loss, const int *h_tokens, size_t count, int batch,
                         int seq, cudaStream_t stream)
{
    /* TODO: the windows side by side; the rest as in gpt_train (about 17 lines). */
    NOT_IMPLEMENTED(net, h_loss, h_tokens, count, batch, seq, stream);
    return cudaGetLastError();
}

/* ---- writing --------------------------------------------------------------------------------- */

/* One text in the making. All arrays are device memory, but h_logits. C is channels. */
typedef struct writer {
    int length;           /* positions that are taken */
    float *keys, *values; /* [layers x context x C] each: of every position so far */
    int *token;           /* [1] */
    float *x, *y;         /* [C] */
    float *rows, *wide;   /* [4C] */
    float *mean, *rstd;   /* [1] */
    float *scores;        /* [heads x context] */
    float *weights;       /* [heads x context] */
    float *logits;        /* [vocab] */
    float *h_logits;      /* [vocab] */
} writer;

/* TODO: helpers: create and free a writer (about 35 lines). */

/* TODO: attention of one query: scores_kernel, a warp a position and head; mix_kernel, a thread
   a channel; in between a softmax of 304 (about 40 lines). */

/* TODO: read_token: one row through the network, at position w->length (about 31 lines). */

/* TODO: next_token: the logits behind the last token, on the host; the largest, or a draw
   (about 35 lines). */

/* TODO: write_on: text[prompt + count] begins with the prompt; every token is read, and after
   the prompt each is chosen first. A full context goes on from its last half (about 20 lines). */

cudaError_t gpt_generate(gpt *net, int *h_out, int count, const int *h_prompt, int prompt,
                         float temperature, unsigned long long seed, cudaStream_t stream)
{
    /* TODO: a text that begins with the prompt, a writer; both go, also on an error (about 14
       lines). */
    NOT_IMPLEMENTED(net, h_out, count, h_prompt, prompt, temperature, seed, stream);
    return cudaGetLastError();
}

/* ---- checkpoints ----------------------------------------------------------------------------- */

#define BEHIND offsetof(gpt_checkpoint, config) /* where begins what the checksum covers */

cudaError_t gpt_save(void *h_file, gpt *net)
{
    /* TODO: three arrays behind the header, which comes last, with their checksum (about 15
       lines). */
    NOT_IMPLEMENTED(h_file, net);
    return cudaGetLastError();
}

/* TODO: status_of: what is wrong with a file (about 12 lines). */

cudaError_t gpt_load(gpt *net, weights_status *h_status, const void *h_file, size_t bytes)
{
    /* TODO: nothing is copied before all of it is known to be right (about 13 lines). */
    NOT_IMPLEMENTED(net, h_status, h_file, bytes);
    return cudaGetLastError();
}

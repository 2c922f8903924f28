/*
 * network.h: the contract of phase 5, whole networks from the layers of phases 2 to 4.
 *
 * h_ is host memory, d_ is device memory; pointers are aligned to their elements and to nothing
 * more. The network of 501 is that of exercise 112 (cpu.h): 784 inputs, 128 hidden units with ReLU,
 * 10 logits; parameters in one array: w1[128 x 784], bias1[128], w2[10 x 128], bias2[10]. That of
 * 504 to 507, and 5c, is ResNet-18 (resnet18.h in common/), that of 508 to 510 a GPT (gpt.h), of
 * 511 an autoencoder (autoencoder.h).
 */
#ifndef COURSE_NETWORK_H
#define COURSE_NETWORK_H

#include "autoencoder.h"
#include "gpt.h"
#include "resnet18_cpu.h"
#include "sweep.h"
#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef MLP_PARAMS /* also in cpu.h */
#define MLP_INPUTS  784
#define MLP_HIDDEN  128
#define MLP_CLASSES 10
#define MLP_PARAMS  (MLP_HIDDEN * MLP_INPUTS + MLP_HIDDEN + MLP_CLASSES * MLP_HIDDEN + MLP_CLASSES)
#endif

/* 501_mnist.cu */

typedef struct mlp mlp;

/** @param net receives the network, at step 0, or NULL on an error. @param h_params [MLP_PARAMS] */
cudaError_t mlp_create(mlp **net, const float *h_params);
/**
 * One step of Adam (beta 0.9 and 0.999, epsilon 1e-8, no decay) on one batch of any size.
 * A batch of 0 is no step, of loss 0.
 * @param h_loss   the mean loss of the batch before the step; NULL when not wanted, and then the
 *                 call need not wait for the device
 * @param d_x      [batch x MLP_INPUTS]
 * @param d_labels [batch]
 */
cudaError_t mlp_train_batch(mlp *net, float *h_loss, const float *d_x, const int *d_labels,
                            int batch, float lr, cudaStream_t stream);
/** @param d_logits [batch x MLP_CLASSES] */
cudaError_t mlp_predict(mlp *net, float *d_logits, const float *d_x, int batch,
                        cudaStream_t stream);
/** @param h_params [MLP_PARAMS] receives a copy */
cudaError_t mlp_get_params(mlp *net, float *h_params);
/** NULL is allowed. */
cudaError_t mlp_free(mlp *net);

/**
 * The training loop: shuffle, batches (the last one may be short), epochs.
 * The last `validation` images are never trained on; they are scored after each epoch. Without any
 * image to train on, and for a batch below 1, it gives cudaErrorInvalidValue.
 * @param h_loss     [epochs] mean training loss over all images of the epoch
 * @param h_accuracy [epochs] share of the validation images that are right, 0 .. 1
 * @param h_images   [count x MLP_INPUTS], host
 * @param h_labels   [count], host
 * @param seed       of the shuffles: the same seed gives the same run
 */
cudaError_t train_mnist(mlp *net, float *h_loss, float *h_accuracy, const float *h_images,
                        const int *h_labels, int count, int validation, int epochs, int batch,
                        float lr, unsigned long long seed, cudaStream_t stream);

/* 502_mnist_fast.cu
 *
 * 501's network and its steps of Adam, for whom nothing counts but time. The images stay on the
 * device as bytes: a pixel p stands for p / 255.0. */

#define MLP_FAST_BATCH 1024 /**< images of a step, at most */

typedef struct mlp_fast mlp_fast;

/**
 * @param net      receives the network, at step 0, or NULL on an error
 * @param h_params [MLP_PARAMS]
 * @param h_images [count x MLP_INPUTS]
 * @param h_labels [count]
 */
cudaError_t mlp_fast_create(mlp_fast **net, const float *h_params, const unsigned char *h_images,
                            const int *h_labels, int count);
/**
 * The images order[0 .. n-1], in this order, batch by batch, a step each; the last batch may be
 * short. Step i of S has the learning rate first_lr + (last_lr - first_lr) * i / S. The host makes
 * a few launches in all, however large S is; it copies nothing and waits for nothing, also not at
 * the end. From call to call every argument may be another. The same calls give the same bits.
 * Without images (n = 0) there is no step.
 * @param d_losses [steps] the mean loss of each batch before its step; NULL when not wanted
 * @param d_order  [n] each 0 .. count - 1; an image may occur more than once
 * @return cudaErrorInvalidValue, without any step, for a batch below 1 or above MLP_FAST_BATCH
 */
cudaError_t mlp_fast_train_epoch(mlp_fast *net, float *d_losses, const int *d_order, int n,
                                 int batch, float first_lr, float last_lr, cudaStream_t stream);
/** Waits for what still runs. @param h_params [MLP_PARAMS] receives a copy */
cudaError_t mlp_fast_get_params(mlp_fast *net, float *h_params);
/** NULL is allowed. */
cudaError_t mlp_fast_free(mlp_fast *net);

/* 504_resnet18_cpu.c: in resnet18_cpu.h, and with it what images and weights are. */

/* 505_resnet18.cu */

typedef struct resnet18 resnet18;

/** @param net receives the network, or NULL on an error. @param h_params [RESNET18_FLOATS] */
cudaError_t resnet18_create(resnet18 **net, const float *h_params);
/**
 * All layers on the device, in fp32. The first call of a batch or size larger than any before may
 * allocate; a row of logits does not depend on the other images of the batch. A batch of 0 does
 * nothing.
 * @param logits      [batch x RESNET18_CLASSES]
 * @param activations [batch * resnet18_activations(size)], stage after stage; NULL when not wanted
 * @param x           [batch x 3 x size x size]
 */
cudaError_t resnet18_forward(resnet18 *net, float *logits, float *activations, const float *x,
                             int batch, int size, cudaStream_t stream);
/** The same from host to host: one copy there, one copy back, and the logits are there when it
 *  returns. @param h_logits [batch x RESNET18_CLASSES]. @param h_x [batch x 3 x size x size] */
cudaError_t resnet18_classify(resnet18 *net, float *h_logits, const float *h_x, int batch, int size,
                              cudaStream_t stream);
/** @return bytes of device memory that the network holds now */
size_t resnet18_device_bytes(const resnet18 *net);
/** NULL is allowed. */
cudaError_t resnet18_free(resnet18 *net);

/* 506_sweep.cu */

/** A forward pass of `batch` images: it may only enqueue its work on the stream and return. The
 *  first calls of a batch may be slow: they allocate, load kernels, fill caches. */
typedef cudaError_t sweep_forward(void *context, int batch, cudaStream_t stream);

/**
 * Measure forward at each of batches[count], in this order.
 *
 * A row is timed by `warmup` calls that do not count and `repeats` (at least 1) that do, one after
 * the other, each between two events of its own on the stream. ms is the median; of an even number
 * of calls it lies halfway between the two in the middle.
 *
 * Where these calls would take longer than budget_ms, by the time for an image of the last row that
 * was timed, forward is not called: times are those of that row, times the ratio of the batches,
 * measured_at says so, and device_bytes is 0. The first row is always timed, and with a budget_ms
 * of 0 all are.
 *
 * Where forward returns an error (the memory is too short for a large batch) the row has that error
 * and nothing else but its batch, and the sweep goes on with the next; the error is taken from the
 * runtime (cudaGetLastError).
 * @param rows    [count], host
 * @param batches [count], host
 * @return an error of the measuring itself
 */
cudaError_t sweep(sweep_row *rows, sweep_forward *forward, void *context, const int *batches,
                  int count, int warmup, int repeats, float budget_ms, cudaStream_t stream);

/* 507_resnet18_optimized.cu, which includes 507_*.cuh */

typedef struct resnet18_opt resnet18_opt;

/** How the products of convolutions are computed; sums are fp32 in each. */
typedef enum resnet18_precision {
    RESNET18_FP32, /**< as accurate as fp32: three products of TF32 for one */
    RESNET18_TF32, /**< factors rounded to 11 bits; activations fp32 */
    RESNET18_FP16, /**< weights and activations fp16: beyond 65,504 they are infinite */
} resnet18_precision;

/**
 * Everything is prepared here: folded weights, one arena for all activations, and the graph of the
 * launches for exactly this batch and size. A batch below 1, a size below 32 or another precision
 * gives cudaErrorInvalidValue.
 * @param net receives the network, or NULL on an error. @param h_params [RESNET18_FLOATS]
 */
cudaError_t resnet18_create_opt(resnet18_opt **net, const float *h_params, int batch, int size,
                                resnet18_precision precision);
/** @param logits [batch x RESNET18_CLASSES]. @param x [batch x 3 x size x size], as in 505, fp32.
 *  Both may be others at each call. The same images give the same logits, to the last bit. */
cudaError_t resnet18_forward_opt(resnet18_opt *net, float *logits, const float *x,
                                 cudaStream_t stream);
/** @return bytes of device memory that the network holds */
size_t resnet18_device_bytes_opt(const resnet18_opt *net);
/** NULL is allowed. */
cudaError_t resnet18_free_opt(resnet18_opt *net);

/* 508_gpt.cu */

/** A network. Its arrays are device memory, [gpt_params(&config)] each. 509 reads and writes them,
 *  on streams of its own, so that whoever creates a network has waited for the device. */
typedef struct gpt {
    gpt_config config;
    int step; /**< updates so far */
    float *params;
    float *grad;  /**< of the mean loss, as gpt_backward left it; at first 0 */
    float *m, *v; /**< Adam's running means; at first 0 */
    struct gpt_activations *activations; /**< 508's own: what it needs besides */
} gpt;

/**
 * @param net      receives the network, at step 0, or NULL on an error
 * @param h_params [gpt_params(config)], as gpt.h lays them out
 * @return cudaErrorInvalidValue where gpt_config_is_valid says no
 */
cudaError_t gpt_create(gpt **net, const gpt_config *config, const float *h_params);
/**
 * Logits of every position, and how well they foretell the targets. What the backward pass needs
 * stays with the network; the tokens and targets may change as soon as the stream is past this
 * call. A batch and sequence larger than any before may allocate.
 * @param d_loss    [1] the mean of -log softmax(logits)[target] over all positions; NULL when not
 *                  wanted
 * @param d_logits  [batch x seq x vocab]; NULL when not wanted
 * @param d_tokens  [batch x seq], each in 0 .. vocab-1
 * @param d_targets [batch x seq] likewise; NULL: without a loss, and d_loss is left alone
 * @return cudaErrorInvalidValue, and does nothing, unless batch >= 1 and 1 <= seq <= context
 */
cudaError_t gpt_forward(gpt *net, float *d_loss, float *d_logits, const int *d_tokens,
                        const int *d_targets, int batch, int seq, cudaStream_t stream);
/**
 * The gradients of the mean loss of the last forward pass; those of earlier ones are overwritten.
 * @return cudaErrorInvalidValue, and does nothing, where that pass had no targets, or there was
 *         none
 */
cudaError_t gpt_backward(gpt *net, cudaStream_t stream);
/**
 * One step of AdamW (314), whose number is step + 1. Weight decay pulls at the matrices alone, as
 * gpt_array_at calls them; biases and normalizations stay without.
 * @param max_norm the gradients are scaled, in place, so that the L2 norm of all of them together
 *                 is at most this; 0: they are left as they are
 */
cudaError_t gpt_update(gpt *net, float lr, float beta1, float beta2, float eps, float weight_decay,
                       float max_norm, cudaStream_t stream);
/** Both wait for the device, and copy [gpt_params(&config)]. */
cudaError_t gpt_get_grads(gpt *net, float *h_grads);
cudaError_t gpt_get_params(gpt *net, float *h_params);
/** NULL is allowed. */
cudaError_t gpt_free(gpt *net);

/* 509_char_gpt.cu
 *
 * A text is `count` tokens. Its last count / 10 are for validation: no window of training has one
 * of them, as token or as target. A window is `seq` tokens, and its targets are the tokens one
 * place on. AdamW has beta 0.9 and 0.95 and epsilon 1e-8. gpt_training is in gpt.h. */

/** The rate of step s = 0, 1, ...: (s + 1) / warmup of lr in the warmup; then half a cosine, from
 * lr at s = warmup down to last_lr at s = steps, and last_lr from there on. */
float gpt_learning_rate(const gpt_training *training, int step);
/**
 * `steps` more steps, from net->step on. What step s does depends on the network, the text, and s:
 * window b of step s begins at number b of random_below(.., training tokens - seq), drawn from
 * random_seed(seed + s). So a run in parts, or after a checkpoint, is the same run.
 * @param h_losses [steps] the loss of each step, before its update
 * @param h_tokens [count]
 * @return cudaErrorInvalidValue, and does nothing, where no window fits into the training tokens,
 *         batch is below 1 or seq not in 1 .. context
 */
cudaError_t gpt_train(gpt *net, float *h_losses, const int *h_tokens, size_t count,
                      const gpt_training *training, int steps, cudaStream_t stream);
/**
 * The mean loss over the validation tokens, always the same ones: windows side by side from the
 * first of them, as many as have all their targets there.
 * @param batch windows at a time; the loss does not depend on it
 * @return as gpt_train, of the validation tokens
 */
cudaError_t gpt_validate(gpt *net, float *h_loss, const int *h_tokens, size_t count, int batch,
                         int seq, cudaStream_t stream);
/**
 * `count` tokens that go on from a prompt. Keys and values of what was read are kept, so that each
 * token costs one row, not the whole text. Where all positions are taken, the context / 2 tokens
 * that were read last are read anew from position 0, and the text goes on behind them. The network
 * stays as it is, and with it what gpt_backward needs.
 *
 * At temperature 0 a token is always that of the largest logit, of equals the first. Else it is
 * drawn: weights are softmax(logits / temperature), and token i of h_out is the first whose weight,
 * with those of all tokens before it in the vocabulary, exceeds u: number i of random_uniform(..,
 * 0, 1) from random_seed(seed).
 * @param h_out    [count]
 * @param h_prompt [prompt], at least 1 token
 * @return cudaErrorInvalidValue, and does nothing, for a temperature below 0 or an empty prompt
 */
cudaError_t gpt_generate(gpt *net, int *h_out, int count, const int *h_prompt, int prompt,
                         float temperature, unsigned long long seed, cudaStream_t stream);
/** The whole checkpoint, in memory. Waits for the device.
 *  @param h_file [gpt_checkpoint_bytes(&config)], at any address */
cudaError_t gpt_save(void *h_file, gpt *net);
/**
 * Parameters, m, v and step of a checkpoint. Nothing outside of h_file[bytes] is read, and unless
 * all of it is right the network stays as it is.
 * @param h_status the first of these that is true: WEIGHTS_FOREIGN: no whole gpt_checkpoint, or
 *                 another magic or version; WEIGHTS_MISMATCH: a network of another shape;
 *                 WEIGHTS_TRUNCATED: not as long as its shape needs, or longer; WEIGHTS_CORRUPT:
 *                 the checksum is wrong; WEIGHTS_OK
 * @param h_file   at any address
 * @return cudaErrorInvalidValue unless the status is WEIGHTS_OK
 */
cudaError_t gpt_load(gpt *net, weights_status *h_status, const void *h_file, size_t bytes);

/* 510_gpt2.cu, which includes 510_*.cuh */

typedef struct gpt2 gpt2;

/**
 * A network of 508 for training, with AdamW's means at 0, for exactly this batch and sequence. All
 * memory is taken here.
 *
 * Parameters, their gradients and all sums are fp32. Weights may be rounded to bf16 before they are
 * multiplied, activations and their gradients whenever they go to memory. Nothing is as large as
 * seq x seq for each head, or as vocab for each token.
 * @param net      receives the network, at step 0, or NULL on an error
 * @param h_params [gpt_params(config)], as gpt.h lays them out
 * @return cudaErrorInvalidValue where gpt_config_is_valid says no, a head has not 64 or 128
 *         channels, batch is below 1, or seq not in 1 .. context
 */
cudaError_t gpt2_create(gpt2 **net, const gpt_config *config, const float *h_params, int batch,
                        int seq);
/**
 * What gpt_forward, gpt_backward and gpt_update of 508 do, one after the other. It may only enqueue
 * its work on the stream and return. The same calls give the same bits.
 * @param d_loss    [1] the mean loss before the update; NULL when not wanted
 * @param d_tokens  [batch x seq], each in 0 .. vocab-1
 * @param d_targets [batch x seq] likewise
 * @param max_norm  as in gpt_update
 */
cudaError_t gpt2_train_step(gpt2 *net, float *d_loss, const int *d_tokens, const int *d_targets,
                            float lr, float beta1, float beta2, float eps, float weight_decay,
                            float max_norm, cudaStream_t stream);
/** Both wait for the device, and copy [gpt_params(config)]. The gradients are those of the last
 *  step, as they were clipped; of positions behind seq, and before the first step, 0. */
cudaError_t gpt2_get_grads(gpt2 *net, float *h_grads);
cudaError_t gpt2_get_params(gpt2 *net, float *h_params);
/** @return bytes of device memory that the network holds between two steps */
size_t gpt2_device_bytes(const gpt2 *net);
/** NULL is allowed. */
cudaError_t gpt2_free(gpt2 *net);

/* 511_autoencoder.cu */

/**
 * The autoencoder, layer by layer: what comes between two layers goes through memory.
 * A frame's numbers depend on no other frame. A batch of 0 does nothing.
 * @param y       [batch x SAE_INPUTS]
 * @param latent  [batch x SAE_LATENT]
 * @param x       [batch x SAE_INPUTS]
 * @param params  [SAE_PARAMS]
 * @param scratch [batch x SAE_SCRATCH], overwritten
 */
cudaError_t sae_forward(float *y, float *latent, const float *x, const float *params,
                        float *scratch, int batch, cudaStream_t stream);
/**
 * The same in one launch, without memory for what lies between.
 * @param options SAE_ALL, less what is switched off (autoencoder.h). Unknown ones give
 *                cudaErrorInvalidValue. Without SAE_FAST_GELU the numbers are as accurate as fp32.
 */
cudaError_t sae_forward_fused(float *y, float *latent, const float *x, const float *params,
                              int batch, int options, cudaStream_t stream);

/* 5c_resnet18_int8.cu
 *
 * ResNet-18 whose convolutions multiply whole numbers of 8 bits. A number x with a scale is
 *
 *     q(x, scale) = x / scale, rounded to the nearest, halves to the even; at most 127, at least
 * -127
 *
 * Batch normalizations are folded into weights and biases (309), in fp32. Then a filter has a scale
 * of its own, and a tensor one for all of it: the largest |x| / 127; of nothing but zeros 1. That
 * of a filter is taken over its folded weights, that of a tensor over what a network in fp32
 * computes for the calibration images. Tensors are the images, and what each convolution of
 * resnet18_convs leaves with all that follows it: the ReLU, where one does, and, of a block's
 * second, the shortcut before that. Sums of products are exact:
 *
 *     x = sum * (scale of the input * scale of the filter) + bias (+ shortcut * its scale)
 *     y = q(relu(x), scale of y)         x without relu after the convolution of a shortcut
 *
 * in fp32. The pooling takes the largest of whole numbers, so its scale is that of conv1. Mean and
 * linear layer are fp32. NaN in an image counts as 0, infinities as the ends. */

typedef struct resnet18_int8 resnet18_int8;

/**
 * Waits for the device.
 * @param net      receives the network, or NULL on an error
 * @param h_params [RESNET18_FLOATS], all finite
 * @param h_images [count x 3 x size x size] to calibrate with
 * @return cudaErrorInvalidValue for a count below 1, a size below 32, or images that are not finite
 */
cudaError_t resnet18_create_int8(resnet18_int8 **net, const float *h_params, const float *h_images,
                                 int count, int size);
/**
 * The first call of a batch or size larger than any before may allocate; a row of logits does not
 * depend on the other images of the batch. A batch of 0 does nothing. One below 0, or a size below
 * 32, gives cudaErrorInvalidValue.
 * @param logits  [batch x RESNET18_CLASSES]
 * @param tensors what each convolution leaves, one after the other, each [batch x side x side x
 *                out_channels]; at any address; NULL when not wanted
 * @param x       [batch x 3 x size x size], fp32
 */
cudaError_t resnet18_forward_int8(resnet18_int8 *net, float *logits, int8_t *tensors,
                                  const float *x, int batch, int size, cudaStream_t stream);
/** @param h_scales [RESNET18_CONVS + 1] of what each convolution leaves, and of the images */
cudaError_t resnet18_scales_int8(const resnet18_int8 *net, float *h_scales);
/** @return bytes of device memory that the network holds now */
size_t resnet18_device_bytes_int8(const resnet18_int8 *net);
/** NULL is allowed. */
cudaError_t resnet18_free_int8(resnet18_int8 *net);

#ifdef __cplusplus
}
#endif

#endif

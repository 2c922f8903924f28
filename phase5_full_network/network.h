/*
 * network.h: the contract of phase 5, whole networks from the layers of phases 2 to 4.
 *
 * h_ is host memory, d_ is device memory. The network of 501 is that of exercise 112 (cpu.h): 784
 * inputs, 128 hidden units with ReLU, 10 logits; parameters in one array: w1[128 x 784],
 * bias1[128], w2[10 x 128], bias2[10]. That of 504 to 507 is ResNet-18 (resnet18.h in common/).
 */
#ifndef COURSE_NETWORK_H
#define COURSE_NETWORK_H

#include "resnet18_cpu.h"
#include "sweep.h"
#include <cuda_runtime_api.h>
#include <stddef.h>

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

#ifdef __cplusplus
}
#endif

#endif

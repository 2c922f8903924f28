/*
 * mnist.h: the contract of exercise 501. The conventions are in network.h.
 */
#ifndef COURSE_MNIST_CONTRACT_H
#define COURSE_MNIST_CONTRACT_H

#include "mlp_layout.h"
#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mlp mlp;

/** @param net receives the network, at step 0, or NULL on an error. @param h_params [MLP_PARAMS] */
cudaError_t mlp_create(mlp **net, const float *h_params);
/**
 * One step of Adam (beta 0.9 and 0.999, epsilon 1e-8, no decay) on one batch of any size. A batch
 * of 0 makes no step and has loss 0.
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
 * The training loop. Each epoch shuffles the images anew and takes them in batches, of which the
 * last may be short. The last `validation` images are never trained on; they are scored after each
 * epoch. Without an image to train on, or with a batch below 1, it returns cudaErrorInvalidValue.
 * @param h_loss     [epochs] mean training loss over all images of the epoch
 * @param h_accuracy [epochs] share of validation images classified right, 0 .. 1; 0 without any
 * @param h_images   [count x MLP_INPUTS], host
 * @param h_labels   [count], host
 * @param seed       of the shuffles: the same seed gives the same run
 */
cudaError_t train_mnist(mlp *net, float *h_loss, float *h_accuracy, const float *h_images,
                        const int *h_labels, int count, int validation, int epochs, int batch,
                        float lr, unsigned long long seed, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif

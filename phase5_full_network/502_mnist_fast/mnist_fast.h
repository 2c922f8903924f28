/*
 * mnist_fast.h: the contract of exercise 502. The conventions are in network.h.
 *
 * The network of 501 and its steps of Adam, as fast as possible. The images stay on the device as
 * bytes: a pixel p means p / 255.0.
 */
#ifndef COURSE_MNIST_FAST_H
#define COURSE_MNIST_FAST_H

#include "mlp_layout.h"
#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MLP_FAST_BATCH 1024 /**< most images per step */

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
 * Trains on the images order[0 .. n-1], in this order, with one step per batch; the last batch may
 * be short. Step i of S has the learning rate first_lr + (last_lr - first_lr) * i / S. The host
 * makes a few launches in all, however large S is. It copies nothing and waits for nothing, not
 * even at the end. Every argument may differ from call to call. The same calls give the same bits.
 * Without images (n = 0) there is no step.
 * @param d_losses [steps] the mean loss of each batch before its step; NULL when not wanted
 * @param d_order  [n] each 0 .. count - 1; an image may occur more than once
 * @return cudaErrorInvalidValue, without any step, for a batch below 1 or above MLP_FAST_BATCH
 */
cudaError_t mlp_fast_train_epoch(mlp_fast *net, float *d_losses, const int *d_order, int n,
                                 int batch, float first_lr, float last_lr, cudaStream_t stream);
/** Waits for work that still runs. @param h_params [MLP_PARAMS] receives a copy */
cudaError_t mlp_fast_get_params(mlp_fast *net, float *h_params);
/** NULL is allowed. */
cudaError_t mlp_fast_free(mlp_fast *net);

#ifdef __cplusplus
}
#endif

#endif

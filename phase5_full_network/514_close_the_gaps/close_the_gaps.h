/*
 * close_the_gaps.h: the contract of exercise 514. The conventions are in network.h.
 *
 * A small network, y = relu(x * w1 + bias1) * w2 + bias2, is trained by gradient descent. It is right
 * as it is handed out, and the GPU waits most of the time.
 *
 * A sample is a row of floats: `in` inputs, then the `out` outputs that y should have.
 * The parameters are one array: w1[in x hidden], bias1[hidden], w2[hidden x out], bias2[out].
 */
#ifndef COURSE_CLOSE_THE_GAPS_H
#define COURSE_CLOSE_THE_GAPS_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * One step for each batch of samples, in their order: parameters -= rate * gradient of the loss. The
 * loss is the sum of the batch's squared errors, divided by twice its samples. The last batch may be
 * short. Without samples there is no step.
 *
 * Waits until all is done. Frees all that it makes, after an error too.
 *
 * @param h_losses  [steps] the loss of each batch before its step; ordinary memory of the host
 * @param params    of the device, as above: updated. After an error they are unspecified
 * @param h_samples [count x (in + out)] ordinary memory of the host
 * @param stream    parameters may be read and written in its order alone
 * @return cudaErrorInvalidValue for count < 0, batch < 1 or a size of the network below 1
 */
cudaError_t train_steps(float *h_losses, float *params, const float *h_samples, int count,
                        int batch, int in, int hidden, int out, float rate, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif

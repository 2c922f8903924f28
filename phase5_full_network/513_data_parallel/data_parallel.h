/*
 * data_parallel.h: the contract of exercise 513. The conventions are in network.h.
 */
#ifndef COURSE_DATA_PARALLEL_H
#define COURSE_DATA_PARALLEL_H

#include "508_gpt/gpt.h"
#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GPT_TEAM_MAX 8 /**< most GPUs in a team */

/** The same network on several GPUs. */
typedef struct gpt_team gpt_team;

/**
 * A network on each of the devices 0 .. gpus-1, all with the same parameters. Peer access is
 * enabled between devices that support it.
 * @param team     receives the team, or NULL on an error
 * @param h_params [gpt_params(config)]
 * @return cudaErrorInvalidValue if gpt_config_is_valid returns 0, or gpus is not in
 *         1 .. GPT_TEAM_MAX; cudaErrorInvalidDevice if there are fewer devices
 */
cudaError_t gpt_team_create(gpt_team **team, const gpt_config *config, const float *h_params,
                            int gpus);
/**
 * As gpt_train of 509, on all GPUs: each step reads the same windows, and parameters and losses are
 * those of one GPU, but for rounding. Of the training->batch windows of a step, GPU g has those
 * from g * share on, where share = training->batch / gpus. The gradients of a layer are exchanged
 * while the backward pass goes on to the layer before. Afterwards the parameters are the same on
 * all GPUs, to the last bit. Waits for all GPUs.
 *
 * Several processes may train together, each with a team and training->batch windows of every step:
 * those from number training->rank * training->batch on, as 509 draws them. Then allreduce_ring
 * averages the gradients of all processes, and the losses are those of this team's windows.
 * @param h_losses [steps] the mean over all windows of each step, before its update
 * @param h_tokens [count]
 * @return as gpt_train; also cudaErrorInvalidValue, and does nothing, if training->batch is not a
 *         multiple of gpus
 */
cudaError_t gpt_team_train(gpt_team *team, float *h_losses, const int *h_tokens, size_t count,
                           const gpt_training *training, int steps);
/** The network of one GPU, for the functions of 508 and 509; it belongs to the team.
 *  @return NULL if there is no such rank */
gpt *gpt_team_net(gpt_team *team, int rank);
/** The parameters of one GPU, and the gradients of its last step, over all windows, as gpt_update
 *  left them: [gpt_params(config)] each. @return cudaErrorInvalidValue if there is no such rank */
cudaError_t gpt_team_get_params(gpt_team *team, float *h_params, int rank);
cudaError_t gpt_team_get_grads(gpt_team *team, float *h_grads, int rank);
/** NULL is allowed. */
cudaError_t gpt_team_free(gpt_team *team);

#ifdef __cplusplus
}
#endif

#endif

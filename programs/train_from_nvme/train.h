/*
 * train.h: the program `train_from_nvme`, in one index.
 *
 * main.c   the file, cold each time; the use of its batches on the device; the table
 * ways.c   four ways from the file to the device
 */
#ifndef TRAIN_FROM_NVME_H
#define TRAIN_FROM_NVME_H

#include "network.h"

#include <cuda_runtime_api.h>
#include <stddef.h>

/** A batch of the file: images [BATCH x MLP_INPUTS] in fp32, then their labels [BATCH]. 785 blocks
 *  of 4,096 bytes: O_DIRECT takes no parts of blocks. */
#define BATCH       1024
#define BATCH_BYTES (BATCH * (MLP_INPUTS + 1) * sizeof(float))

/** Takes batches on the device, in the file's order, while the next one is being copied. */
typedef struct trainer {
    mlp *net;
    int batches, trained; /**< of the file; and that the network is trained on */
    float *d_batch[2];    /**< [BATCH_BYTES] for batches of even and of odd numbers */
    float *d_sums;        /**< [batches] of all pixels of a batch */
    cudaStream_t copy, compute;
    cudaEvent_t copied, taken[2];
} trainer;

/** Where batch i is to be copied, in the stream `copy`: what lay there will have been taken. */
cudaError_t trainer_room(trainer *, int i, void **d_batch);
/** Its copy has been asked for: sum it and train on it, without waiting. */
cudaError_t trainer_take(trainer *, int i);

typedef struct way {
    const char *name;
    /** All batches, from opening the file until each has been asked to be taken; NULL: built
     *  without it.
     * @param note receives what is to be known of it; with cudaErrorNotSupported, what is missing
     */
    cudaError_t (*run)(trainer *, const char *path, const char **note);
} way;

extern const way ways[];
extern const int way_count;

#endif

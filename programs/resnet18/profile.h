/*
 * profile.h: what each kind of layer takes, for program.h.
 *
 * profile.c           how long each kind of layer takes; copies and memory, counted
 * profile_graph.c     the same of the kernels in a graph, which profile.c cannot see
 * kernel_kind.c       what those compute
 * wrapped.c           where profile.c looks: in between the networks and what they call
 */
#ifndef RESNET18_PROFILE_H
#define RESNET18_PROFILE_H

#include "network.h"
#include <stdbool.h>

typedef enum layer_kind {
    CONVOLUTION,
    BATCHNORM,
    RELU_ADD,
    POOLING,
    LINEAR,
    COPIES, /* between host and device */
    OTHER,  /* what is in none of these, and the time between them */
    KINDS
} layer_kind;

extern const char *const kind_names[KINDS];

/** Begin or end what counts for one kind; what is begun inside of it counts for the outer one. On
 *  the host, or by events on the stream. */
void profile_begin_host(layer_kind);
void profile_end_host(void);
void profile_begin(layer_kind, cudaStream_t stream);
void profile_end(cudaStream_t stream);

/** While profiling, wait until the device has nothing to do. */
void profile_settle(void);

/** Until profile_stop, what is begun and ended is timed. Called again, it starts from zero, and
 *  what has been made to look into a graph stays. */
void profile_start(void);
bool profile_is_on(void);
/** Count a time that was taken elsewhere. */
void profile_add(layer_kind, float ms);
/** @param ms [KINDS] receives the times since profile_start, NaN for a kind that was never begun;
 *  OTHER is not touched */
cudaError_t profile_read(float *ms);
cudaError_t profile_stop(void);
/** To be called when a forward pass has finished, before the next: add the times of its graph. */
void profile_collect(void);

typedef cudaError_t forward_opt(resnet18_opt *, float *logits, const float *x, cudaStream_t);
/** Launch what `real` would, in a graph that times its kernels; the first call makes it.
 *  @return false: nothing was launched, and it is for `real` to do */
bool profile_graph_launch(forward_opt *real, resnet18_opt *, float *logits, const float *x,
                          cudaStream_t);
/** Free what it made. */
void profile_graph_drop(void);
/** @param function a kernel; by its name */
cudaError_t kernel_kind(layer_kind *, const void *function);

/** @return the sum of those that are numbers, up to `end` */
float kinds_sum(const float *ms, int end);

/** What was counted since counters_reset, and of memory what is held now and was at most. */
typedef struct counters {
    int copies; /* between host and device */
    size_t bytes, peak_bytes;
} counters;

void counters_reset(void);
counters counters_now(void);
void count_copy(void);
void count_allocation(const void *pointer, size_t bytes);
void count_free(const void *pointer);

#endif

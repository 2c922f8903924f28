/*
 * scenarios_cuda.c: the functions of the worker that a call of a CUDA exercise can take as an
 * argument: the forward pass that 506 times.
 */
#ifdef WITH_CUDA
#include "worker.h"

#include "sweep_plan.h"
#include "timer.h"
#include <cuda_runtime_api.h>
#include <string.h>
#include <time.h>

/* One call's work on the stream. */
typedef struct task {
    int microseconds;
    int *took;
} task;

static task tasks[SWEEP_CALLS];
static void *held;

static void CUDART_CB keep_busy(void *data)
{
    const task *t = data;
    const double began = seconds_now();
    const struct timespec length = {t->microseconds / 1000000, t->microseconds % 1000000 * 1000L};
    nanosleep(&length, NULL);
    *t->took = (int)(1e6 * (seconds_now() - began));
}

static cudaError_t hold(size_t bytes)
{
    cudaError_t error = cudaFree(held);
    held = NULL;
    if (!error && bytes) error = cudaMalloc(&held, bytes);
    return error;
}

/* Returns while the stream still works, as a launch does. */
static cudaError_t timed_forward(void *context, int batch, cudaStream_t stream)
{
    sweep_plan *plan = scenario_hidden(context);
    if (!plan) return cudaErrorInvalidValue; /* not the context that the sweep was given */
    if (plan->calls >= SWEEP_CALLS) {
        plan->calls++;
        return cudaSuccess;
    }
    const int call = plan->calls++;
    plan->batch[call] = batch;
    const int before = sweep_calls_before(plan, call);
    if (batch == plan->fails_at) return cudaMalloc(&(void *){NULL}, (size_t)1 << 60);
    if (before == 0) {
        const cudaError_t error = hold((size_t)plan->mib_per_image * (size_t)batch << 20);
        if (error) return error;
    }
    tasks[call] = (task){sweep_length(plan, call), &plan->took[call]};
    return cudaLaunchHostFunc(stream, keep_busy, &tasks[call]);
}

void (*scenario_function_cuda(const char *name))(void)
{
    hold(0); /* of an earlier case */
    return strcmp(name, "timed_forward") == 0 ? (void (*)(void))timed_forward : NULL;
}
#endif

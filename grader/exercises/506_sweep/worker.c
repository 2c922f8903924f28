/* worker.c: the forward pass that the sweep of 506 is to time (sweep_plan.h). */
#ifdef WITH_CUDA
#include "worker/worker.h"

#include "sweep_plan.h"
#include "timer.h"
#include <cuda_runtime_api.h>
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
    sweep_plan *plan = context_hidden(context);
    if (!plan) return cudaErrorInvalidValue; /* not the context that the sweep was given */
    if (plan->calls >= SWEEP_CALLS) {
        plan->calls++;
        return cudaSuccess;
    }
    const int call = plan->calls++;
    plan->batch[call] = batch;
    const int before = sweep_calls_before(plan, call);
    if (sweep_fails(plan, call)) return cudaMalloc(&(void *){NULL}, (size_t)1 << 60);
    if (before == 0) {
        const cudaError_t error = hold((size_t)plan->mib_per_image * (size_t)batch << 20);
        if (error) return error;
    }
    tasks[call] = (task){sweep_length(plan, call), &plan->took[call]};
    return cudaLaunchHostFunc(stream, keep_busy, &tasks[call]);
}

static void forget_earlier_case(void)
{
    hold(0);
}

WORKER_FUNCTION(timed_forward, .prepare = forget_earlier_case);
#endif

/*
 * work.c: what a stream is asked to do: a launch, a copy, a fill, a call of the program's. It runs
 * at once, or becomes a node of a graph, which then owns a copy of it.
 */
#include "runtime/core/runtime.h"

#include <stdlib.h>
#include <string.h>

static cudaError_t call_host(const struct cudaHostNodeParams *host)
{
    runtime_call_back(host->fn, host->userData);
    return cudaSuccess;
}

/** Fresh memory holds nothing, each time the graph runs. */
static cudaError_t renew(const struct graph_memory *memory)
{
    device *device = device_at(memory->pointer);

    if (!device) return cudaErrorInvalidValue;
    return error_from_device(device_forget(device, address_of(memory->pointer), memory->bytes));
}

/** A copy or a fill may race with works of other streams. */
static cudaError_t tell(cudaError_t error)
{
    return report_work(true) && !error ? runtime_fault(cudaErrorLaunchFailure) : error;
}

static cudaError_t run(const struct work *work)
{
    switch (work->type) {
    case cudaGraphNodeTypeKernel: return launch_run(&work->launch);
    case cudaGraphNodeTypeMemcpy: return tell(copy_run(&work->copy));
    case cudaGraphNodeTypeMemset: return tell(fill_run(&work->fill));
    case cudaGraphNodeTypeHost: return call_host(&work->host);
    case cudaGraphNodeTypeEventRecord: event_note(work->event); return cudaSuccess;
    case cudaGraphNodeTypeMemAlloc: return renew(work->memory);
    default: return cudaSuccess; /* empty, wait (all is done), free (with the last node) */
    }
}

static cudaError_t run_in_turn(cudaStream_t stream, const struct work *work)
{
    order_work(stream, work);
    cudaError_t error = run(work);
    if (runtime.device) device_take_turn(runtime.device, NULL);
    return error;
}

cudaError_t work_run(cudaStream_t stream, const struct work *work)
{
    int was = runtime.ordinal;

    if (work->ordinal == was) return run_in_turn(stream, work);
    runtime_look_at(work->ordinal);
    cudaError_t error = run_in_turn(stream, work);
    runtime_look_at(was);
    return error;
}

/** One piece of memory: the pointers to the arguments, and the arguments. */
static bool own_params(struct launch_work *launch)
{
    const device_function_facts *facts = &launch->kernel->facts;
    void **args = malloc(facts->param_count * sizeof *args + facts->param_bytes + 1);

    if (!args) return false;
    unsigned char *params = (unsigned char *)(args + facts->param_count);
    memcpy(params, launch->params, facts->param_bytes);
    for (uint32_t i = 0; i < facts->param_count; i++) args[i] = params + facts->param_offset[i];
    launch->args = args;
    launch->params = params;
    launch->graph = launch->node = 0;
    return true;
}

static bool own(struct work *work)
{
    switch (work->type) {
    case cudaGraphNodeTypeKernel: return own_params(&work->launch);
    case cudaGraphNodeTypeGraph: return (work->child = graph_clone(work->child)) != NULL;
    case cudaGraphNodeTypeMemFree: work->memory->ends = true; /* fall through */
    case cudaGraphNodeTypeMemAlloc: work->memory->references++; return true;
    default: return true;
    }
}

cudaError_t work_copy(struct work *to, const struct work *from)
{
    *to = *from;
    return own(to) ? cudaSuccess : cudaErrorMemoryAllocation;
}

static void release(struct graph_memory *memory)
{
    if (--memory->references) return;
    if (memory->ends) memory_free(memory->pointer);
    free(memory);
}

void work_drop(struct work *work)
{
    switch (work->type) {
    case cudaGraphNodeTypeKernel: free(work->launch.args); break;
    case cudaGraphNodeTypeGraph: graph_free(work->child); break;
    case cudaGraphNodeTypeMemAlloc:
    case cudaGraphNodeTypeMemFree: release(work->memory); break;
    default: break;
    }
}

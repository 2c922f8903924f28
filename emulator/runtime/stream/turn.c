/*
 * turn.c: a stream does its work: in its turn, on the device that was current when it was asked.
 */
#include "softgpu.h"
#include "stream.h"

static cudaError_t call_host(const struct cudaHostNodeParams *host)
{
    runtime_call_back(host->fn, host->userData);
    return cudaSuccess;
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
    case cudaGraphNodeTypeMemAlloc: return graph_memory_renew(work->memory);
    default: return cudaSuccess; /* empty, wait (all is done), free (with the last node) */
    }
}

static void end_turn(void)
{
    for (int i = 0; i < MAX_DEVICES; i++)
        if (runtime.context[i].device) device_take_turn(runtime.context[i].device, NULL);
}

static cudaError_t run_in_turn(cudaStream_t stream, const struct work *work)
{
    order_work(stream, work);
    cudaError_t error = run(work);
    end_turn();
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

static void use_in_turn(cudaStream_t stream, const void *pointer, size_t bytes, device_use use)
{
    const struct work touch = {.type = cudaGraphNodeTypeMemset};

    order_work(stream, &touch);
    device_touch(runtime.device, address_of(pointer), bytes, use);
    end_turn();
}

cudaError_t turn_use(cudaStream_t stream, const void *pointer, size_t bytes, device_use use)
{
    use_in_turn(stream, pointer, bytes, use);
    return tell(cudaSuccess);
}

void softgpu_touch(void *stream, const void *pointer, size_t bytes, int writes)
{
    const int ordinal = device_of(pointer);

    runtime_lock();
    if (ordinal >= 0) runtime_look_at(ordinal);
    if (runtime.device && stream_is_valid(stream)) {
        use_in_turn(stream, pointer, bytes, writes ? DEVICE_WRITES : DEVICE_READS);
        report_work(true);
    }
    runtime_unlock();
}

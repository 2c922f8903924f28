/*
 * device.c: the whole device: what follows when one is opened or closed, and waiting for all of it.
 */
#include "api.h"

void runtime_opened(void)
{
    count_opened();
    shared_show_all(runtime.device);
    pinned_show_all(runtime.device);
}

static void close_device(void)
{
    async_waited();
    order_host_waits_for_all();
    modules_forget();
    count_closing();
    runtime_close();
    for (int i = 0; i < option_devices(); i++)
        if (runtime.context[i].device) return;
    shared_forget_all();
    modules_forget_shared();
    allocations_forget();
}

/** After a fault this succeeds but repairs nothing, as on a GPU. */
cudaError_t cudaDeviceReset(void)
{
    runtime_lock();
    if (runtime_may_close()) close_device();
    runtime_unlock();
    return cudaSuccess;
}

/** Everything is done; only what is captured never will be. */
cudaError_t cudaDeviceSynchronize(void)
{
    cudaError_t error = runtime_enter_unless_capturing();

    if (!error) error = capture_check_device();
    if (!error) async_waited();
    if (!error) order_host_waits_for_all();
    return runtime_leave(error);
}

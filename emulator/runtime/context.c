/*
 * context.c: the one device, opened when first needed, and the lock around it. A fault (an illegal
 * address, an assert, ...) is sticky: from then on every call that would touch the device reports
 * it, until the process ends, as on a GPU.
 */
#include "runtime.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

struct runtime runtime;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static cudaError_t open_device(void)
{
    device_options options = options_read();

    guard_install();
    runtime.device = device_open(&options);
    runtime.owner = getpid();
    if (runtime.device) count_opened();
    if (runtime.device) return cudaSuccess;
    fputs("softgpu: the device cannot be opened: out of memory?\n", stderr);
    return cudaErrorInitializationError;
}

void runtime_lock(void)
{
    pthread_mutex_lock(&lock);
}

bool runtime_try_lock(void)
{
    return pthread_mutex_trylock(&lock) == 0;
}

void runtime_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

cudaError_t runtime_enter(void)
{
    runtime_lock();
    if (runtime.sticky) return runtime.sticky;
    if (!runtime.device) return open_device();
    return runtime.owner == getpid() ? cudaSuccess : cudaErrorInitializationError;
}

cudaError_t runtime_leave(cudaError_t error)
{
    runtime_unlock();
    return error_keep(error);
}

/** After a fault this succeeds but mends nothing, as on a GPU. */
cudaError_t cudaDeviceReset(void)
{
    runtime_lock();
    if (runtime.device && !runtime.sticky && runtime.owner == getpid()) {
        managed_forget_all();
        modules_forget();
        count_closing();
        device_close(runtime.device);
        runtime.device = NULL;
    }
    runtime_unlock();
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void)
{
    return runtime_leave(runtime_enter());
}

cudaError_t cudaInitDevice(int ordinal, unsigned int device_flags, unsigned int flags)
{
    (void)device_flags;
    (void)flags;
    if (ordinal != 0) return error_keep(cudaErrorInvalidDevice);
    return runtime_leave(runtime_enter());
}

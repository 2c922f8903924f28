/*
 * context.c: the devices, each opened when first needed, and the lock around them. A fault (an
 * illegal address, an assert, ...) is sticky: from then on every call that would touch that device
 * reports it, until the process ends, as on a GPU.
 */
#include "runtime.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

struct runtime runtime;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local int current;   /* the device that this thread has chosen */
static _Thread_local bool callback; /* a stream's callback runs on this thread */

static struct context *here(void)
{
    return &runtime.context[runtime.ordinal];
}

static bool is_child; /* of the process that opened the devices: its threads are not here */

static void note_child(void)
{
    is_child = true;
}

bool runtime_may_close(void)
{
    return runtime.device && !here()->sticky && !is_child;
}

void runtime_close(void)
{
    device_close(runtime.device);
    runtime.device = here()->device = NULL;
    here()->peers = 0;
    for (int i = 0; i < MAX_DEVICES; i++) runtime.context[i].peers &= ~(1u << runtime.ordinal);
}

static cudaError_t open_device(void)
{
    device_options options = options_read(runtime.ordinal);

    guard_install();
    if (guard_has_host_memory()) options.host_memory = DEVICE_BASE + DEVICE_OWN_BYTES;
    runtime.device = here()->device = device_open(&options);
    if (!runtime.owner) pthread_atfork(NULL, NULL, note_child);
    runtime.owner = getpid();
    if (!runtime.device) {
        fputs("softgpu: the device cannot be opened: out of memory?\n", stderr);
        return cudaErrorInitializationError;
    }
    here()->opened++;
    runtime_opened();
    return cudaSuccess;
}

/** What is said of "the device" under the lock is said of the one that the thread has chosen. */
void runtime_look_at(int ordinal)
{
    runtime.ordinal = ordinal;
    runtime.device = here()->device;
}

device *runtime_open(int ordinal)
{
    const int before = runtime.ordinal;

    runtime_look_at(ordinal);
    if (!runtime.device) open_device();
    device *opened = runtime.device;
    runtime_look_at(before);
    return opened;
}

void runtime_lock(void)
{
    pthread_mutex_lock(&lock);
    runtime_look_at(current);
}

bool runtime_try_lock(void)
{
    return pthread_mutex_trylock(&lock) == 0;
}

void runtime_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

static cudaError_t enter(void)
{
    if (callback) return cudaErrorNotPermitted;
    if (here()->sticky) return here()->sticky;
    if (is_child) return cudaErrorInitializationError;
    return runtime.device ? cudaSuccess : open_device();
}

cudaError_t runtime_launched(device_status status)
{
    here()->in_flight = status == DEVICE_UNFINISHED;
    if (here()->in_flight) return cudaSuccess;
    cudaError_t fault = error_sticky(status);
    if (report_work(false) && !fault) fault = cudaErrorLaunchFailure;
    return fault ? runtime_fault(fault) : error_from_device(status);
}

/** The launch of that device which is in flight ends. */
static void finish(int ordinal)
{
    const int before = runtime.ordinal;

    if (!runtime.context[ordinal].in_flight) return;
    runtime_look_at(ordinal);
    runtime_launched(device_finish(runtime.device));
    runtime_look_at(before);
}

cudaError_t runtime_enter(void)
{
    runtime_lock();
    for (int i = 0; i < MAX_DEVICES && !callback && !is_child; i++) finish(i);
    return enter();
}

cudaError_t runtime_enter_launch(void)
{
    runtime_lock();
    if (!callback && !is_child) finish(runtime.ordinal);
    return enter();
}
cudaError_t runtime_leave(cudaError_t error)
{
    runtime_unlock();
    return error_keep(error);
}

cudaError_t runtime_fault(cudaError_t error)
{
    return here()->sticky = error;
}

void runtime_call_back(void (*function)(void *), void *data)
{
    int ordinal = runtime.ordinal;

    runtime_unlock();
    callback = true;
    function(data);
    callback = false;
    runtime_lock();
    runtime_look_at(ordinal);
}

int device_current(void)
{
    return current;
}

void device_choose(int ordinal)
{
    current = ordinal;
}

int device_of(const void *pointer)
{
    uint64_t offset = address_of(pointer) - DEVICE_BASE;

    if (offset >= DEVICE_OWN_BYTES) return -1;
    int ordinal = (int)(offset / option_device_range());
    return ordinal < option_devices() ? ordinal : -1;
}

device *device_at(const void *pointer)
{
    int ordinal = device_of(pointer);

    return ordinal < 0 ? NULL : runtime.context[ordinal].device;
}

cudaError_t cudaInitDevice(int ordinal, unsigned int device_flags, unsigned int flags)
{
    (void)device_flags;
    (void)flags;
    if (!device_exists(ordinal)) return error_keep(cudaErrorInvalidDevice);
    runtime_lock();
    runtime_look_at(ordinal);
    cudaError_t error = runtime.device ? cudaSuccess : open_device();
    return runtime_leave(error);
}

/*
 * managed.c: managed memory: one address, valid on both sides. Host and device each keep the bytes;
 * what the host wrote goes to the device before a launch or copy reads it, and what the device
 * wrote comes back afterwards. As everything runs in order, neither side can see the other late.
 *
 * The host's copy lies at the device's address, in pages that guard.c opens. A page may be shared
 * with a neighbouring cudaMalloc, which the host can then touch unnoticed.
 *
 * Mapped pinned memory (cudaHostAllocMapped) is the same thing under another name.
 */
#include "runtime.h"

#include <stdlib.h>
#include <string.h>

struct managed {
    struct managed *next;
    device_address address;
    size_t bytes;
    bool pinned_host; /* the program calls it host memory */
    bool adopted;     /* a __managed__ variable, which nobody frees */
};

static struct managed *all;

static struct managed *remember(device_address address, size_t bytes)
{
    struct managed *managed = calloc(1, sizeof *managed);

    if (!managed) return NULL;
    if (!guard_open(address, bytes)) {
        free(managed);
        return NULL;
    }
    managed->next = all;
    managed->address = address;
    managed->bytes = bytes;
    return all = managed;
}

cudaError_t managed_alloc(void **pointer, size_t bytes, bool pinned_host)
{
    cudaError_t error = memory_alloc(pointer, bytes);

    if (error || !bytes) return error;
    struct managed *managed = remember(address_of(*pointer), bytes);
    if (!managed) {
        device_free(runtime.device, address_of(*pointer));
        return cudaErrorMemoryAllocation;
    }
    managed->pinned_host = pinned_host;
    memset(*pointer, 0, bytes);
    return cudaSuccess;
}

cudaError_t managed_adopt(device_address address, size_t bytes)
{
    struct managed *managed = remember(address, bytes);

    if (!managed) return cudaErrorMemoryAllocation;
    managed->adopted = true;
    return error_from_device(device_read(runtime.device, pointer_to(address), address, bytes));
}

/** The part of [address, address + bytes) that `managed` covers. @return its length, maybe 0. */
static size_t overlap(const struct managed *managed, device_address *address, size_t bytes)
{
    device_address end = managed->address + managed->bytes;
    device_address wanted = *address + bytes;
    device_address first_end = wanted < end ? wanted : end;

    if (*address < managed->address) *address = managed->address;
    return *address < first_end ? first_end - *address : 0;
}

void managed_push(device_address address, size_t bytes)
{
    for (struct managed *m = all; m; m = m->next) {
        device_address at = address;
        size_t length = overlap(m, &at, bytes);
        if (length) device_write(runtime.device, at, pointer_to(at), length);
    }
}

void managed_pull(device_address address, size_t bytes)
{
    for (struct managed *m = all; m; m = m->next) {
        device_address at = address;
        size_t length = overlap(m, &at, bytes);
        if (length) device_read(runtime.device, pointer_to(at), at, length);
    }
}

void managed_push_all(void)
{
    managed_push(DEVICE_BASE, DEVICE_BYTES);
}

void managed_pull_all(void)
{
    managed_pull(DEVICE_BASE, DEVICE_BYTES);
}

static struct managed *around(const void *pointer)
{
    for (struct managed *m = all; m; m = m->next)
        if (address_of(pointer) - m->address < m->bytes) return m;
    return NULL;
}

enum managed_kind managed_kind_of(const void *pointer)
{
    const struct managed *managed = around(pointer);

    if (!managed) return MANAGED_NOT;
    return managed->pinned_host ? MANAGED_PINNED_HOST : MANAGED_MEMORY;
}

static void drop(struct managed **at)
{
    struct managed *managed = *at;

    *at = managed->next;
    guard_close(managed->address, managed->bytes);
    free(managed);
}

bool managed_forget(void *pointer)
{
    for (struct managed **at = &all; *at; at = &(*at)->next) {
        if ((*at)->address != address_of(pointer) || (*at)->adopted) continue;
        drop(at);
        return true;
    }
    return false;
}

void managed_forget_all(void)
{
    while (all) drop(&all);
}

cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned int flags)
{
    if (!pointer || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost))
        return error_keep(cudaErrorInvalidValue);
    cudaError_t error = runtime_enter();
    if (!error) error = managed_alloc(pointer, bytes, false);
    return runtime_leave(error);
}

static cudaError_t check_managed(const void *pointer)
{
    cudaError_t error = runtime_enter();

    if (!error && managed_kind_of(pointer) == MANAGED_NOT) error = cudaErrorInvalidValue;
    return runtime_leave(error);
}

/** Where pages lie is nobody's concern here: advice and prefetching are heard and ignored. */
cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice,
                          struct cudaMemLocation location)
{
    (void)bytes, (void)advice, (void)location;
    return check_managed(pointer);
}

cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, struct cudaMemLocation location,
                                 unsigned int flags, cudaStream_t stream)
{
    (void)bytes, (void)location, (void)flags;
    if (!stream_is_valid(stream)) return error_keep(cudaErrorInvalidResourceHandle);
    return check_managed(pointer);
}
PER_THREAD_STREAM(cudaMemPrefetchAsync);

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *pointer, size_t bytes,
                                     unsigned int flags)
{
    (void)bytes, (void)flags;
    if (!stream_is_valid(stream)) return error_keep(cudaErrorInvalidResourceHandle);
    return check_managed(pointer);
}
PER_THREAD_STREAM(cudaStreamAttachMemAsync);

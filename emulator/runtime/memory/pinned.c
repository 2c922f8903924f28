/*
 * pinned.c: page-locked host memory. Here any host memory copies at the same speed; what counts is
 * that the host need not wait for copies of it (order.c), and that kernels can touch it: what
 * cudaMallocHost gives lies in shared.c's memory, and what the program registers is admitted at its
 * own address, unless the device is in another process.
 */
#include "memory.h"

#include <stdlib.h>

/* Memory of the program's own that it has registered. */
struct registered {
    struct registered *next;
    void *start;
    size_t bytes;
    unsigned flags;
};

static struct registered *all;

static struct registered *around(const void *pointer)
{
    for (struct registered *p = all; p; p = p->next)
        if ((uintptr_t)pointer - (uintptr_t)p->start < p->bytes) return p;
    return NULL;
}

bool pinned_contains(const void *pointer)
{
    return around(pointer) || shared_kind_of(pointer) == SHARED_PINNED;
}

/** To be copied it need not be admitted. */
static cudaError_t show(device *device, const struct registered *p)
{
    if (!device) return cudaSuccess;
    device_status status = device_admit(device, address_of(p->start), p->bytes);
    if (status == DEVICE_UNSUPPORTED && !(p->flags & cudaHostRegisterMapped)) return cudaSuccess;
    return error_from_device(status);
}

void pinned_show_all(device *device)
{
    for (const struct registered *p = all; p; p = p->next) show(device, p);
}

cudaError_t pinned_register(void *start, size_t bytes, unsigned flags)
{
    struct registered *p = malloc(sizeof *p);
    cudaError_t error = cudaSuccess;

    if (!p) return cudaErrorMemoryAllocation;
    *p = (struct registered){all, start, bytes, flags};
    for (int i = 0; i < option_devices() && !error; i++) error = show(runtime.context[i].device, p);
    if (error)
        free(p);
    else
        all = p;
    return error;
}

bool pinned_unregister(const void *start)
{
    for (struct registered **at = &all; *at; at = &(*at)->next) {
        struct registered *p = *at;
        if (p->start != start) continue;
        for (int i = 0; i < option_devices(); i++) {
            device *device = runtime.context[i].device;
            if (device) device_dismiss(device, address_of(start));
        }
        *at = p->next;
        free(p);
        return true;
    }
    return false;
}

bool pinned_flags(const void *pointer, unsigned *flags)
{
    const struct registered *p = around(pointer);

    if (p) *flags = p->flags;
    return p != NULL;
}

/*
 * memory.c: device memory: allocating it, freeing it, and what is wrong with a pointer that cannot
 * be freed.
 */
#include "memory.h"

#include "runtime/profile/profile.h"

#include "softgpu.h"

#include <stdio.h>

bool is_device_memory(const void *pointer)
{
    return is_device_address(pointer) || shared_kind_of(pointer) == SHARED_MANAGED;
}

/** 0 bytes is legal and gives a null pointer, as on a GPU. */
cudaError_t memory_alloc(void **pointer, size_t bytes)
{
    device_address address = 0;
    device_status status = bytes ? device_alloc(runtime.device, bytes, &address) : DEVICE_OK;

    if (!status) *pointer = pointer_to(address);
    if (!status && bytes) allocation_add(address, bytes, false);
    if (!status && bytes) count_allocation(bytes);
    return error_from_device(status);
}

/** What `pointer` is instead of something to free: "16 bytes into a 400-byte buffer allocated at
 *  x.cu:12". */
static void describe_pointer(const void *pointer, char *text, size_t size)
{
    const struct allocation *a = allocation_find(address_of(pointer));
    device *device = device_at(pointer);
    device_address base;
    uint64_t bytes;
    char made[700];

    snprintf(text, size, "not the start of an allocation");
    if (a && a->lent) {
        snprintf(text, size, "%s, which the program must not free", a->name);
    } else if (a && !a->is_freed) {
        snprintf(text, size,
                 a->pinned_host ? "host memory, for cudaFreeHost" : "device memory, for cudaFree");
    } else if (device && !device_find(device, address_of(pointer), &base, &bytes)) {
        allocation_describe(base, bytes, made, sizeof made);
        snprintf(text, size, "%llu bytes into a %llu-byte buffer%s",
                 (unsigned long long)(address_of(pointer) - base), (unsigned long long)bytes, made);
        if (base == address_of(pointer)) snprintf(text, size, "a variable of the program");
    }
}

cudaError_t memory_bad_free(const void *pointer)
{
    const struct allocation *a = allocation_find(address_of(pointer));
    const struct trace here = trace_here();
    char where[800], place[600];

    if (check_level(CHECK_FREES) == CHECK_OFF) return cudaErrorInvalidValue;
    trace_place(&here, NULL, place, sizeof place);
    const char *at = *place ? place + 3 : "";
    if (a && (a->is_freed || a->idle)) {
        allocation_describe(a->base, a->bytes, where, sizeof where);
        report_host(CHECK_FREES, FINDING_BAD_FREE, RELATION_FREED,
                    "frees again a %zu-byte buffer%s:%s", a->bytes, where, at);
    } else {
        describe_pointer(pointer, where, sizeof where);
        report_host(CHECK_FREES, FINDING_BAD_FREE, RELATION_NONE, "frees %p, which is %s:%s",
                    pointer, where, at);
    }
    return cudaErrorInvalidValue;
}

/** The program frees what a graph allocates: it comes back when the graph runs again. */
static cudaError_t rest(struct allocation *a)
{
    void *pointer = pointer_to(a->base);

    if (a->idle) return memory_bad_free(pointer);
    a->idle = true;
    return error_from_device(device_forget(device_at(pointer), a->base, a->bytes));
}

/** A null pointer is legal; anything but the start of a live allocation is not. It may be of
 *  another device than the current one. */
cudaError_t memory_free(void *pointer)
{
    device *device = device_at(pointer);
    struct allocation *a = allocation_find(address_of(pointer));
    device_address base;
    uint64_t bytes = 0;

    if (a && a->of_graph && !a->is_freed) return rest(a);
    if (!pointer || shared_free(pointer, SHARED_MANAGED)) return cudaSuccess;
    if (device) device_find(device, address_of(pointer), &base, &bytes);
    if (!device || device_free(device, address_of(pointer))) return memory_bad_free(pointer);
    allocation_freed(address_of(pointer));
    count_free(bytes);
    return cudaSuccess;
}

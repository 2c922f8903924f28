/*
 * shared.c: memory that host and kernels both see at one address: managed memory, pinned memory,
 * __managed__ variables. The bytes exist once, in pages that this process and the devices both map
 * (guard.c), so nothing is ever copied to and fro. The runtime says where an allocation lies; the
 * devices keep its bounds.
 */
#include "memory.h"

#include <stdlib.h>

enum { PAGE = 4096 };

struct shared {
    struct shared *next; /* by address */
    device_address address;
    size_t bytes;
    enum shared_kind kind;
    unsigned flags;
};

static struct shared *all;

/** Whole pages, and one that nobody may touch behind them. */
static size_t room_for(size_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE + PAGE;
}

/** @return the link after which `room` bytes are free, and where they begin; NULL: nowhere. */
static struct shared **find_room(size_t room, device_address *address)
{
    struct shared **at = &all;
    device_address end = DEVICE_BASE + DEVICE_BYTES;

    *address = DEVICE_BASE + DEVICE_OWN_BYTES + PAGE;
    for (; *at && (*at)->address - *address < room; at = &(*at)->next)
        *address = (*at)->address + room_for((*at)->bytes);
    return end - *address >= room ? at : NULL;
}

static void show(device *device, const struct shared *shared)
{
    if (device) device_share(device, shared->address, shared->bytes);
}

static void show_to_all(const struct shared *shared)
{
    for (int i = 0; i < option_devices(); i++) show(runtime.context[i].device, shared);
}

void shared_show_all(device *device)
{
    for (const struct shared *s = all; s; s = s->next) show(device, s);
}

cudaError_t shared_alloc(void **pointer, size_t bytes, enum shared_kind kind, unsigned flags)
{
    device_address address;
    struct shared **at = bytes < DEVICE_HOST_BYTES ? find_room(room_for(bytes), &address) : NULL;
    struct shared *shared = at ? malloc(sizeof *shared) : NULL;

    if (!shared || !guard_open(address, bytes)) {
        free(shared);
        return cudaErrorMemoryAllocation;
    }
    *shared = (struct shared){*at, address, bytes, kind, flags};
    *at = shared;
    show_to_all(shared);
    if (kind != SHARED_VARIABLE) allocation_add(address, bytes, kind == SHARED_PINNED);
    *pointer = pointer_to(address);
    return cudaSuccess;
}

static void drop(struct shared **at)
{
    struct shared *shared = *at;

    for (int i = 0; i < option_devices(); i++) {
        device *device = runtime.context[i].device;
        if (device) device_unshare(device, shared->address);
    }
    guard_close(shared->address, shared->bytes);
    allocation_freed(shared->address);
    *at = shared->next;
    free(shared);
}

bool shared_free(const void *pointer, enum shared_kind kind)
{
    for (struct shared **at = &all; *at; at = &(*at)->next) {
        if ((*at)->address != address_of(pointer) || (*at)->kind != kind) continue;
        drop(at);
        return true;
    }
    return false;
}

void shared_forget_all(void)
{
    while (all) drop(&all);
}

static const struct shared *around(const void *pointer)
{
    for (const struct shared *s = all; s; s = s->next)
        if (address_of(pointer) - s->address < s->bytes) return s;
    return NULL;
}

enum shared_kind shared_kind_of(const void *pointer)
{
    const struct shared *shared = around(pointer);

    return shared ? shared->kind : SHARED_NOT;
}

bool shared_holds(const void *pointer, size_t bytes)
{
    const struct shared *shared = around(pointer);

    return shared && bytes <= shared->bytes - (address_of(pointer) - shared->address);
}

unsigned shared_flags(const void *pointer)
{
    return around(pointer)->flags;
}

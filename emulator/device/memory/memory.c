/*
 * memory.c: device memory as the host sees it: allocated, copied, filled; and memory of the host's
 * that kernels see.
 *
 * Interface
 *   device.h: memory and host
 *   claim_range, release_range                  for module.c, which has variables to place
 *   find_placement, forget_placements
 *
 * A byte has two maps (bits.h): is it in an allocation, and was it written? Every write, copy and
 * free here updates both, and the checks of races.
 */
#include <stdio.h>
#include <stdlib.h>

#include "device/base/arena.h"
#include "device/base/bits.h"
#include "device/base/pages.h"
#include "device/checks/order.h"
#include "memory.h"

/* ---- allocations ----------------------------------------------------------------------------- */

static void own(device *d, uint64_t offset, uint64_t bytes, bool yes)
{
    uint16_t *grain = d->owned + offset / GRAIN;
    for (; bytes >= GRAIN; bytes -= GRAIN) *grain++ = yes ? GRAIN : 0;
    *grain = yes ? (uint16_t)bytes : 0;
}

static device_address begin(device *d, uint64_t offset, uint64_t bytes)
{
    own(d, offset, bytes, true);
    if (!(d->options.checks & DEVICE_CHECK_UNINITIALISED)) bits_set(d->initialised, offset, bytes);
    return DEVICE_BASE + offset;
}

bool claim_range(device *d, uint64_t bytes, device_address *address)
{
    uint64_t offset;
    if (!heap_allocate(&d->heap, bytes, &offset)) return false;
    *address = begin(d, offset, bytes);
    return true;
}

static device_status no_room(device *d, uint64_t bytes)
{
    return fail(d, DEVICE_OUT_OF_MEMORY, "%llu bytes do not fit: %llu of %llu are free",
                (unsigned long long)bytes, (unsigned long long)(d->heap.limit - d->heap.used),
                (unsigned long long)d->heap.limit);
}

device_status device_alloc(device *d, uint64_t bytes, device_address *address)
{
    return claim_range(d, bytes, address) ? DEVICE_OK : no_room(d, bytes);
}

device_status device_lend(device *d, uint64_t bytes, device_address *address)
{
    uint64_t offset;
    if (!heap_lend(&d->heap, bytes, &offset)) return no_room(d, bytes);
    *address = begin(d, offset, bytes);
    return DEVICE_OK;
}

bool release_range(device *d, device_address address)
{
    uint64_t offset = address - DEVICE_BASE, bytes;
    if (!heap_release(&d->heap, offset, &bytes)) return false;
    own(d, offset, bytes, false);
    pages_clear((uint8_t *)d->initialised, offset / 8, (bytes + 7) / 8);
    pages_clear(d->bytes, offset, bytes);
    global_shadow_forget(d, offset, bytes);
    freed_note(d, offset, bytes);
    return true;
}

device_status device_free(device *d, device_address address)
{
    if (!module_owner(d, address) && release_range(d, address)) return DEVICE_OK;
    return fail(d, DEVICE_BAD_ADDRESS, "0x%llx is not the start of an allocation",
                (unsigned long long)address);
}

device_status device_free_unused(device *d, device_address address)
{
    const device_status status = device_free(d, address);
    if (status == DEVICE_OK) freed_forget_last(d);
    return status;
}

device_status device_find(device *d, device_address address, device_address *base, uint64_t *bytes)
{
    uint64_t offset;
    if (!heap_find(&d->heap, address - DEVICE_BASE, &offset, bytes)) {
        return fail(d, DEVICE_BAD_ADDRESS, "0x%llx is in no allocation",
                    (unsigned long long)address);
    }
    *base = DEVICE_BASE + offset;
    return DEVICE_OK;
}

void device_memory(device *d, uint64_t *free_bytes, uint64_t *total_bytes)
{
    /* What malloc in kernels has handed out is of a heap that the device keeps apart. */
    *free_bytes = d->heap.limit - d->heap.used + d->kernel_heap_used;
    *total_bytes = d->heap.limit;
}

/* Is the range inside one allocation? */
static device_status check_range(device *d, device_address address, uint64_t bytes,
                                 uint64_t *offset)
{
    uint64_t base, size;
    *offset = address - DEVICE_BASE;
    bool inside = heap_find(&d->heap, *offset, &base, &size) && bytes <= base + size - *offset;
    if (inside || bytes == 0) return DEVICE_OK;
    return fail(d, DEVICE_BAD_ADDRESS, "%llu bytes at 0x%llx are not inside one allocation",
                (unsigned long long)bytes, (unsigned long long)address);
}

device_status device_write(device *d, device_address to, const void *from, uint64_t bytes)
{
    uint64_t offset;
    device_status status = check_range(d, to, bytes, &offset);
    if (status != DEVICE_OK || bytes == 0) return status;
    order_step(d, ENGINE_TO_DEVICE);
    order_touch(d, offset, bytes, true, "a copy to the device (cudaMemcpy)");
    memcpy(d->bytes + offset, from, bytes);
    bits_set(d->initialised, offset, bytes);
    return DEVICE_OK;
}

/* What a program fetches that nothing at all has written is no result. */
static void check_written(device *d, uint64_t offset, uint64_t bytes)
{
    uint64_t base, size;
    if (!(d->options.checks & DEVICE_CHECK_UNINITIALISED)) return;
    if (!d->order || !d->order->open) return;
    if (bits_any(d->initialised, offset, bytes) || !heap_find(&d->heap, offset, &base, &size))
        return;
    device_finding f = {.kind = FINDING_UNINITIALISED,
                        .cause = CAUSE_UNWRITTEN,
                        .count = 1,
                        .address = DEVICE_BASE + offset,
                        .relation = RELATION_INSIDE,
                        .base = DEVICE_BASE + base,
                        .bytes = size};
    char buffer[192];
    describe_buffer(d, base, size, buffer, sizeof buffer);
    snprintf(f.text, sizeof f.text,
             "a copy to the host reads %llu bytes that nothing has written, from %s",
             (unsigned long long)bytes, buffer);
    finding_add(d, &f);
}

device_status device_read(device *d, void *to, device_address from, uint64_t bytes)
{
    uint64_t offset;
    device_status status = check_range(d, from, bytes, &offset);
    if (status != DEVICE_OK || bytes == 0) return status;
    order_step(d, ENGINE_TO_HOST);
    order_touch(d, offset, bytes, false, "a copy to the host (cudaMemcpy)");
    check_written(d, offset, bytes);
    memcpy(to, d->bytes + offset, bytes);
    return DEVICE_OK;
}

device_status device_copy(device *d, device_address to, device_address from, uint64_t bytes)
{
    uint64_t target, source;
    device_status status = check_range(d, to, bytes, &target);
    if (status == DEVICE_OK) status = check_range(d, from, bytes, &source);
    if (status != DEVICE_OK || bytes == 0) return status;
    order_step(d, ENGINE_COMPUTE);
    order_touch(d, source, bytes, false, "a copy on the device (cudaMemcpy)");
    order_touch(d, target, bytes, true, "a copy on the device (cudaMemcpy)");
    memmove(d->bytes + target, d->bytes + source, bytes);
    if (bits_all(d->initialised, source, bytes))
        bits_set(d->initialised, target, bytes);
    else
        bits_copy(d->initialised, target, source, bytes);
    return DEVICE_OK;
}

device_status device_copy_peer(device *d, device_address to, device *source, device_address from,
                               uint64_t bytes)
{
    uint64_t target, start;
    device_status status = check_range(d, to, bytes, &target);
    if (status == DEVICE_OK) status = check_range(source, from, bytes, &start);
    if (status != DEVICE_OK || bytes == 0) return status;
    order_step(source, ENGINE_TO_HOST);
    order_step(d, ENGINE_TO_DEVICE);
    order_touch(source, start, bytes, false, "a copy to another device (cudaMemcpy)");
    order_touch(d, target, bytes, true, "a copy from another device (cudaMemcpy)");
    device_linked(d, source, bytes);
    memcpy(d->bytes + target, source->bytes + start, bytes);
    bits_set(d->initialised, target, bytes);
    return DEVICE_OK;
}

device_status device_fill(device *d, device_address to, uint32_t value, uint32_t width,
                          uint64_t count)
{
    uint64_t offset;
    if (width != 1 && width != 2 && width != 4) return fail(d, DEVICE_BAD_ADDRESS, "a bad width");
    if (count > DEVICE_BYTES) return fail(d, DEVICE_BAD_ADDRESS, "a bad count");
    device_status status = check_range(d, to, width * count, &offset);
    if (status != DEVICE_OK || count == 0) return status;
    order_step(d, ENGINE_COMPUTE);
    order_touch(d, offset, width * count, true, "a fill (cudaMemset)");
    uint8_t *at = d->bytes + offset;
    if (width == 1) memset(at, (int)value, count);
    for (uint64_t i = 0; width > 1 && i < count; i++) memcpy(at + i * width, &value, width);
    bits_set(d->initialised, offset, width * count);
    return DEVICE_OK;
}

device_status device_forget(device *d, device_address address, uint64_t bytes)
{
    uint64_t offset;
    device_status status = check_range(d, address, bytes, &offset);
    bool checks = d->options.checks & DEVICE_CHECK_UNINITIALISED;
    if (status == DEVICE_OK && checks) bits_clear(d->initialised, offset, bytes);
    return status;
}

device_status device_touch(device *d, device_address address, uint64_t bytes, device_use use)
{
    uint64_t offset;
    device_status status = check_range(d, address, bytes, &offset);
    const char *what = use == DEVICE_ALLOCATES ? "cudaMallocAsync"
                       : use == DEVICE_FREES   ? "cudaFreeAsync"
                                               : "the given stream";
    if (status == DEVICE_OK) order_touch(d, offset, bytes, use != DEVICE_READS, what);
    return status;
}

/* ---- memory of the host's -------------------------------------------------------------------- */

device_status device_share(device *d, device_address address, uint64_t bytes)
{
    uint64_t offset = address - DEVICE_BASE;
    if (offset < DEVICE_OWN_BYTES || offset >= DEVICE_BYTES || bytes > DEVICE_BYTES - offset)
        return fail(d, DEVICE_BAD_ADDRESS, "not in the host's part of the range");
    heap_place(&d->heap, offset, bytes);
    own(d, offset, bytes, true);
    bits_set(d->initialised, offset, bytes);
    return DEVICE_OK;
}

device_status device_unshare(device *d, device_address address)
{
    uint64_t offset = address - DEVICE_BASE, bytes;
    if (offset < DEVICE_OWN_BYTES || !heap_displace(&d->heap, offset, &bytes))
        return fail(d, DEVICE_BAD_ADDRESS, "nothing is shared there");
    own(d, offset, bytes, false);
    pages_clear((uint8_t *)d->initialised, offset / 8, (bytes + 7) / 8);
    global_shadow_forget(d, offset, bytes);
    freed_note(d, offset, bytes);
    return DEVICE_OK;
}

device_status device_admit(device *d, uint64_t host_address, uint64_t bytes)
{
    d->admitted = retake(d->admitted, (d->admissions + 1) * sizeof *d->admitted);
    d->admitted[d->admissions++] = (admission){host_address, bytes};
    return DEVICE_OK;
}

device_status device_dismiss(device *d, uint64_t host_address)
{
    for (uint32_t i = 0; i < d->admissions; i++) {
        if (d->admitted[i].address != host_address) continue;
        d->admitted[i] = d->admitted[--d->admissions];
        return DEVICE_OK;
    }
    return fail(d, DEVICE_BAD_ADDRESS, "no such memory was admitted");
}

void device_place(device *d, const char *name, device_address address, int initialise)
{
    d->placed = retake(d->placed, (d->placements + 1) * sizeof *d->placed);
    d->placed[d->placements++] = (placement){strdup(name), address, initialise};
}

const placement *find_placement(const device *d, const char *name)
{
    for (uint32_t i = 0; i < d->placements; i++)
        if (!strcmp(d->placed[i].name, name)) return &d->placed[i];
    return NULL;
}

void forget_placements(device *d)
{
    while (d->placements) free(d->placed[--d->placements].name);
}

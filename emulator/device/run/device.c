/*
 * device.c: the device as a whole: opening it, its memory, what it has to tell.
 *
 * Interface
 *   device.h, but for modules (module.c) and launches (launch.c)
 *
 * Device memory is one reserved range that the system fills with pages on first use; so are its
 * maps (bits.h), whose cost is an eighth of the memory touched.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device/base/arena.h"
#include "device/base/bits.h"
#include "device/base/internal.h"
#include "device/checks/order.h"

static const uint64_t default_memory = UINT64_C(8) << 30;
static const uint64_t default_budget = UINT64_C(2000000000);

device_status fail(device *d, device_status status, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(d->error, sizeof d->error, format, list);
    va_end(list);
    return status;
}

/* ---- open and close -------------------------------------------------------------------------- */

/* Huge pages, where the system has them: a kernel's strides are hard on the TLB. */
static void *reserve(uint64_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
}

static uint32_t cores(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (uint32_t)n : 1;
}

static void fill_options(device_options *o, const device_options *given)
{
    if (given) *o = *given;
    if (!o->memory_bytes) o->memory_bytes = default_memory;
    if (!o->budget) o->budget = default_budget;
    if (!o->threads) o->threads = cores();
    if (!o->checks) o->checks = ~(uint32_t)(DEVICE_CHECK_RETURNS | DEVICE_CHECK_NONE);
    if (o->checks & DEVICE_CHECK_NONE) o->checks = 0;
    if (!o->range_bytes) o->range_bytes = DEVICE_OWN_BYTES;
}

enum { SLACK = 1 << 16 }; /* behind the range, for accesses that start inside it */
enum { GRAIN = 256 };     /* allocations begin at multiples of it */
#define OWNED_BYTES (DEVICE_BYTES / GRAIN * 2 + SLACK)

/* A second mapping of the same pages: that is what mremap makes of a shared one of "0 bytes". */
static bool show_host_memory(device *d)
{
    if (!d->options.host_memory) return true;
    void *here = (void *)(uintptr_t)d->options.host_memory;
    void *there = mremap(here, 0, DEVICE_HOST_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED,
                         d->bytes + DEVICE_OWN_BYTES);
    if (there == MAP_FAILED) return false;
    return mprotect(there, DEVICE_HOST_BYTES, PROT_READ | PROT_WRITE) == 0;
}

device *device_open(const device_options *options)
{
    device *d = take(1, sizeof *d);
    fill_options(&d->options, options);
    d->bytes = reserve(DEVICE_BYTES + SLACK);
    d->owned = reserve(OWNED_BYTES);
    d->initialised = reserve(DEVICE_BYTES / 8 + SLACK);
    pthread_mutex_init(&d->allocations, NULL);
    pthread_mutex_init(&d->reports, NULL);
    if (!d->bytes || !d->owned || !d->initialised || !show_host_memory(d)) {
        device_close(d);
        return NULL;
    }
    heap_init(&d->heap, d->options.memory_bytes, d->options.first_byte, d->options.range_bytes);
    d->pool = pool_open(d, d->options.threads);
    return d;
}

void device_close(device *d)
{
    if (!d) return;
    pool_close(d->pool);
    tally_close(d);
    global_shadow_close(d);
    order_close(d);
    graphs_close(d);
    for (uint32_t i = 0; i < d->module_count; i++) module_free(d->modules[i]);
    heap_destroy(&d->heap);
    if (d->bytes) munmap(d->bytes, DEVICE_BYTES + SLACK);
    if (d->owned) munmap(d->owned, OWNED_BYTES);
    if (d->initialised) munmap(d->initialised, DEVICE_BYTES / 8 + SLACK);
    pthread_mutex_destroy(&d->allocations);
    pthread_mutex_destroy(&d->reports);
    forget_placements(d);
    free(d->placed);
    free(d->admitted);
    free(d->modules);
    free(d->functions);
    free(d->findings);
    free(d->output);
    free(d);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void own(device *d, uint64_t offset, uint64_t bytes, bool yes)
{
    uint16_t *grain = d->owned + offset / GRAIN;
    for (; bytes >= GRAIN; bytes -= GRAIN) *grain++ = yes ? GRAIN : 0;
    *grain = yes ? (uint16_t)bytes : 0;
}

bool claim_range(device *d, uint64_t bytes, device_address *address)
{
    uint64_t offset;
    if (!heap_allocate(&d->heap, bytes, &offset)) return false;
    own(d, offset, bytes, true);
    if (!(d->options.checks & DEVICE_CHECK_UNINITIALISED)) bits_set(d->initialised, offset, bytes);
    *address = DEVICE_BASE + offset;
    return true;
}

device_status device_alloc(device *d, uint64_t bytes, device_address *address)
{
    if (claim_range(d, bytes, address)) return DEVICE_OK;
    return fail(d, DEVICE_OUT_OF_MEMORY, "%llu bytes do not fit: %llu of %llu are free",
                (unsigned long long)bytes, (unsigned long long)(d->heap.limit - d->heap.used),
                (unsigned long long)d->heap.limit);
}

/* To write zeros to memory that was never touched would have the system clear a huge page first. */
static void clear_part(uint8_t *memory, uint64_t bytes)
{
    uint8_t any = 0;
    for (uint64_t i = 0; i < bytes; i++) any |= memory[i];
    if (any) memset(memory, 0, bytes);
}

/* Zero a range; whole pages go back to the system instead. */
void clear_range(uint8_t *memory, uint64_t first, uint64_t bytes)
{
    uint64_t page = 4096, end = first + bytes;
    uint64_t low = (first + page - 1) & ~(page - 1), high = end & ~(page - 1);
    if (low >= high || madvise(memory + low, high - low, MADV_DONTNEED)) low = high = end;
    clear_part(memory + first, low - first);
    clear_part(memory + high, end - high);
}

static void note_freed(device *d, uint64_t offset, uint64_t bytes)
{
    uint32_t slot = d->freed_count++ % (sizeof d->freed / sizeof *d->freed);
    d->freed[slot].offset = offset;
    d->freed[slot].bytes = bytes;
}

bool release_range(device *d, device_address address)
{
    uint64_t offset = address - DEVICE_BASE, bytes;
    if (!heap_release(&d->heap, offset, &bytes)) return false;
    own(d, offset, bytes, false);
    clear_range((uint8_t *)d->initialised, offset / 8, (bytes + 7) / 8);
    clear_range(d->bytes, offset, bytes);
    global_shadow_forget(d, offset, bytes);
    note_freed(d, offset, bytes);
    return true;
}

device_status device_free(device *d, device_address address)
{
    if (!module_owner(d, address) && release_range(d, address)) return DEVICE_OK;
    return fail(d, DEVICE_BAD_ADDRESS, "0x%llx is the start of no allocation",
                (unsigned long long)address);
}

bool freed_find(const device *d, uint64_t offset, uint64_t *base, uint64_t *bytes)
{
    for (size_t i = 0; i < sizeof d->freed / sizeof *d->freed; i++) {
        if (offset - d->freed[i].offset >= d->freed[i].bytes) continue;
        *base = d->freed[i].offset;
        *bytes = d->freed[i].bytes;
        return true;
    }
    return false;
}

bool freed_below(const device *d, uint64_t offset, uint64_t *base, uint64_t *bytes)
{
    uint64_t last = 0;
    for (size_t i = 0; i < sizeof d->freed / sizeof *d->freed; i++) {
        uint64_t end = d->freed[i].offset + d->freed[i].bytes;
        if (end > offset || end <= last) continue;
        last = end;
        *base = d->freed[i].offset;
        *bytes = d->freed[i].bytes;
    }
    return last > 0;
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
    *free_bytes = d->heap.limit - d->heap.used;
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
    order_touch(d, offset, bytes, true, "a copy to the device");
    memcpy(d->bytes + offset, from, bytes);
    bits_set(d->initialised, offset, bytes);
    return DEVICE_OK;
}

device_status device_read(device *d, void *to, device_address from, uint64_t bytes)
{
    uint64_t offset;
    device_status status = check_range(d, from, bytes, &offset);
    if (status != DEVICE_OK || bytes == 0) return status;
    order_step(d, ENGINE_TO_HOST);
    order_touch(d, offset, bytes, false, "a copy to the host");
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
    order_touch(d, source, bytes, false, "a copy on the device");
    order_touch(d, target, bytes, true, "a copy on the device");
    memmove(d->bytes + target, d->bytes + source, bytes);
    if (bits_all(d->initialised, source, bytes))
        bits_set(d->initialised, target, bytes);
    else
        bits_copy(d->initialised, target, source, bytes);
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
    order_touch(d, offset, width * count, true, "a fill");
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
    clear_range((uint8_t *)d->initialised, offset / 8, (bytes + 7) / 8);
    global_shadow_forget(d, offset, bytes);
    note_freed(d, offset, bytes);
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

bool is_admitted(const device *d, uint64_t address, uint32_t bytes)
{
    for (uint32_t i = 0; i < d->admissions; i++) {
        const admission *a = &d->admitted[i];
        uint64_t offset = address - a->address;
        if (offset < a->bytes && bytes <= a->bytes - offset) return true;
    }
    return false;
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

/* ---- what there is to tell ------------------------------------------------------------------- */

int device_take_finding(device *d, device_finding *finding)
{
    if (d->finding_taken == d->finding_count) {
        d->finding_taken = d->finding_count = 0;
        return 0;
    }
    *finding = d->findings[d->finding_taken++].finding;
    return 1;
}

int device_annotate(device *d, int is_host, const char *words)
{
    (void)d, (void)is_host, (void)words;
    return 0;
}

size_t device_take_output(device *d, char *to, size_t bytes)
{
    size_t left = d->output_bytes - d->output_taken;
    if (bytes > left) bytes = left;
    if (bytes) memcpy(to, d->output + d->output_taken, bytes);
    d->output_taken += bytes;
    if (d->output_taken == d->output_bytes) d->output_taken = d->output_bytes = 0;
    return bytes;
}

const char *device_error(device *d)
{
    return d->error;
}

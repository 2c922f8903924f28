/*
 * device.c: the device as a whole: opening it, closing it, its reports.
 *
 * Interface
 *   device.h: open, report
 *
 * Device memory is one reserved range that the system fills with pages on first use; so are its
 * maps (bits.h), whose cost is an eighth of the memory touched.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device/base/arena.h"
#include "device/base/pages.h"
#include "device/counts/count.h"
#include "device/checks/order.h"
#include "device/trace/trace.h"
#include "run.h"

static const uint64_t default_memory = UINT64_C(8) << 30;
static const uint64_t default_kernel_heap = UINT64_C(8) << 20;
static const uint64_t default_budget = UINT64_C(500000000);

/* ---- open and close -------------------------------------------------------------------------- */

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
    d->bytes = pages_reserve_huge(DEVICE_BYTES + SLACK);
    d->owned = pages_reserve_huge(OWNED_BYTES);
    d->initialised = pages_reserve_huge(DEVICE_BYTES / 8 + SLACK);
    pthread_mutex_init(&d->allocations, NULL);
    pthread_mutex_init(&d->reports, NULL);
    if (!d->bytes || !d->owned || !d->initialised || !show_host_memory(d)) {
        device_close(d);
        return NULL;
    }
    heap_init(&d->heap, d->options.memory_bytes, d->options.first_byte, d->options.range_bytes);
    d->kernel_heap = default_kernel_heap;
    d->pool = pool_open(d, d->options.threads);
    d->trace = trace_open();
    return d;
}

device_status device_limit_heap(device *d, uint64_t bytes)
{
    d->kernel_heap = bytes;
    return DEVICE_OK;
}

void device_close(device *d)
{
    if (!d) return;
    pool_close(d->pool);
    free(d->in_flight); /* a program that ends waits for nothing */
    peers_close(d);
    counters_close(d);
    trace_close(d);
    global_shadow_close(d);
    order_close(d);
    graphs_close(d);
    for (uint32_t i = 0; i < d->module_count; i++) module_free(d->modules[i]);
    heap_destroy(&d->heap);
    pages_release(d->bytes, DEVICE_BYTES + SLACK);
    pages_release(d->owned, OWNED_BYTES);
    pages_release(d->initialised, DEVICE_BYTES / 8 + SLACK);
    pthread_mutex_destroy(&d->allocations);
    pthread_mutex_destroy(&d->reports);
    forget_placements(d);
    free(d->placed);
    textures_free(d);
    free(d->admitted);
    free(d->modules);
    free(d->functions);
    free(d->findings);
    free(d->output);
    free(d);
}

/* ---- what there is to tell ------------------------------------------------------------------- */

void device_interrupt(device *d)
{
    d->interrupted = true;
}

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

/*
 * counts.c: the one number that a traffic test compares, from the counters of a call. Bytes moved
 * by copies count too, so that copies instead of kernels gain nothing.
 */
#include "correctness/case.h"

#define SECTOR_BYTES 32
#define WARP_BYTES   128 /* of a request in which each of 32 threads takes 4 bytes */

static double ratio(double a, double b)
{
    return b > 0.0 ? a / b : 0.0;
}

static double bytes_copied(const device_counts *c)
{
    const double on_device = 2.0 * (double)c->on_device.bytes; /* read and written */
    return (double)(c->to_device.bytes + c->to_host.bytes + c->fills.bytes) + on_device;
}

double moved_bytes(const device_counts *c)
{
    const uint64_t local = c->local_load.sectors + c->local_store.sectors;
    const uint64_t read = c->global_load.sectors + c->read_only.sectors;
    const uint64_t bulk = c->bulk_load.sectors + c->bulk_store.sectors;
    const uint64_t stored = c->global_store.sectors + c->global_atomic.sectors;
    const uint64_t sectors = read + stored + local + bulk;
    return SECTOR_BYTES * (double)sectors + bytes_copied(c);
}

double stored_bytes(const device_counts *c)
{
    const uint64_t bytes = c->global_store.bytes + c->global_atomic.bytes + c->bulk_store.bytes;
    return (double)bytes + bytes_copied(c);
}

/* A warp that asks for 512 bytes at once asks four times for 128. */
static double requests_of_4_bytes(const device_traffic *t)
{
    const double full = (double)t->bytes / WARP_BYTES, requests = (double)t->requests;
    return full > requests ? full : requests;
}

double sectors_per_request(const device_counts *c)
{
    const uint64_t read = c->global_load.sectors + c->read_only.sectors;
    return ratio((double)(read + c->global_store.sectors),
                 requests_of_4_bytes(&c->global_load) + requests_of_4_bytes(&c->read_only) +
                     requests_of_4_bytes(&c->global_store));
}

double bank_conflicts(const device_counts *c)
{
    return (double)(c->shared_load.conflicts + c->shared_store.conflicts +
                    c->shared_atomic.conflicts);
}

double atomics(const device_counts *c)
{
    return (double)c->global_atomic.bytes / 4;
}

/* Of launch after launch, the busiest block and the longest warp: an average would fall with blocks
 * and warps that have nothing to do. */
double atomics_per_block(const device_counts *c)
{
    return (double)c->block_atomics;
}

double instructions_per_warp(const device_counts *c)
{
    return (double)c->longest;
}

double warp_instructions(const device_counts *c)
{
    return (double)c->instructions;
}

double kernel_launches(const device_counts *c)
{
    return (double)c->launches;
}

double host_launches(const device_counts *c)
{
    return (double)c->host_launches;
}

/* Held against what the device holds of an average launch: launches of nothing add no room. */
double waves(const device_counts *c)
{
    return ratio((double)c->blocks * (double)c->launches, (double)c->resident);
}

double link_bytes(const device_counts *c)
{
    return (double)(c->received > c->sent ? c->received : c->sent);
}

double allocated_bytes(const device_counts *c)
{
    return (double)c->allocated.bytes;
}

double peak_bytes(const device_counts *c)
{
    return (double)c->peak;
}

double footprint_bytes(const device_counts *c)
{
    const uint64_t local = c->local_load.sectors + c->local_store.sectors;
    return (double)c->footprint + SECTOR_BYTES * (double)local;
}

double tensor_instructions(const device_counts *c)
{
    return (double)c->by_class[CLASS_TENSOR];
}

double global_requests(const device_counts *c)
{
    return (double)(c->global_load.requests + c->read_only.requests + c->global_store.requests +
                    c->global_atomic.requests);
}

double shared_requests(const device_counts *c)
{
    return (double)(c->shared_load.requests + c->shared_store.requests + c->shared_atomic.requests);
}

/* An atomic operation that adds nothing reads, too. */
double shared_loads(const device_counts *c)
{
    return (double)(c->shared_load.requests + c->shared_atomic.requests);
}

double loads_in_bulk(const device_counts *c)
{
    const uint64_t threads = c->global_load.bytes + c->read_only.bytes + c->global_atomic.bytes;
    return ratio((double)c->bulk_load.bytes, (double)(c->bulk_load.bytes + threads));
}

double operations(const device_counts *c)
{
    return (double)c->operations;
}

double busiest_operations(const device_counts *c)
{
    return (double)c->busiest;
}

double host_copies(const device_counts *c)
{
    return (double)(c->to_device.count + c->to_host.count);
}

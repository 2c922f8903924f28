/*
 * count.c: what a program's launches and copies cost, for softgpu.h and profile.c.
 *
 * The device counts launches, and only ever adds; so the cost of a stretch of the program is a
 * difference. What a device had counted when it was closed is kept.
 */
#include "profile.h"

#include "softgpu.h"

static bool asked;              /* between softgpu_count_start and softgpu_count_stop */
static device_counts transfers; /* copies and fills; all else is 0 */
static device_counts kept;      /* of devices that were closed */
static device_counts start;

device_counts count_so_far(void)
{
    device_counts sum = transfers, now;

    count_add(&sum, &kept);
    for (int i = 0; i < option_devices(); i++) {
        if (!runtime.context[i].device) continue;
        device_count_total(runtime.context[i].device, &now);
        count_add(&sum, &now);
    }
    return sum;
}

static bool counting(void)
{
    return asked || profile_wanted();
}

void count_opened(void)
{
    if (counting()) device_count(runtime.device, 1);
}

void count_closing(void)
{
    device_counts now;

    device_count_total(runtime.device, &now);
    count_add(&kept, &now);
    profile_collect();
}

static void count_transfer(device_transfers *kind, size_t bytes)
{
    kind->count++;
    kind->bytes += bytes;
}

void count_copy(bool to_device, bool from_device, size_t bytes)
{
    if (!bytes || !counting()) return;
    if (to_device && from_device)
        count_transfer(&transfers.on_device, bytes);
    else if (to_device)
        count_transfer(&transfers.to_device, bytes);
    else if (from_device)
        count_transfer(&transfers.to_host, bytes);
}

void count_fill(size_t bytes)
{
    if (bytes && counting()) count_transfer(&transfers.fills, bytes);
}

static void count_on_all(int on)
{
    for (int i = 0; i < option_devices(); i++)
        if (runtime.context[i].device) device_count(runtime.context[i].device, on);
}

static int64_t held_of(const device_counts *c)
{
    return (int64_t)(c->allocated.bytes - c->freed.bytes);
}

void count_allocation(size_t bytes)
{
    if (!counting()) return;
    count_transfer(&transfers.allocated, bytes);
    const int64_t held = held_of(&transfers) - held_of(&start);
    if (held > (int64_t)transfers.peak) transfers.peak = (uint64_t)held;
}

void count_free(size_t bytes)
{
    if (counting()) count_transfer(&transfers.freed, bytes);
}

void softgpu_count_start(void)
{
    runtime_lock();
    asked = true;
    count_on_all(1);
    transfers.peak = 0;
    start = count_so_far();
    runtime_unlock();
}

void softgpu_count_stop(device_counts *counts)
{
    runtime_lock();
    *counts = count_so_far();
    count_add_times(counts, &start, (uint64_t)-1);
    asked = false;
    count_on_all(counting());
    runtime_unlock();
}

/*
 * state.c: functions that all parts of a device use: see state.h.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "arena.h"
#include "state.h"

device_status fail(device *d, device_status status, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(d->error, sizeof d->error, format, list);
    va_end(list);
    return status;
}

/* ---- ranges freed not long ago --------------------------------------------------------------- */

void freed_note(device *d, uint64_t offset, uint64_t bytes)
{
    uint32_t slot = d->freed_count++ % (sizeof d->freed / sizeof *d->freed);
    d->freed[slot].offset = offset;
    d->freed[slot].bytes = bytes;
}

void freed_forget_last(device *d)
{
    d->freed[--d->freed_count % (sizeof d->freed / sizeof *d->freed)].bytes = 0;
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

/* ---- memory of the host's -------------------------------------------------------------------- */

bool is_admitted(const device *d, uint64_t address, uint32_t bytes)
{
    for (uint32_t i = 0; i < d->admissions; i++) {
        const admission *a = &d->admitted[i];
        uint64_t offset = address - a->address;
        if (offset < a->bytes && bytes <= a->bytes - offset) return true;
    }
    return false;
}

/* ---- memory of other devices ----------------------------------------------------------------- */

device *peer_at(const device *d, uint64_t offset)
{
    for (uint32_t i = 0; i < d->peer_count; i++) {
        const device_options *o = &d->peers[i]->options;
        if (offset - o->first_byte < o->range_bytes) return d->peers[i];
    }
    return NULL;
}

void device_linked(device *to, device *from, uint64_t bytes)
{
    to->received += bytes;
    from->sent += bytes;
}

/* ---- how launches fail ----------------------------------------------------------------------- */

void launch_fail(launch *l, device_status status)
{
    int none = DEVICE_OK;
    atomic_compare_exchange_strong(&l->status, &none, (int)status);
}

void launch_stop(launch *l, device_status status)
{
    launch_fail(l, status);
    l->stop = true;
}

/*
 * counters.c: from the counters of host threads to the counts of kernels and source lines.
 *
 * Interface
 *   device_count, device_count_total, device_count_kernel, device_count_instruction,
 *   device_count_launch
 *   counters_are_on, counters_begin, counters_prepare, counters_touch, counters_fold, counters_end,
 *   counters_close
 */
#include <stdio.h>
#include <stdlib.h>

#include "device/base/arena.h"
#include "device/base/pages.h"
#include "count.h"
#include "device/checks/order.h"
#include "device/trace/trace.h"
#include "pattern.h"
#include "device/residency.h"

/* ---- the map of sectors ---------------------------------------------------------------------- */

enum { MAP_STEP = 4096 }; /* bytes of the map, for 1 MiB of device memory */

#define MAP_BYTES (DEVICE_BYTES / SECTOR_BYTES / 8)

static void *reserve(size_t bytes)
{
    void *memory = pages_reserve(bytes);
    if (!memory) abort();
    return memory;
}

void counters_touch(counting *c, const uint64_t *sector, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t s = sector[i] - DEVICE_BASE / SECTOR_BYTES, bit = UINT64_C(1) << s % 64;
        if (s >= DEVICE_BYTES / SECTOR_BYTES) continue; /* out of bounds: a finding says so */
        if (__atomic_load_n(&c->touched[s / 64], __ATOMIC_RELAXED) & bit) continue;
        __atomic_fetch_or(&c->touched[s / 64], bit, __ATOMIC_RELAXED);
        __atomic_store_n(&c->touched_any[s / 8 / MAP_STEP], 1, __ATOMIC_RELAXED);
    }
}

/* How many sectors are on the map? Clears it. */
static uint64_t take_touched(counting *c)
{
    uint64_t sectors = 0;
    for (uint64_t k = 0; k < MAP_BYTES / MAP_STEP; k++) {
        if (!c->touched_any[k]) continue;
        uint64_t *part = c->touched + k * MAP_STEP / sizeof *part;
        for (uint32_t i = 0; i < MAP_STEP / sizeof *part; i++)
            sectors += (uint64_t)__builtin_popcountll(part[i]);
        memset(part, 0, MAP_STEP);
        c->touched_any[k] = 0;
    }
    return sectors;
}

/* ---- kernels --------------------------------------------------------------------------------- */

static char *intern(counting *c, const char *file)
{
    for (uint32_t i = 0; i < c->file_count; i++) {
        if (!strcmp(c->files[i], file)) return c->files[i];
    }
    c->files = retake(c->files, (c->file_count + 1) * sizeof *c->files);
    return c->files[c->file_count++] = strdup(file);
}

/* A kernel that calls functions may reach any instruction of its module. */
static counted *new_counted(counting *c, const function *f)
{
    const module *m = f->module;
    counted *k = take(1, sizeof *k);
    *k = (counted){.module = m, .version = m->version, .function = f};
    snprintf(k->kernel, sizeof k->kernel, "%s", f->plain_name);
    k->first = f->calls ? 0 : f->first_instruction;
    k->instructions = f->calls ? m->instruction_count : f->instructions;
    k->instruction = take(k->instructions + 1, sizeof *k->instruction);
    k->file = take(k->instructions + 1, sizeof *k->file);
    k->line = take(k->instructions + 1, sizeof *k->line);
    k->counters = take(k->instructions + 1, sizeof *k->counters);
    memcpy(k->instruction, m->instructions + k->first, k->instructions * sizeof *k->instruction);
    for (uint32_t i = 0; i < k->instructions; i++)
        k->file[i] = intern(c, module_file(m, k->instruction[i].line, &k->line[i]));
    return k;
}

static uint32_t number_of(counting *c, const function *f)
{
    for (uint32_t i = 0; i < c->kernel_count; i++) {
        const counted *k = c->kernels[i];
        if (k->function == f && k->version == f->module->version) return i;
    }
    c->kernels = retake(c->kernels, (c->kernel_count + 1) * sizeof(counted *));
    c->kernels[c->kernel_count] = new_counted(c, f);
    return c->kernel_count++;
}

/* ---- host threads ---------------------------------------------------------------------------- */

void counters_prepare(block *b)
{
    const counted *k = b->launch->counted;
    size_t end = k->first + k->instructions;
    if (end > b->counter_capacity) {
        b->counters = retake(b->counters, end * sizeof *b->counters);
        b->counter_capacity = end;
    }
    memset(b->counters + k->first, 0, k->instructions * sizeof *b->counters);
    b->longest = b->most_atomics = 0;
}

static void add_counters(counters *to, const counters *from)
{
    to->executed += from->executed;
    to->lanes += from->lanes;
    to->requests += from->requests;
    to->units += from->units;
    to->bytes += from->bytes;
    to->least += from->least;
}

static void raise(uint64_t *most, uint64_t one)
{
    if (one > *most) *most = one;
}

void counters_fold(block *b)
{
    launch *l = b->launch;
    counted *k = l->counted;
    pthread_mutex_lock(&b->device->reports);
    for (uint32_t i = 0; i < k->instructions; i++)
        add_counters(&k->counters[i], &b->counters[k->first + i]);
    raise(&l->longest, b->longest);
    raise(&l->block_atomics, b->most_atomics);
    pthread_mutex_unlock(&b->device->reports);
}

/* ---- counts ---------------------------------------------------------------------------------- */

static void add_traffic(device_traffic *to, const counters *t)
{
    to->requests += t->requests;
    to->sectors += t->units;
    to->bytes += t->bytes;
}

static void add_banks(device_banks *to, const counters *t)
{
    to->requests += t->requests;
    to->wavefronts += t->units;
    to->conflicts += t->units - t->least;
}

static void add_constants(device_counts *to, const counters *t)
{
    add_traffic(&to->read_only, t);
    to->constant.requests += t->requests;
    to->constant.sectors += t->units;
    to->constant.reads += t->least;
}

static void add_memory(device_counts *c, traffic kind, const counters *t)
{
    switch (kind) {
    case TRAFFIC_NONE: return;
    case TRAFFIC_GLOBAL_LOAD: add_traffic(&c->global_load, t); return;
    case TRAFFIC_GLOBAL_STORE: add_traffic(&c->global_store, t); return;
    case TRAFFIC_GLOBAL_ATOMIC: add_traffic(&c->global_atomic, t); return;
    case TRAFFIC_LOCAL_LOAD: add_traffic(&c->local_load, t); return;
    case TRAFFIC_LOCAL_STORE: add_traffic(&c->local_store, t); return;
    case TRAFFIC_SHARED_LOAD: add_banks(&c->shared_load, t); return;
    case TRAFFIC_SHARED_STORE: add_banks(&c->shared_store, t); return;
    case TRAFFIC_SHARED_ATOMIC: add_banks(&c->shared_atomic, t); return;
    case TRAFFIC_READ_ONLY: add_traffic(&c->read_only, t); return;
    case TRAFFIC_CONSTANT: add_constants(c, t); return;
    case TRAFFIC_BULK_LOAD: add_traffic(&c->bulk_load, t); return;
    case TRAFFIC_BULK_STORE: add_traffic(&c->bulk_store, t); return;
    }
}

static void add_instruction(device_counts *c, const instruction *s, const counters *t)
{
    c->instructions += t->executed;
    c->by_class[s->class] += t->executed;
    c->lanes += t->lanes;
    c->operations += t->lanes * s->operations;
    c->multiplications += t->lanes * s->multiplications;
    if (s->barrier) c->barriers += t->executed;
    add_memory(c, (traffic)s->traffic, t);
}

static void add_kernel(device_counts *c, const counted *k)
{
    c->launches += k->launches;
    c->blocks += k->blocks;
    c->warps += k->warps;
    c->threads += k->threads;
    c->host_launches += k->host_launches;
    c->resident += k->resident;
    c->footprint += k->footprint;
    c->longest += k->longest;
    c->block_atomics += k->block_atomics;
    for (uint32_t i = 0; i < k->instructions; i++)
        add_instruction(c, &k->instruction[i], &k->counters[i]);
}

/* ---- launches -------------------------------------------------------------------------------- */

static void subtract(device_counts *from, const device_counts *what)
{
    uint64_t *f = (uint64_t *)from;
    const uint64_t *w = (const uint64_t *)what;
    for (size_t i = 0; i < sizeof *from / sizeof *f; i++) f[i] -= w[i];
}

static void add_shape(counted *k, const launch *l)
{
    const uint32_t *size = l->request->block;
    uint64_t threads = (uint64_t)size[0] * size[1] * size[2];
    k->launches++;
    k->host_launches += !l->goes_on;
    k->resident += MULTIPROCESSORS *
                   resident_blocks(&l->function->facts, threads, l->request->dynamic_shared_bytes);
    k->blocks += l->blocks;
    k->threads += l->blocks * threads;
    k->warps += l->blocks * ((threads + LANES - 1) / LANES);
}

bool counters_are_on(const device *d)
{
    return d->counting && d->counting->on;
}

static void keep_counters(counted *k)
{
    size_t bytes = (k->instructions + 1) * sizeof *k->counters;
    k->before = memcpy(take(bytes, 1), k->counters, bytes);
}

/* What this launch alone has added to them. */
static void trace_costs(launch *l)
{
    counted *k = l->counted;
    for (uint32_t i = 0; i < k->instructions; i++) {
        const counters *t = &k->counters[i], *b = &k->before[i];
        const instruction *s = &k->instruction[i];
        if (t->executed == b->executed && t->requests == b->requests) continue;
        trace_instruction(l, &(trace_cost){k->first + i, s->line, s->opcode, s->traffic, s->barrier,
                                           t->executed - b->executed, t->lanes - b->lanes,
                                           t->requests - b->requests, t->units - b->units,
                                           t->bytes - b->bytes, t->least - b->least});
    }
    free(k->before);
    k->before = NULL;
}

static counting *counting_of(device *d)
{
    if (d->counting) return d->counting;
    d->counting = take(1, sizeof *d->counting);
    d->counting->touched = reserve(MAP_BYTES);
    d->counting->touched_any = reserve(MAP_BYTES / MAP_STEP);
    return d->counting;
}

void counters_begin(launch *l)
{
    counting *c = counting_of(l->device);
    l->function = l->function->instrumented;
    l->budget *= 2; /* half of an instrumented copy's operations count */
    uint32_t number = number_of(c, l->function); /* may move the list */
    counted *k = l->counted = c->kernels[number];
    c->before = (device_counts){0};
    add_kernel(&c->before, k);
    add_shape(k, l);
    if (l->trace) keep_counters(k);
}

static void keep_launch(counting *c, const launch *l)
{
    if (c->launch_count == MOST_LAUNCHES) return;
    if (c->launch_count == c->launch_room) {
        c->launch_room = 2 * c->launch_room + 16;
        c->launches = retake(c->launches, c->launch_room * sizeof *c->launches);
    }
    device_counted_launch *to = &c->launches[c->launch_count++];
    const device_launch_request *r = l->request;
    *to = (device_counted_launch){.kernel = number_of(c, l->function),
                                  .dynamic_shared_bytes = r->dynamic_shared_bytes};
    memcpy(to->grid, r->grid, sizeof to->grid);
    memcpy(to->block, r->block, sizeof to->block);
    add_kernel(&to->counts, l->counted);
    subtract(&to->counts, &c->before);
}

void counters_end(launch *l)
{
    if (!l->counted) return;
    l->counted->footprint += SECTOR_BYTES * take_touched(l->device->counting);
    l->counted->longest += l->longest;
    l->counted->block_atomics += l->block_atomics;
    keep_launch(l->device->counting, l);
    if (l->trace) trace_costs(l);
}

/* ---- device.h -------------------------------------------------------------------------------- */

void device_count(device *d, int on)
{
    if (d->counting || on) counting_of(d)->on = on;
}

void device_count_total(device *d, device_counts *counts)
{
    *counts = (device_counts){0};
    for (uint32_t i = 0; d->counting && i < d->counting->kernel_count; i++)
        add_kernel(counts, d->counting->kernels[i]);
    counts->received = d->received;
    counts->sent = d->sent;
    counts->span = d->order ? d->order->span : 0;
}

int device_count_kernel(device *d, uint32_t kernel, char name[128], device_counts *counts)
{
    if (!d->counting || kernel >= d->counting->kernel_count) return 0;
    const counted *k = d->counting->kernels[kernel];
    *counts = (device_counts){0};
    add_kernel(counts, k);
    memcpy(name, k->kernel, sizeof k->kernel);
    return 1;
}

int device_count_instruction(device *d, uint32_t kernel, uint32_t number,
                             device_instruction *instruction)
{
    if (!d->counting || kernel >= d->counting->kernel_count) return 0;
    const counted *k = d->counting->kernels[kernel];
    if (number >= k->instructions) return 0;
    *instruction = (device_instruction){.line = k->line[number]};
    snprintf(instruction->file, sizeof instruction->file, "%s", k->file[number]);
    snprintf(instruction->opcode, sizeof instruction->opcode, "%s", k->instruction[number].opcode);
    add_instruction(&instruction->counts, &k->instruction[number], &k->counters[number]);
    return 1;
}

int device_count_launch(device *d, uint32_t number, device_counted_launch *launch)
{
    if (!d->counting || number >= d->counting->launch_count) return 0;
    *launch = d->counting->launches[number];
    return 1;
}

void counters_close(device *d)
{
    counting *c = d->counting;
    if (!c) return;
    for (uint32_t i = 0; i < c->kernel_count; i++) {
        counted *k = c->kernels[i];
        free(k->instruction);
        free(k->file);
        free(k->line);
        free(k->counters);
        free(k);
    }
    for (uint32_t i = 0; i < c->file_count; i++) free(c->files[i]);
    pages_release(c->touched, MAP_BYTES);
    pages_release(c->touched_any, MAP_BYTES / MAP_STEP);
    free(c->launches);
    free(c->kernels);
    free(c->files);
    free(c);
}

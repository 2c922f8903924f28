/*
 * tally.c: from the tallies of host threads to the counts of kernels and source lines.
 *
 * Interface
 *   device_count, device_count_total, device_count_kernel, device_count_site,
 *   device_count_launch
 *   tally_is_on, tally_begin, tally_prepare, tally_touch, tally_fold, tally_end, tally_close
 */
#include <stdio.h>
#include <stdlib.h>

#include "device/base/arena.h"
#include "device/base/pages.h"
#include "count.h"
#include "device/checks/order.h"
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

void tally_touch(counter *c, const uint64_t *sector, uint32_t count)
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
static uint64_t take_touched(counter *c)
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

static char *intern(counter *c, const char *file)
{
    for (uint32_t i = 0; i < c->file_count; i++) {
        if (!strcmp(c->files[i], file)) return c->files[i];
    }
    c->files = retake(c->files, (c->file_count + 1) * sizeof *c->files);
    return c->files[c->file_count++] = strdup(file);
}

/* A kernel that calls functions may reach any site of its module. */
static counted *new_counted(counter *c, const function *f)
{
    const module *m = f->module;
    counted *k = take(1, sizeof *k);
    *k = (counted){.module = m, .version = m->version, .function = f};
    snprintf(k->kernel, sizeof k->kernel, "%s", f->plain_name);
    k->first = f->calls ? 0 : f->first_site;
    k->sites = f->calls ? m->site_count : f->sites;
    k->site = take(k->sites + 1, sizeof *k->site);
    k->file = take(k->sites + 1, sizeof *k->file);
    k->line = take(k->sites + 1, sizeof *k->line);
    k->tally = take(k->sites + 1, sizeof *k->tally);
    memcpy(k->site, m->sites + k->first, k->sites * sizeof *k->site);
    for (uint32_t i = 0; i < k->sites; i++)
        k->file[i] = intern(c, module_file(m, k->site[i].line, &k->line[i]));
    return k;
}

static uint32_t number_of(counter *c, const function *f)
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

void tally_prepare(block *b)
{
    const counted *k = b->launch->counted;
    size_t end = k->first + k->sites;
    if (end > b->tally_capacity) {
        b->tallies = retake(b->tallies, end * sizeof *b->tallies);
        b->tally_capacity = end;
    }
    memset(b->tallies + k->first, 0, k->sites * sizeof *b->tallies);
    b->longest = b->most_atomics = 0;
}

static void add_tally(tally *to, const tally *from)
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

void tally_fold(block *b)
{
    launch *l = b->launch;
    counted *k = l->counted;
    pthread_mutex_lock(&b->device->reports);
    for (uint32_t i = 0; i < k->sites; i++) add_tally(&k->tally[i], &b->tallies[k->first + i]);
    raise(&l->longest, b->longest);
    raise(&l->block_atomics, b->most_atomics);
    pthread_mutex_unlock(&b->device->reports);
}

/* ---- counts ---------------------------------------------------------------------------------- */

static void add_traffic(device_traffic *to, const tally *t)
{
    to->requests += t->requests;
    to->sectors += t->units;
    to->bytes += t->bytes;
}

static void add_banks(device_banks *to, const tally *t)
{
    to->requests += t->requests;
    to->wavefronts += t->units;
    to->conflicts += t->units - t->least;
}

static void add_memory(device_counts *c, traffic kind, const tally *t)
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
    }
}

static void add_site(device_counts *c, const site *s, const tally *t)
{
    c->instructions += t->executed;
    c->by_class[s->class] += t->executed;
    c->lanes += t->lanes;
    c->operations += t->lanes * s->operations;
    if (s->barrier) c->barriers += t->executed;
    add_memory(c, (traffic)s->traffic, t);
}

static void add_kernel(device_counts *c, const counted *k)
{
    c->launches += k->launches;
    c->blocks += k->blocks;
    c->warps += k->warps;
    c->threads += k->threads;
    c->submissions += k->submissions;
    c->resident += k->resident;
    c->footprint += k->footprint;
    c->longest += k->longest;
    c->block_atomics += k->block_atomics;
    for (uint32_t i = 0; i < k->sites; i++) add_site(c, &k->site[i], &k->tally[i]);
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
    k->submissions += !l->goes_on;
    k->resident += MULTIPROCESSORS *
                   resident_blocks(&l->function->facts, threads, l->request->dynamic_shared_bytes);
    k->blocks += l->blocks;
    k->threads += l->blocks * threads;
    k->warps += l->blocks * ((threads + LANES - 1) / LANES);
}

bool tally_is_on(const device *d)
{
    return d->counter && d->counter->on;
}

void tally_begin(launch *l)
{
    counter *c = l->device->counter;
    l->function = l->function->twin;
    l->budget *= 2;                              /* half of a twin's operations count */
    uint32_t number = number_of(c, l->function); /* may move the list */
    counted *k = l->counted = c->kernels[number];
    c->before = (device_counts){0};
    add_kernel(&c->before, k);
    add_shape(k, l);
}

static void keep_launch(counter *c, const launch *l)
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

void tally_end(launch *l)
{
    if (!l->counted) return;
    l->counted->footprint += SECTOR_BYTES * take_touched(l->device->counter);
    l->counted->longest += l->longest;
    l->counted->block_atomics += l->block_atomics;
    keep_launch(l->device->counter, l);
}

/* ---- device.h -------------------------------------------------------------------------------- */

void device_count(device *d, int on)
{
    if (!d->counter && on) {
        d->counter = take(1, sizeof *d->counter);
        d->counter->touched = reserve(MAP_BYTES);
        d->counter->touched_any = reserve(MAP_BYTES / MAP_STEP);
    }
    if (d->counter) d->counter->on = on;
}

void device_count_total(device *d, device_counts *counts)
{
    *counts = (device_counts){0};
    for (uint32_t i = 0; d->counter && i < d->counter->kernel_count; i++)
        add_kernel(counts, d->counter->kernels[i]);
    counts->span = d->order ? d->order->span : 0;
}

int device_count_kernel(device *d, uint32_t kernel, char name[128], device_counts *counts)
{
    if (!d->counter || kernel >= d->counter->kernel_count) return 0;
    const counted *k = d->counter->kernels[kernel];
    *counts = (device_counts){0};
    add_kernel(counts, k);
    memcpy(name, k->kernel, sizeof k->kernel);
    return 1;
}

int device_count_site(device *d, uint32_t kernel, uint32_t number, device_site *site)
{
    if (!d->counter || kernel >= d->counter->kernel_count) return 0;
    const counted *k = d->counter->kernels[kernel];
    if (number >= k->sites) return 0;
    *site = (device_site){.line = k->line[number]};
    snprintf(site->file, sizeof site->file, "%s", k->file[number]);
    snprintf(site->opcode, sizeof site->opcode, "%s", k->site[number].opcode);
    add_site(&site->counts, &k->site[number], &k->tally[number]);
    return 1;
}

int device_count_launch(device *d, uint32_t number, device_counted_launch *launch)
{
    if (!d->counter || number >= d->counter->launch_count) return 0;
    *launch = d->counter->launches[number];
    return 1;
}

void tally_close(device *d)
{
    counter *c = d->counter;
    if (!c) return;
    for (uint32_t i = 0; i < c->kernel_count; i++) {
        counted *k = c->kernels[i];
        free(k->site);
        free(k->file);
        free(k->line);
        free(k->tally);
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

/*
 * peers.c: memory of other devices, which kernels touch at its own address.
 *
 * Interface
 *   device_peer
 *   peer_reach                  for reach.c
 *   peers_end                   for launch.c and together.c
 *   peers_close
 *
 * Lane by lane, as a device's own maps know nothing of it. The words that a launch has touched are
 * noted, a bit per word. Afterwards their owner treats them like a copy: it checks whether they
 * race with other works there. Data from another device counts as written.
 */
#include <stdio.h>
#include <string.h>

#include "device/base/bits.h"
#include "device/base/pages.h"
#include "device/checks/order.h"
#include "memory.h"

enum { WORD = 4 };
#define MAP_BYTES (DEVICE_BYTES / WORD / 8)

/* ---- who may --------------------------------------------------------------------------------- */

static void drop(device **list, uint32_t *count, const device *gone)
{
    for (uint32_t i = 0; i < *count; i++)
        if (list[i] == gone) list[i--] = list[--*count];
}

static bool make_maps(device *d)
{
    for (int i = 0; i < 2; i++)
        if (!d->touched[i].words) d->touched[i].words = pages_reserve(MAP_BYTES);
    return d->touched[0].words && d->touched[1].words;
}

device_status device_peer(device *d, device *peer, int on)
{
    drop(d->peers, &d->peer_count, peer);
    drop(peer->guests, &peer->guest_count, d);
    if (!on) return DEVICE_OK;
    if (d == peer || d->peer_count == PEERS || peer->guest_count == PEERS)
        return fail(d, DEVICE_BAD_ADDRESS, "that is no peer");
    if (!make_maps(d)) return fail(d, DEVICE_OUT_OF_MEMORY, "no room for a map");
    d->peers[d->peer_count++] = peer;
    peer->guests[peer->guest_count++] = d;
    return DEVICE_OK;
}

void peers_close(device *d)
{
    while (d->peer_count) device_peer(d, d->peers[0], 0);
    while (d->guest_count) device_peer(d->guests[0], d, 0);
    for (int i = 0; i < 2; i++) pages_release(d->touched[i].words, MAP_BYTES);
}

/* ---- an access ------------------------------------------------------------------------------- */

static void note(uint64_t *words, struct span *s, uint64_t offset, uint32_t bytes)
{
    const uint64_t first = offset / WORD, end = (offset + bytes + WORD - 1) / WORD;
    for (uint64_t i = first; i < end; i++) words[i / 64] |= UINT64_C(1) << i % 64;
    if (s->end == 0 || first < s->first) s->first = first;
    if (end > s->end) s->end = end;
}

static struct span *span_of(const device *d, struct touched *t, const device *peer)
{
    uint32_t i = 0;
    while (d->peers[i] != peer) i++;
    return &t->of[i];
}

/* Flags race with nothing, and what a block reads behind one that it has seen comes after whatever
 * was before that. */
static bool is_ordered(const block *b, const op *o)
{
    return b->launch->may_wait && (o->strength != STRENGTH_PLAIN || b->listens);
}

/* Who sees the flag of another device must see what was written before it. */
static void note_push(warp *w, const op *o, uint64_t offset)
{
    block *b = w->block;
    const uint32_t lane = (uint32_t)__builtin_ctz(w->mask);
    if (!b->launch->may_wait || !b->launch->check_races) return;
    if (o->strength == STRENGTH_PLAIN) {
        b->pushed = o->line;
    } else if (b->pushed || !o->in_system) {
        report(w, o, FINDING_RACE, lane, DEVICE_BASE + offset,
               b->pushed
                   ? "sets a flag that another device may see before the data: after the data "
                     "put __threadfence_system(), or a release of system scope"
                   : "sets a flag that another device may never see: its scope is this device");
        b->pushed = 0;
    }
}

uint8_t *peer_reach(warp *w, const op *o, uint64_t offset, uint32_t bytes, access_kind how)
{
    device *d = w->block->device, *p = peer_at(d, offset);
    struct touched *t = &d->touched[how != ACCESS_LOAD];
    if (!p || !owned_all(p->owned, offset, bytes)) return NULL;
    if (how != ACCESS_LOAD) note_push(w, o, offset);
    pthread_mutex_lock(&d->reports);
    if (!is_ordered(w->block, o)) {
        note(t->words, span_of(d, t, p), offset, bytes);
        t->line = o->line;
    }
    if (how != ACCESS_STORE) device_linked(d, p, bytes);
    if (how != ACCESS_LOAD) device_linked(p, d, bytes);
    pthread_mutex_unlock(&d->reports);
    if (how != ACCESS_LOAD) bits_set(p->initialised, offset, bytes);
    return p->bytes + offset;
}

/* ---- a launch -------------------------------------------------------------------------------- */

/* It is the turn of its work on all of them. */
static void take_turns(const launch *l)
{
    const device *d = l->device;
    const bool open = d->order && d->order->open;
    for (uint32_t i = 0; open && i < d->peer_count; i++)
        device_take_turn(d->peers[i], &d->order->turn);
}

static uint64_t run_end(const uint64_t *words, uint64_t from, uint64_t end, bool set)
{
    const uint64_t all = set ? ~UINT64_C(0) : 0;
    while (from < end && (words[from / 64] >> from % 64 & 1) == set)
        from += from % 64 == 0 && words[from / 64] == all ? 64 : 1;
    return from < end ? from : end;
}

/* What its owner finds is said of the launch. */
static void tell(const launch *l, device *p, uint64_t offset, uint64_t bytes, bool writes)
{
    const module *m = l->function->module;
    const uint32_t line = l->device->touched[writes].line;
    device_finding f;
    void (*meet)(device *, uint64_t, uint64_t, bool, const char *) =
        l->device->in_flight == l ? order_look : order_touch;
    meet(p, offset, bytes, writes, "a kernel of another device");
    while (device_take_finding(p, &f)) {
        snprintf(f.kernel, sizeof f.kernel, "%s", l->function->plain_name);
        snprintf(f.file, sizeof f.file, "%s", module_file(m, line, &f.line));
        finding_add(l->device, &f);
    }
}

static void tell_all(const launch *l, device *peer, uint64_t *words, struct span *s, bool writes)
{
    for (uint64_t i = s->first, end; !l->met && i < s->end;
         i = run_end(words, end, s->end, false)) {
        end = run_end(words, i, s->end, true);
        tell(l, peer, i * WORD, (end - i) * WORD, writes);
    }
    if (s->end) pages_clear((uint8_t *)words, s->first / 8, s->end / 8 + 1 - s->first / 8);
    *s = (struct span){0, 0};
}

void peers_end(const launch *l)
{
    device *d = l->device;
    if (!l->met) take_turns(l);
    for (uint32_t i = 0; i < d->peer_count; i++)
        for (int writes = 0; writes < 2; writes++)
            tell_all(l, d->peers[i], d->touched[writes].words, &d->touched[writes].of[i], writes);
}

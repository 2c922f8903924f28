/*
 * watch.c: the events on a device, for its client and for a supervisor, which gets them from here
 * and not from the client: findings, copies, launches, counts.
 *
 * Findings wait here until the client has seen them; its words for their memory (where the program
 * allocated it) are put beside them. A supervisor gets both as one finding.
 */
#define _GNU_SOURCE
#include "server.h"

#include "runtime/finding/finding.h"
#include "runtime/profile/profile.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT = 256, OWNED = 128, WORDS = 400, TEXT_KEPT = 1 << 20 };

struct record {
    device_finding finding;
    bool is_host;
    char words[WORDS];
};

struct remote_watch {
    device *device;
    bool supervised;
    struct record *records;           /* KEPT of them */
    uint32_t kept, seen;              /* ... that hold something; that the client has seen */
    uint32_t findings;                /* that there were, kept or not */
    bool wanted[2];                   /* by client, by supervisor: to count launches */
    device_counts before;             /* of launches, when listening began */
    device_counts transfers, earlier; /* copies, fills, memory: since then, before that */
    uint32_t launches, faults, round_trips;
    uint64_t printed;        /* bytes */
    char *text;              /* ... the first TEXT_KEPT of them; NULL before the first */
    uint32_t shared, shares; /* ranges: now, and at any time since listening began */
    bool was_read;           /* there was a copy to the host, and none to the device since */
    remote_request last;     /* copy, of which the next may be a part */
    struct {
        device_address address;
        char name[64];
    } owned[OWNED];
    uint32_t owned_count;
};

remote_watch *watch_open(device *d, bool supervised)
{
    remote_watch *w = calloc(1, sizeof *w);
    struct record *records = calloc(KEPT, sizeof *records);

    if (!w || !records) abort();
    w->device = d;
    w->supervised = supervised;
    w->records = records;
    return w;
}

void watch_close(remote_watch *w)
{
    if (!w) return;
    free(w->records);
    free(w->text);
    free(w);
}

/* ---- findings -------------------------------------------------------------------------------- */

uint32_t watch_findings(remote_watch *w)
{
    static device_finding finding;

    if (!w->supervised && w->kept == w->seen) w->kept = w->seen = 0;
    while (device_take_finding(w->device, &finding)) {
        w->findings++;
        if (w->kept == KEPT) continue;
        w->records[w->kept] = (struct record){.finding = finding};
        w->kept++;
    }
    return w->kept - w->seen;
}

void watch_launched(remote_watch *w, device_status status)
{
    w->launches +=
        status == DEVICE_OK || status >= DEVICE_ILLEGAL_ADDRESS; /* else it was refused */
    w->faults += status >= DEVICE_ILLEGAL_ADDRESS;
    w->last = (remote_request){.verb = 0};
}

void watch_printed(remote_watch *w, const char *text, uint64_t bytes)
{
    if (!w->text && !(w->text = malloc(TEXT_KEPT))) abort();
    if (w->printed < TEXT_KEPT)
        memcpy(w->text + w->printed, text,
               bytes < TEXT_KEPT - w->printed ? bytes : TEXT_KEPT - w->printed);
    w->printed += bytes;
}

uint64_t watch_text(const remote_watch *w, void *to)
{
    const uint64_t bytes = w->printed < TEXT_KEPT ? w->printed : TEXT_KEPT;

    if (bytes) memcpy(to, w->text, bytes);
    return bytes;
}

bool watch_finding(remote_watch *w, device_finding *finding)
{
    if (w->seen == w->kept) return false;
    *finding = w->records[w->seen++].finding;
    return true;
}

void watch_annotate(remote_watch *w, bool is_host, const char *words)
{
    if (!w->seen) return;
    struct record *r = &w->records[w->seen - 1];
    r->is_host = is_host;
    snprintf(r->words, sizeof r->words, "%s", words);
    for (char *c = r->words; *c; c++)
        if (!isprint((unsigned char)*c)) *c = '?';
}

/* The supervisor's name for the allocation goes before the client's words. */
static device_finding compose(const remote_watch *w, const struct record *r)
{
    device_finding f = r->finding;
    char words[WORDS];

    snprintf(words, sizeof words, "%s", r->words);
    for (uint32_t i = 0; i < w->owned_count; i++)
        if (w->owned[i].address == r->finding.base && *w->owned[i].name)
            snprintf(words, sizeof words, ", %s", w->owned[i].name);
    finding_annotate(&f, r->is_host, words);
    finding_strip_folders(&f);
    return f;
}

/* ---- copies ---------------------------------------------------------------------------------- */

static uint64_t length_of(const remote_request *q)
{
    switch (q->verb) {
    case REMOTE_WRITE: return q->payload;
    case REMOTE_READ: return q->word[1];
    case REMOTE_COPY:
    case REMOTE_COPY_PEER: return q->word[2];
    default: return q->small * q->word[2];
    }
}

/* Long copies come in pieces. A piece that goes on where a whole one ended is of the same copy. */
static bool goes_on(const remote_request *last, const remote_request *q)
{
    return q->verb == last->verb && (q->verb == REMOTE_WRITE || q->verb == REMOTE_READ) &&
           q->turn.lane == last->turn.lane && q->turn.work == last->turn.work &&
           length_of(last) == REMOTE_CHUNK && q->word[0] == last->word[0] + REMOTE_CHUNK;
}

/* Each message is a work of its own, whatever the client says: who could call ten copies one would
 * have them done in one step. */
void watch_turn(remote_watch *w, bool supervisor, const remote_request *q)
{
    device_turn after_all = {.lane = 0};

    if (!supervisor && goes_on(&w->last, q)) return;
    memset(after_all.after, 0xff, sizeof after_all.after);
    device_take_turn(w->device, supervisor ? NULL : q->turn.work ? &q->turn : &after_all);
    if (supervisor) w->last = (remote_request){.verb = 0};
}

static void add(device_transfers *t, uint64_t bytes, bool more)
{
    t->count += !more;
    t->bytes += bytes;
}

void watch_transfer(remote_watch *w, const remote_request *q)
{
    const uint64_t bytes = length_of(q);
    const bool more = goes_on(&w->last, q);

    if (!bytes) return;
    w->last = *q;
    switch (q->verb) {
    case REMOTE_WRITE:
        add(&w->transfers.to_device, bytes, more);
        w->round_trips += w->was_read;
        w->was_read = false;
        break;
    case REMOTE_READ:
        add(&w->transfers.to_host, bytes, more);
        w->was_read = true;
        break;
    case REMOTE_COPY:
    case REMOTE_COPY_PEER: add(&w->transfers.on_device, bytes, false); break;
    default: add(&w->transfers.fills, bytes, false);
    }
}

void watch_allocated(remote_watch *w, uint64_t bytes)
{
    device_counts *t = &w->transfers;

    add(&t->allocated, bytes, false);
    const int64_t held = (int64_t)(t->allocated.bytes - t->freed.bytes);
    if (held > (int64_t)t->peak) t->peak = (uint64_t)held;
}

void watch_freed(remote_watch *w, uint64_t bytes)
{
    add(&w->transfers.freed, bytes, false);
}

void watch_share(remote_watch *w, int change)
{
    w->shared += (uint32_t)change;
    w->shares += change > 0;
}

/* ---- the account ----------------------------------------------------------------------------- */

void watch_count(remote_watch *w, bool supervisor, bool on)
{
    w->wanted[supervisor] = on;
    device_count(w->device, w->wanted[false] || w->wanted[true]);
}

void watch_total(remote_watch *w, device_counts *total)
{
    device_count_total(w->device, total);
    count_add(total, &w->earlier);
    count_add(total, &w->transfers);
    total->peak = w->transfers.peak;
}

void watch_listen(remote_watch *w, bool count)
{
    watch_count(w, true, count);
    device_settle(w->device);
    device_count_total(w->device, &w->before);
    count_add(&w->earlier, &w->transfers);
    memset(&w->transfers, 0, sizeof w->transfers);
    w->last = (remote_request){.verb = 0};
    w->launches = w->faults = w->round_trips = 0;
    w->shares = w->shared;
    w->printed = 0;
    w->was_read = false;
    w->kept = w->seen = w->findings = 0;
}

/* Variables of a module are held as well, and asked of nobody. */
static void hold_modules(const remote_watch *w, device_counts *counts)
{
    counts->peak += device_module_bytes(w->device);
}

/* How much more it is than the most before. */
static uint64_t beyond(uint64_t most, uint64_t one)
{
    return one > most ? one - most : 0;
}

/* Of several devices the one that most bytes come to, that most leave, that computes most. */
static void keep_busiest(const remote_account *a, device_counts *counts)
{
    const device_counts *most = &a->counts;

    counts->received = beyond(most->received, counts->received);
    counts->sent = beyond(most->sent, counts->sent);
    counts->busiest = beyond(most->busiest, counts->operations);
}

void watch_account(remote_watch *w, remote_account *a)
{
    device_counts counts;

    a->launches += w->launches;
    a->round_trips += w->round_trips;
    a->faults += w->faults;
    a->shares += w->shares;
    a->printed += w->printed;
    device_count_total(w->device, &counts);
    count_add_times(&counts, &w->before, (uint64_t)-1);
    count_add(&counts, &w->transfers);
    hold_modules(w, &counts);
    keep_busiest(a, &counts);
    count_add(&a->counts, &counts);
    for (uint32_t i = 0; i < w->kept && a->finding_count + i < REMOTE_FINDINGS; i++)
        a->findings[a->finding_count + i] = compose(w, &w->records[i]);
    a->finding_count += w->findings;
    watch_count(w, true, false);
}

/* ---- what is the supervisor's ---------------------------------------------------------------- */

static uint32_t place_of(const remote_watch *w, device_address address)
{
    uint32_t i = 0;

    while (i < w->owned_count && w->owned[i].address != address) i++;
    return i;
}

bool watch_own(remote_watch *w, device_address address)
{
    if (w->owned_count == OWNED) return false;
    w->owned[w->owned_count].address = address;
    w->owned[w->owned_count++].name[0] = '\0';
    return true;
}

bool watch_owns(const remote_watch *w, device_address address)
{
    return place_of(w, address) < w->owned_count;
}

void watch_disown(remote_watch *w, device_address address)
{
    uint32_t i = place_of(w, address);

    if (i < w->owned_count) w->owned[i] = w->owned[--w->owned_count];
}

void watch_name(remote_watch *w, device_address address, const char *name)
{
    uint32_t i = place_of(w, address);

    if (i < w->owned_count) snprintf(w->owned[i].name, sizeof w->owned[i].name, "%s", name);
}

/*
 * order_race.c: copies and fills that race with works of other streams. What a copy touches is a
 * range, so two copies are compared as ranges. Where launches left their accesses, in the cells of
 * global_shadow.c, a copy looks for those that are apart; and for a launch the copies that are
 * apart are painted into the cells, as if they had been accesses.
 *
 * Interface
 *   order_touch, order_look, order_paint
 */
#include <stdio.h>

#include "global_shadow.h"
#include "order.h"

/* What is about to happen. */
typedef struct range {
    uint64_t offset, bytes;
    bool writes;
    const char *what;
} range;

/* What was given back touches nothing. */
static bool meet(const range *r, const past *p)
{
    return p->bytes && (r->writes || p->writes) && r->offset < p->offset + p->bytes &&
           p->offset < r->offset + r->bytes;
}

/* A cell that a launch left which is apart from the work whose turn it is. */
typedef struct meeting {
    uint32_t cell;
    uint64_t word;
    bool wrote;
} meeting;

/* ---- words ----------------------------------------------------------------------------------- */

static const char *verb(bool writes, bool wrote)
{
    return !writes ? "reads" : wrote ? "overwrites" : "changes";
}

static device_finding finding_at(uint64_t offset)
{
    return (device_finding){.kind = FINDING_STREAM_RACE,
                            .cause = CAUSE_NO_EVENT,
                            .count = 1,
                            .address = DEVICE_BASE + offset};
}

/* Lane 0 is that of the default stream: what is said of a call without a stream. */
static const char *on_stream(const device *d)
{
    return d->order->turn.lane == 0 ? " on the default stream" : "";
}

static void report_copy(device *d, const range *r, const past *p)
{
    device_finding f = finding_at(r->offset > p->offset ? r->offset : p->offset);
    snprintf(f.text, sizeof f.text, "%s%s %s what %s %s, " NEITHER_WAITS, r->what, on_stream(d),
             verb(r->writes, p->writes), p->what, p->writes ? "writes" : "reads");
    finding_add(d, &f);
}

static void report_launch(device *d, const range *r, const past *p, const meeting *m)
{
    device_finding f = finding_at(4 * m->word);
    const event *e = cell_event(d->global_shadow, m->cell);
    snprintf(f.kernel, sizeof f.kernel, "%s", p->kernel->plain_name);
    snprintf(f.file, sizeof f.file, "%s", module_file(p->kernel->module, e->line, &f.line));
    place_in(p->grid, e->block, f.block);
    place_in(p->block, e->warp * LANES + cell_lane(m->cell), f.thread);
    snprintf(f.text, sizeof f.text, "%s%s %s what a kernel %s, " NEITHER_WAITS, r->what,
             on_stream(d), verb(r->writes, m->wrote), m->wrote ? "writes" : "reads");
    finding_add(d, &f);
}

/* ---- other copies ---------------------------------------------------------------------------- */

/* One report is enough: the works are the same. @return was there one? */
static bool meets_copy(device *d, const range *r)
{
    const work_order *o = d->order;
    for (uint32_t i = order_oldest(o); i < o->past_count; i++) {
        const past *p = &o->past[i % PAST];
        if (!p->apart || p->kernel || !meet(r, p)) continue;
        report_copy(d, r, p);
        return true;
    }
    return false;
}

/* ---- in the cells ---------------------------------------------------------------------------- */

/* With copies ranges are compared. */
static bool is_apart_launch(const device *d, uint32_t cell)
{
    const past *p = order_find(d, cell >> EVENT_SHIFT);
    return p && p->apart && p->kernel;
}

/* The bytes of a word that a range has, as bits. */
static uint32_t bytes_in(uint64_t word, uint64_t offset, uint64_t end)
{
    uint32_t all = 15;
    if (offset > 4 * word) all &= all << (offset - 4 * word);
    if (end < 4 * word + 4) all &= 15u >> (4 * word + 4 - end);
    return all;
}

enum { STRIDE = 16 }; /* words that are looked at together */

/* Old cells, and those of one event? */
static bool none_but(const uint32_t *cells, uint32_t floor, uint32_t event)
{
    uint32_t others = 0;
    for (int i = 0; i < STRIDE; i++)
        others |= (uint32_t)(cells[i] >= floor) & (uint32_t)(cells[i] >> EVENT_SHIFT != event);
    return others == 0;
}

/* @return is there a cell in the range that a launch left which is apart? */
static bool find_meeting(const device *d, const range *r, meeting *m)
{
    const global_shadow *g = d->global_shadow;
    uint32_t floor = g ? order_floor(d, g->next) << EVENT_SHIFT : 0, innocent[2] = {0, 0};
    uint64_t end = r->offset + r->bytes;
    for (uint64_t word = r->offset / 4; g && 4 * word < end; word++) {
        while (4 * (word + STRIDE) <= end && none_but(g->written + word, floor, innocent[0]) &&
               (!r->writes || none_but(g->read + word, floor, innocent[1])))
            word += STRIDE;
        if (4 * word >= end) break;
        const uint32_t cells[2] = {g->written[word], r->writes ? g->read[word] : 0};
        for (int i = 0; i < 2; i++) {
            uint32_t event = cells[i] >> EVENT_SHIFT;
            if (cells[i] < floor || event == innocent[i]) continue;
            *m = (meeting){cells[i], word, i == 0};
            if (!is_apart_launch(d, cells[i]))
                innocent[i] = event;
            else if (cell_bytes(cells[i]) & bytes_in(word, r->offset, end))
                return true;
        }
    }
    return false;
}

static void meets_launch(device *d, const range *r)
{
    meeting m;
    if (find_meeting(d, r, &m)) report_launch(d, r, order_find(d, m.cell >> EVENT_SHIFT), &m);
}

/* All words are as the copy leaves them, unless somebody has been there later. */
static void paint(const device *d, const past *p)
{
    uint32_t *cells = p->writes ? d->global_shadow->written : d->global_shadow->read;
    for (uint64_t word = (p->offset + 3) / 4; word < (p->offset + p->bytes) / 4; word++)
        if (cells[word] >> EVENT_SHIFT < p->first_event)
            cells[word] = p->first_event << EVENT_SHIFT;
}

/* ---- what is past ---------------------------------------------------------------------------- */

/* The next piece of the copy that was noted last? */
static past *continued(work_order *o, const range *r)
{
    past *p = o->past_count ? &o->past[(o->past_count - 1) % PAST] : NULL;
    bool same = p && !p->kernel && p->lane == o->turn.lane && p->work == o->turn.work &&
                p->what == r->what && p->writes == r->writes;
    return same && p->offset + p->bytes == r->offset ? p : NULL;
}

static void note(device *d, const range *r)
{
    past *p = continued(d->order, r);
    if (p) {
        p->bytes += r->bytes;
        p->painted = false;
        return;
    }
    uint32_t event = global_shadow_event(d);
    if (!event) return;
    p = order_add(d->order);
    p->first_event = event;
    p->end_event = event + 1;
    p->what = r->what;
    p->writes = r->writes;
    p->offset = r->offset;
    p->bytes = r->bytes;
}

static bool is_asked(const device *d, uint64_t bytes)
{
    return d->order && d->order->open && bytes && d->options.checks & DEVICE_CHECK_RACES;
}

void order_look(device *d, uint64_t offset, uint64_t bytes, bool writes, const char *what)
{
    const range r = {offset, bytes, writes, what};
    if (is_asked(d, bytes) && d->order->any_apart && !meets_copy(d, &r)) meets_launch(d, &r);
}

void order_touch(device *d, uint64_t offset, uint64_t bytes, bool writes, const char *what)
{
    const range r = {offset, bytes, writes, what};
    order_look(d, offset, bytes, writes, what);
    if (is_asked(d, bytes)) note(d, &r);
}

void order_paint(device *d)
{
    work_order *o = d->order;
    if (!o || !o->open || !o->any_apart) return;
    for (uint32_t i = order_oldest(o); i < o->past_count; i++) {
        past *p = &o->past[i % PAST];
        if (!p->apart || p->kernel || p->painted) continue;
        paint(d, p);
        p->painted = true;
    }
}

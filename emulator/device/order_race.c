/*
 * order_race.c: copies and fills that race with works of other streams. What a copy touches is a
 * range, so two copies are compared as ranges. Where launches left their accesses, in the cells of
 * global_shadow.c, a copy looks for those that are apart; and for a launch the copies that are
 * apart are painted into the cells, as if they had been accesses.
 *
 * Interface
 *   order_touch, order_paint
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

static bool meet(const range *r, const past *p)
{
    return (r->writes || p->writes) && r->offset < p->offset + p->bytes &&
           p->offset < r->offset + r->bytes;
}

/* ---- words ----------------------------------------------------------------------------------- */

static const char *verb(bool writes, bool wrote)
{
    return !writes ? "reads" : wrote ? "overwrites" : "changes";
}

#define NEITHER_WAITS "in another stream: neither waits for the other"

static device_finding finding_at(uint64_t offset)
{
    return (device_finding){
        .kind = FINDING_STREAM_RACE, .count = 1, .address = DEVICE_BASE + offset};
}

static void report_copy(device *d, const range *r, const past *p)
{
    device_finding f = finding_at(r->offset > p->offset ? r->offset : p->offset);
    snprintf(f.text, sizeof f.text, "%s %s what %s %s, " NEITHER_WAITS, r->what,
             verb(r->writes, p->writes), p->what, p->writes ? "writes" : "reads");
    finding_add(d, &f);
}

static void place_in(const uint32_t size[3], uint32_t number, uint32_t xyz[3])
{
    xyz[0] = number % size[0];
    xyz[1] = number / size[0] % size[1];
    xyz[2] = number / size[0] / size[1];
}

static void report_launch(device *d, const range *r, const past *p, const meeting *m)
{
    device_finding f = finding_at(4 * m->word);
    const event *e = cell_event(d->global_shadow, m->cell);
    snprintf(f.kernel, sizeof f.kernel, "%s", p->kernel->plain_name);
    snprintf(f.file, sizeof f.file, "%s", module_file(p->kernel->module, e->line, &f.line));
    place_in(p->grid, e->block, f.block);
    place_in(p->block, e->warp * LANES + cell_lane(m->cell), f.thread);
    snprintf(f.text, sizeof f.text, "%s %s what a kernel %s, " NEITHER_WAITS, r->what,
             verb(r->writes, m->wrote), m->wrote ? "writes" : "reads");
    finding_add(d, &f);
}

/* ---- looking --------------------------------------------------------------------------------- */

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

static void meets_launch(device *d, const range *r)
{
    meeting m;
    if (!global_shadow_meets(d, r->offset, r->bytes, r->writes, &m)) return;
    report_launch(d, r, order_find(d, m.cell >> EVENT_SHIFT), &m);
}

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

void order_touch(device *d, uint64_t offset, uint64_t bytes, bool writes, const char *what)
{
    const range r = {offset, bytes, writes, what};
    const work_order *o = d->order;
    if (!o || !o->open || !bytes || !(d->options.checks & DEVICE_CHECK_RACES)) return;
    if (o->any_apart && !meets_copy(d, &r)) meets_launch(d, &r);
    note(d, &r);
}

void order_paint(device *d)
{
    work_order *o = d->order;
    if (!o || !o->open || !o->any_apart) return;
    for (uint32_t i = order_oldest(o); i < o->past_count; i++) {
        past *p = &o->past[i % PAST];
        if (!p->apart || p->kernel || p->painted) continue;
        global_shadow_paint(d, p->offset, p->bytes, p->writes, p->first_event);
        p->painted = true;
    }
}

/*
 * finding.c: the list of defects seen.
 *
 * Interface
 *   report, report_near, report_because, report_race, report_at, report_of, finding_add, place_in,
 *   thread_name
 *
 * One defect at one line is one finding per launch, with a count: a kernel that is wrong in one
 * thread is wrong in thousands. A race within a warp that is also one between warps, at this line
 * or at the other one, is reported only as that: it lacks a barrier of the block.
 */
#include <stdarg.h>
#include <stdio.h>

#include "device/base/arena.h"
#include "device/trace/trace.h"
#include "checks.h"

enum {
    MOST_FINDINGS = 256, /* a launch */
    FINDING_COST = 16,   /* backward jumps that take as long */
};

void place_in(const uint32_t size[3], uint32_t number, uint32_t xyz[3])
{
    xyz[0] = number % size[0];
    xyz[1] = number / size[0] % size[1];
    xyz[2] = number / size[0] / size[1];
}

const char *thread_name(const block *b, uint32_t thread, char text[48])
{
    const uint32_t *size = b->launch->request->block;
    uint32_t at[3];
    place_in(size, thread, at);
    if (size[1] * size[2] == 1)
        snprintf(text, 48, " %u", thread);
    else
        snprintf(text, 48, " (%u,%u,%u)", at[0], at[1], at[2]);
    return text;
}

/* Two operations of one source line are one defect. */
static bool same_place(const finding_entry *e, const function *f, uint32_t line)
{
    uint32_t number;
    const char *file = module_file(f->module, line, &number);
    return e->finding.line == number && !strcmp(e->finding.file, file);
}

/* What is seen, and by whom. */
typedef struct sighting {
    block *block;
    uint32_t index[3]; /* of the block in the grid */
    const function *function;
    uint32_t line, other; /* of a race: that of the earlier access */
    device_finding_kind kind;
    device_cause cause; /* where the kind and what is near do not tell */
    uint32_t thread;
    uint64_t address;
    neighbour near;
    const char *text;
} sighting;

static bool is_one_line(const module *m, uint32_t a, uint32_t b)
{
    uint32_t x, y;
    const char *file = module_file(m, a, &x);
    return !strcmp(file, module_file(m, b, &y)) && x == y;
}

/* A race within a warp that shares a line with one between warps. */
static bool shares_a_line(const finding_entry *e, const sighting *s)
{
    const module *m = s->function->module;
    if (!s->other || !e->other || e->finding.kind == s->kind) return false;
    return is_one_line(m, e->other, s->line) || is_one_line(m, e->line, s->other) ||
           is_one_line(m, e->other, s->other);
}

static finding_entry *find_entry(device *d, const launch *l, const sighting *s)
{
    for (uint32_t i = l->first_finding; i < d->finding_count; i++) {
        finding_entry *e = &d->findings[i];
        bool same = e->finding.kind == s->kind ||
                    (finding_is_race(e->finding.kind) && finding_is_race(s->kind));
        if (!same || e->function->module != s->function->module) continue;
        if (e->line == s->line || same_place(e, s->function, s->line) || shares_a_line(e, s))
            return e;
    }
    return NULL;
}

static device_cause cause_of(const sighting *s)
{
    const device_relation near = s->near.relation;
    if (s->kind == FINDING_STREAM_RACE) return CAUSE_NO_EVENT;
    if (s->kind == FINDING_OUT_OF_BOUNDS && s->near.is_read &&
        (near == RELATION_PAST || near == RELATION_BEFORE))
        return CAUSE_READ_OUTSIDE;
    if (s->kind == FINDING_OUT_OF_BOUNDS && near == RELATION_PAST) return CAUSE_PAST_END;
    if (s->kind == FINDING_UNINITIALISED && near == RELATION_INSIDE) return CAUSE_UNWRITTEN;
    return s->cause;
}

static void fill(device_finding *n, const sighting *s)
{
    const module *m = s->function->module;
    *n = (device_finding){
        .kind = s->kind,
        .cause = cause_of(s),
        .count = 1,
        .address = s->address,
        .relation = s->near.relation,
        .base = s->near.base,
        .bytes = s->near.bytes,
    };
    snprintf(n->kernel, sizeof n->kernel, "%s", s->block->launch->function->plain_name);
    snprintf(n->file, sizeof n->file, "%s", module_file(m, s->line, &n->line));
    snprintf(n->inlined_file, sizeof n->inlined_file, "%s",
             module_outer_file(m, s->line, &n->inlined_line));
    snprintf(n->text, sizeof n->text, "%s", s->text);
    memcpy(n->block, s->index, sizeof n->block);
    place_in(s->block->launch->request->block, s->thread, n->thread);
}

static void add_entry(device *d, const sighting *s)
{
    d->findings = retake(d->findings, (d->finding_count + 1) * sizeof *d->findings);
    finding_entry *e = &d->findings[d->finding_count++];
    *e = (finding_entry){.function = s->function, .line = s->line, .other = s->other};
    fill(&e->finding, s);
}

static void count_entry(finding_entry *e, const sighting *s)
{
    uint32_t count = e->finding.count + 1;
    if (s->kind == FINDING_RACE && e->finding.kind != s->kind) {
        fill(&e->finding, s);
        e->line = s->line;
        e->other = s->other;
    }
    e->finding.count = count;
}

/* Each sighting, not only the first. */
static void trace_sighting(const sighting *s)
{
    device_finding f;
    fill(&f, s);
    trace_finding(s->block, s->thread, &f);
}

static void note(const sighting *s)
{
    device *d = s->block->device;
    const launch *l = s->block->launch;
    if (s->block->trace) trace_sighting(s);
    pthread_mutex_lock(&d->reports);
    finding_entry *e = find_entry(d, l, s);
    if (e)
        count_entry(e, s);
    else if (d->finding_count - l->first_finding < MOST_FINDINGS)
        add_entry(d, s);
    pthread_mutex_unlock(&d->reports);
}

void report_at(block *b, const function *f, uint32_t line, device_finding_kind kind,
               uint32_t thread, uint64_t address, const char *text)
{
    sighting s = {b, {0}, f, line, 0, kind, CAUSE_NONE, thread, address, {0}, text};
    memcpy(s.index, b->index, sizeof s.index);
    note(&s);
}

void report_of(block *b, uint32_t number, const function *f, uint32_t line,
               device_finding_kind kind, device_cause cause, uint32_t thread, uint64_t address,
               const char *text)
{
    sighting s = {b, {0}, f, line, 0, kind, cause, thread, address, {0}, text};
    place_in(b->launch->request->grid, number, s.index);
    note(&s);
}

/* Of a lane: with its place, and with words. */
static void report_list(sighting s, warp *w, const op *o, const char *format, va_list list)
{
    char text[512];
    vsnprintf(text, sizeof text, format, list);
    s.block = w->block;
    memcpy(s.index, w->block->index, sizeof s.index);
    s.function = w->groups[w->current].function;
    s.line = o->line;
    s.thread += w->index * LANES;
    s.text = text;
    w->slice -= FINDING_COST; /* a loop of mistakes is soon seen not to end (still.c) */
    note(&s);
}

void report_near(warp *w, const op *o, device_finding_kind kind, uint32_t lane, uint64_t address,
                 const neighbour *near, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    report_list((sighting){.kind = kind, .thread = lane, .address = address, .near = *near}, w, o,
                format, list);
    va_end(list);
}

void report(warp *w, const op *o, device_finding_kind kind, uint32_t lane, uint64_t address,
            const char *format, ...)
{
    va_list list;
    va_start(list, format);
    report_list((sighting){.kind = kind, .thread = lane, .address = address}, w, o, format, list);
    va_end(list);
}

void report_because(warp *w, const op *o, device_finding_kind kind, device_cause cause,
                    uint32_t lane, uint64_t address, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    report_list((sighting){.kind = kind, .cause = cause, .thread = lane, .address = address}, w, o,
                format, list);
    va_end(list);
}

void report_race(warp *w, const op *o, device_finding_kind kind, uint32_t lane, uint64_t address,
                 const race *r, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    report_list(
        (sighting){
            .kind = kind, .cause = r->cause, .other = r->line, .thread = lane, .address = address},
        w, o, format, list);
    va_end(list);
}

void finding_add(device *d, const device_finding *f)
{
    if (d->finding_count - d->finding_taken >= MOST_FINDINGS) return;
    d->findings = retake(d->findings, (d->finding_count + 1) * sizeof *d->findings);
    d->findings[d->finding_count++] = (finding_entry){.finding = *f};
}

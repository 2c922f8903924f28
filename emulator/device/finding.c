/*
 * finding.c: the list of defects seen.
 *
 * Interface
 *   report, report_at, thread_name
 *
 * One defect at one line is one finding a launch, with a count: a kernel that is wrong in one
 * thread is wrong in thousands.
 */
#include <stdarg.h>
#include <stdio.h>

#include "arena.h"
#include "internal.h"

enum { MOST_FINDINGS = 256 }; /* a launch */

static void place_thread(const block *b, uint32_t thread, uint32_t xyz[3])
{
    const uint32_t *size = b->launch->request->block;
    xyz[0] = thread % size[0];
    xyz[1] = thread / size[0] % size[1];
    xyz[2] = thread / size[0] / size[1];
}

const char *thread_name(const block *b, uint32_t thread, char text[48])
{
    const uint32_t *size = b->launch->request->block;
    uint32_t at[3];
    place_thread(b, thread, at);
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

static finding_entry *find_entry(device *d, const launch *l, device_finding_kind kind,
                                 const function *f, uint32_t line)
{
    for (uint32_t i = l->first_finding; i < d->finding_count; i++) {
        finding_entry *e = &d->findings[i];
        if (e->finding.kind != kind || e->function->module != f->module) continue;
        if (e->line == line || same_place(e, f, line)) return e;
    }
    return NULL;
}

static void add_entry(block *b, const function *f, uint32_t line, device_finding_kind kind,
                      uint32_t thread, uint64_t address, const char *text)
{
    device *d = b->device;
    d->findings = retake(d->findings, (d->finding_count + 1) * sizeof *d->findings);
    finding_entry *e = &d->findings[d->finding_count++];
    *e = (finding_entry){.function = f, .line = line};
    device_finding *n = &e->finding;
    *n = (device_finding){.kind = kind, .count = 1, .address = address};
    snprintf(n->kernel, sizeof n->kernel, "%s", b->launch->function->plain_name);
    snprintf(n->file, sizeof n->file, "%s", module_file(f->module, line, &n->line));
    snprintf(n->text, sizeof n->text, "%s", text);
    memcpy(n->block, b->index, sizeof n->block);
    place_thread(b, thread, n->thread);
}

void report_at(block *b, const function *f, uint32_t line, device_finding_kind kind,
               uint32_t thread, uint64_t address, const char *text)
{
    device *d = b->device;
    pthread_mutex_lock(&d->reports);
    finding_entry *e = find_entry(d, b->launch, kind, f, line);
    if (e)
        e->finding.count++;
    else if (d->finding_count - b->launch->first_finding < MOST_FINDINGS) {
        add_entry(b, f, line, kind, thread, address, text);
    }
    pthread_mutex_unlock(&d->reports);
}

void report(warp *w, const op *o, device_finding_kind kind, uint32_t lane, uint64_t address,
            const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    const function *f = w->paths[w->current].function;
    report_at(w->block, f, o->line, kind, w->index * LANES + lane, address, text);
}

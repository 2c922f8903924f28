/*
 * touch.c: registers that a wgmma uses, touched too early.
 *
 * Interface
 *   run_touch
 *
 * analysis/wgmma_flow.c puts it where that may happen. It has when the wgmma is under way now, or
 * when no fence came after the write.
 */
#include <stdio.h>

#include "tensor.h"

static const op *under_way(const warp *w, uint64_t users)
{
    const warp_readings *r = &w->block->tensor->readings[w->index];
    for (uint32_t i = 0; i < r->count; i++) {
        const wgmma *m = r->list[i].bulk ? NULL : r->list[i].op->extra;
        if (m && users >> m->number % 64 & 1) return r->list[i].op;
    }
    return NULL;
}

static void report_touch(warp *w, const op *o, const touch *t, const op *by)
{
    static const char *const does[] = {
        [TOUCH_READ] = "reads a sum that the wgmma at line %u is still computing: wait for its "
                       "group first (wgmma.commit_group, then wgmma.wait_group 0)",
        [TOUCH_WRITE] = "writes a register of the sums that the wgmma at line %u is still "
                        "computing: wait for its group first (wgmma.wait_group)",
        [TOUCH_FACTOR] = "changes a register of A that the wgmma at line %u still reads: wait for "
                         "its group first (wgmma.wait_group), or use other registers",
    };
    char text[256];
    uint32_t line = 0;
    module_file(w->block->launch->function->module, by->line, &line);
    snprintf(text, sizeof text, does[t->kind], line);
    report(w, o, FINDING_RACE, (uint32_t)__builtin_ctz(active(w, o)), 0, "%s", text);
}

static void report_unfenced(warp *w, const op *o, uint32_t writer)
{
    char where[64] = "the first one of the kernel";
    uint32_t line = 0;
    if (writer) module_file(w->block->launch->function->module, writer, &line);
    if (writer) snprintf(where, sizeof where, "its registers were written at line %u", line);
    report(w, o, FINDING_RACE, (uint32_t)__builtin_ctz(active(w, o)), 0,
           "a wgmma with no wgmma.fence before it: %s; write asm volatile(\"wgmma.fence.sync."
           "aligned;\") between the writes of the registers and the wgmma",
           where);
}

const op *run_touch(warp *w, const op *o)
{
    const touch *t = o->extra;
    tensor *s = tensor_of(w->block);
    if (active(w, o) == 0 || !w->block->launch->check_races) return o + 1;
    const op *by = t->users ? under_way(w, t->users) : NULL;
    if (t->kind == TOUCH_WRITTEN)
        s->written[w->index] = o->line;
    else if (by)
        report_touch(w, o, t, by);
    else if (t->kind == TOUCH_UNFENCED && (s->written[w->index] || !s->fences[w->index]))
        report_unfenced(w, o, s->written[w->index]);
    return o + 1;
}

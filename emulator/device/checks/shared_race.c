/*
 * shared_race.c: the words for what is wrong with an access to shared memory.
 *
 * Interface
 *   report_shared_bounds, report_shared_copy, report_shared_race     for shadow.c
 */
#include <stdio.h>

#include "shadow.h"

static bool owned(const block *b, uint32_t offset)
{
    uint32_t word = b->words.written[offset / 4];
    return word == SPLIT ? b->bytes.written[offset] != UNOWNED : word != UNOWNED;
}

static uint32_t distance(const variable *v, uint32_t offset)
{
    uint32_t start = (uint32_t)v->address, end = start + (uint32_t)v->bytes;
    return offset < start ? start - offset : offset >= end ? offset - end : 0;
}

/* The variable of this kernel that the access just missed. */
static const variable *variable_near(const function *kernel, uint32_t offset)
{
    const module *m = kernel->module;
    const variable *best = NULL;
    for (uint32_t i = 0; i < m->variable_count; i++) {
        const variable *v = &m->variables[i];
        if (v->space != SPACE_SHARED || v->external || !kernel->shared_used[i]) continue;
        if (!best || distance(v, offset) < distance(best, offset)) best = v;
    }
    return best && distance(best, offset) < SHARED_RED_ZONE * 8 ? best : NULL;
}

static neighbour describe_shared(const block *b, const op *o, uint32_t offset, char *text,
                                 size_t room)
{
    const function *kernel = b->launch->function;
    const variable *v = variable_near(kernel, offset);
    uint32_t start = kernel->module->shared_bytes, size = b->shadow_dynamic;
    char name[128] = "";
    if (v) {
        start = (uint32_t)v->address;
        size = (uint32_t)v->bytes;
        plain_name(v->name, name, sizeof name);
    }
    bool dynamic = !v && size && offset + SHARED_RED_ZONE * 8 > start;
    const char *array = dynamic ? "dynamic shared memory" : "shared array ";
    bool before = offset < start;
    char distance[64] = "just";
    if (offset != start + size)
        describe_distance(o, before ? start - offset : offset - start - size, distance, 64);
    if (!v && !dynamic) {
        snprintf(text, room, "at offset %d, outside the shared memory of the block",
                 (int32_t)offset);
        return (neighbour){0};
    }
    snprintf(text, room, "%s %s of the %u-byte %s%s", distance,
             before ? "before the start" : "past the end", size, array, name);
    return (neighbour){.relation = before ? RELATION_BEFORE : RELATION_PAST};
}

/* What counts is the first byte that is outside. */
void report_shared_bounds(warp *w, const op *o, uint32_t offset, uint32_t bytes, uint32_t lane,
                          access_kind how)
{
    block *b = w->block;
    char where[256];
    uint32_t miss = offset;
    while (miss < b->shared_bytes && miss < offset + bytes && owned(b, miss)) miss++;
    const neighbour n = describe_shared(b, o, miss, where, sizeof where);
    report_near(w, o, FINDING_OUT_OF_BOUNDS, lane, offset, &n, "%s %u bytes, %s", access_verb(how),
                bytes, where);
    launch_fail(b->launch, DEVICE_ILLEGAL_ADDRESS);
}

void report_shared_unwritten(warp *w, const op *o, uint32_t offset, uint32_t bytes, uint32_t lane,
                             uint32_t returned)
{
    char why[80] = "";
    if (shadow_is_brought(w->block, offset)) {
        report(w, o, FINDING_UNINITIALISED, lane, offset,
               "reads %u bytes of shared memory that an asynchronous copy brought from global "
               "memory which "
               "nothing has written",
               bytes);
        return;
    }
    if (returned)
        snprintf(why, sizeof why, ": %u of its %u threads returned before the barrier", returned,
                 w->block->threads);
    report_because(w, o, FINDING_UNINITIALISED, returned ? CAUSE_RETURNED : CAUSE_UNWRITTEN_SHARED,
                   lane, offset,
                   "reads %u bytes of shared memory that nothing in this block has written%s",
                   bytes, why);
}

void report_shared_copy(warp *w, const op *o, uint32_t offset, uint32_t lane, access_kind how,
                        const conflict *c)
{
    char me[48];
    uint32_t line = 0;
    module_file(w->block->launch->function->module, c->line, &line);
    report(w, o, FINDING_RACE, lane, offset,
           "thread%s %s what the asynchronous copy at line %u is still bringing: a race, because "
           "no thread has waited for that copy",
           thread_name(w->block, w->index * LANES + lane, me),
           how == ACCESS_LOAD ? "reads" : "overwrites", line);
}

/* Where a function for one instruction was called, rather than the line of its asm. */
static uint32_t caller_of(const module *m, uint32_t place)
{
    uint32_t line = 0;
    if (!*module_outer_file(m, place, &line)) module_file(m, place, &line);
    return line;
}

void report_shared_reading(warp *w, const op *o, uint32_t offset, uint32_t lane, const conflict *c)
{
    char me[48];
    const uint32_t line = caller_of(w->block->launch->function->module, c->line);
    thread_name(w->block, w->index * LANES + lane, me);
    if (c->product)
        report(w, o, FINDING_RACE, lane, offset,
               "thread%s overwrites shared memory that the wgmma of line %u may still read, "
               "asynchronously: the threads that told it to go on had not waited for that product; "
               "write wgmma.wait_group before their mbarrier.arrive, and let each warp group that "
               "reads the memory arrive",
               me, line);
    else
        report(w, o, FINDING_RACE, lane, offset,
               "thread%s overwrites shared memory that line %u still reads, asynchronously: those "
               "threads have to wait for it first (wgmma.wait_group, or "
               "cp.async.bulk.wait_group.read), and a barrier must follow",
               me, line);
}

static uint32_t number_of(const module *m, uint32_t line)
{
    uint32_t number = 0;
    if (line) module_file(m, line, &number);
    return number;
}

/* What would order them. */
static void advise(const block *b, const op *o, bool warp_only, bool mild, const race *r,
                   char text[200])
{
    const uint32_t wrote = r->how == ACCESS_STORE ? o->line : r->line;
    const uint32_t read = r->how == ACCESS_STORE ? r->line : o->line;
    const char *why = mild         ? ": harmless only if an older value is good enough"
                      : !warp_only ? ""
                      : o->strength == STRENGTH_VOLATILE ? ": volatile does not order the lanes "
                                                           "of a warp"
                                                         : ": the lanes of a warp need not run "
                                                           "in step";
    char edge[64] = "";
    if (r->early)
        snprintf(edge, sizeof edge, ", before line %u writes over what line %u reads",
                 number_of(b->launch->function->module, wrote),
                 number_of(b->launch->function->module, read));
    else if (is_between(b, wrote, read))
        snprintf(edge, sizeof edge, ", at the end of the round, before the next one's line %u",
                 number_of(b->launch->function->module, wrote));
    snprintf(text, 200, "with no %s in between%s%s",
             warp_only ? "__syncwarp() (or __syncthreads())" : "__syncthreads()", edge, why);
}

/* A plain read may see an atomic update or not, as in global memory: some programs mean that. */
static bool is_mild(const op *o, access_kind how, const conflict *c)
{
    if (o->strength == STRENGTH_VOLATILE) return false;
    return c->wrote ? how == ACCESS_LOAD && c->cell & ATOMIC : how == ACCESS_ATOMIC;
}

void report_shared_race(warp *w, const op *o, uint32_t offset, uint32_t lane, access_kind how,
                        const conflict *c)
{
    const block *b = w->block;
    char me[48], other[48], advice[200] = NOTHING_ATOMIC;
    race r = {.how = how, .line = c->line, .wrote = c->wrote, .barrier = true, .early = c->early};
    thread_name(b, w->index * LANES + lane, me);
    thread_name(b, c->cell & THREAD, other);
    r.cause = cause_of_race(w, o, lane, &r);
    bool several = !c->wrote && c->cell & (MANY | CROWD), lost = r.cause == CAUSE_NO_ATOMIC;
    bool warp_only = !lost && (c->cell & WARP) / LANES == w->index && !(c->cell & CROWD);
    const char *does = how == ACCESS_LOAD    ? "reads"
                       : how == ACCESS_STORE ? "overwrites"
                                             : "updates";
    if (!lost) advise(b, o, warp_only, is_mild(o, how, c), &r, advice);
    report_race(w, o, warp_only ? FINDING_MISSING_SYNCWARP : FINDING_RACE, lane, offset, &r,
                "thread%s %s what %s%s %s at line %u %s", me, does,
                several ? "other threads" : "thread", several ? "" : other,
                c->wrote ? "wrote" : "read", number_of(b->launch->function->module, c->line),
                advice);
}

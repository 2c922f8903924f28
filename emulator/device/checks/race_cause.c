/*
 * race_cause.c: the mistake behind a race of two accesses, for shared_race.c and global_race.c.
 *
 * Interface
 *   cause_of_race, is_between
 */
#include "checks.h"

/* ---- which line comes first ------------------------------------------------------------------ */

static uint32_t outermost(const module *m, uint32_t line)
{
    while (line < m->place_count && m->places[line].outer) line = m->places[line].outer;
    return line;
}

/* Of an inlined function counts where it is called, unless both lines are of that call. */
static int compare_places(const module *m, uint32_t a, uint32_t b)
{
    uint32_t x = 0, y = 0;
    module_file(m, outermost(m, a), &x);
    module_file(m, outermost(m, b), &y);
    if (x == y) {
        module_file(m, a, &x);
        module_file(m, b, &y);
    }
    return (x > y) - (x < y);
}

bool is_between(const block *b, uint32_t wrote, uint32_t read)
{
    const module *m = b->launch->function->module;
    return b->barrier_line && compare_places(m, wrote, b->barrier_line) < 0 &&
           compare_places(m, b->barrier_line, read) <= 0;
}

/* ---- one number that several threads change -------------------------------------------------- */

static uint64_t address_of(const warp *w, const op *o, uint32_t lane)
{
    const void *a = row(w, o->a);
    if (o->narrow) return (uint32_t)(((const uint32_t *)a)[lane] + (uint64_t)o->offset);
    return ((const uint64_t *)a)[lane] + (uint64_t)o->offset;
}

static bool is_shared_by_lanes(const warp *w, const op *o, uint32_t lane)
{
    const uint32_t others = active(w, o) & ~(1u << lane);
    for (uint32_t i = 0; i < LANES; i++) {
        if (others >> i & 1 && address_of(w, o, i) == address_of(w, o, lane)) return true;
    }
    return false;
}

/* Between the two no operation gives the register of the address another value. */
static bool has_one_address(const op *one, const op *other)
{
    const op *last = one < other ? other : one;
    for (const op *o = one < other ? one : other; o < last; o++) {
        if (o->d == one->a) return false;
        for (int i = 0; i < 3; i++) {
            if (o->v[i] == one->a) return false;
        }
    }
    return true;
}

/* Does the same line load what `o` stores, or store where `o` loads? One value that all store is
 * no change of what was there. */
static bool reads_and_writes(const function *f, const op *o)
{
    for (const op *other = f->code; other < f->code + f->ops; other++) {
        const op *store = o->is_load ? other : o;
        if (other->size != o->size || other->space != o->space || other->is_load == o->is_load ||
            store->uniform)
            continue;
        if (other->a == o->a && other->offset == o->offset && !other->is_atomic &&
            !compare_places(f->module, other->line, o->line) && has_one_address(o, other))
            return true;
    }
    return false;
}

/* Does the line of a store load nothing from this space but what it stores? Then a thread of another
 * block that read there writes, too. Of x[i] = x[i] + x[i + 1] that is not known. */
static bool reads_to_write(const function *f, const op *store)
{
    for (const op *o = f->code; o < f->code + f->ops; o++) {
        if (o->is_load && o->space == store->space &&
            !compare_places(f->module, o->line, store->line) && !reads_and_writes(f, o))
            return false;
    }
    return true;
}

static bool loses_updates(warp *w, const op *o, uint32_t lane, const race *r)
{
    if (o->strength == STRENGTH_ATOMIC || !o->size || !o->a) return false;
    const function *f = w->groups[w->current].function;
    if (compare_places(f->module, o->line, r->line) || !reads_and_writes(f, o)) return false;
    return r->wrote || is_shared_by_lanes(w, o, lane) || (!r->barrier && reads_to_write(f, o));
}

device_cause cause_of_race(warp *w, const op *o, uint32_t lane, const race *r)
{
    const bool store = r->how == ACCESS_STORE;
    const uint32_t wrote = store ? o->line : r->line, read = store ? r->line : o->line;
    if (loses_updates(w, o, lane, r)) return CAUSE_NO_ATOMIC;
    if (store && r->wrote) return CAUSE_ONE_PLACE;
    if (!r->barrier || !(store || r->wrote)) return CAUSE_NONE;
    if (r->early || is_between(w->block, wrote, read)) return CAUSE_NO_BARRIER_TO_WRITE;
    const bool later = compare_places(w->block->launch->function->module, wrote, read) < 0;
    return store && !later ? CAUSE_NO_BARRIER_TO_WRITE : CAUSE_NO_BARRIER_TO_READ;
}

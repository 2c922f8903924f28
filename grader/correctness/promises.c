/*
 * promises.c: what a contract says about a function besides its results: that it waits for nothing,
 * has waited, allocates or copies nothing, needs at most so many launches. The worker saw the
 * runtime's calls (worker/calls.c); here they are compared with the promise.
 */
#include "correctness.h"

#include <stdio.h>
#include <string.h>

int function_number(const exercise *e, const char *name)
{
    for (int i = 0; i < 24 && e->functions[i]; i++) {
        if (strcmp(e->functions[i], name) == 0) return i;
    }
    return -1;
}

static bool takes_stream(const call_request *r)
{
    int i = 0;
    while (i < r->count && r->arguments[i].wire.kind != WIRE_STREAM) i++;
    return i < r->count;
}

promise promise_of(const exercise *e, const call_request *r)
{
    const int phase = id_phase(e->id);
    const bool by_default = r->place & (ON_SOFTGPU | ON_GPU) && phase >= 2 && phase <= 4;
    for (const promise *p = e->promises; p->function; p++) {
        if (strcmp(p->function, r->function) == 0) return *p;
    }
    return (promise){r->function, by_default && takes_stream(r) ? WAITS_FOR_NOTHING : 0, 0};
}

static const struct {
    unsigned promise; /* 0: every contract's */
    wire_deed deed;
    const char *says;
} table[] = {
    {ALLOCATES_NOTHING, DEED_ALLOCATE, "allocates nothing"},
    {ALLOCATES_ON_ITS_STREAM, DEED_ALLOCATE_ELSEWHERE,
     "allocates on its stream, with cudaMallocAsync"},
    {WAITS_FOR_NOTHING, DEED_WAIT, "waits for nothing: the stream orders the work"},
    {0, DEED_ASTRAY, "works on the stream that it is given"},
    {COPIES_NOTHING, DEED_COPY, "copies nothing between host and device"},
    {NEVER_LEGACY, DEED_LEGACY, "never uses the legacy stream"},
};

static bool is_broken(const promise *p, const wire_calls *c, size_t row)
{
    const bool frees = p->what & WAITS_TO_FREE && c->deeds[DEED_FREE].count > 0;
    if (table[row].deed == DEED_WAIT && frees) return false;
    const bool promised = table[row].promise == 0 || p->what & table[row].promise;
    return promised && c->deeds[table[row].deed].count > 0;
}

static char *sentence(const promise *p, const wire_calls *c, size_t row)
{
    char *text = NULL;
    const char *first = c->deeds[table[row].deed].first;
    const bool another =
        table[row].deed == DEED_ALLOCATE_ELSEWHERE && strcmp(first, "cudaMallocAsync") == 0;
    if (asprintf(&text, "%s: it calls %s%s; its contract says that it %s", p->function, first,
                 another ? " on a stream other than its own" : "", table[row].says) < 0)
        return strdup("");
    return text;
}

char *promise_broken(const promise *p, const wire_calls *c)
{
    char *text = NULL;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (is_broken(p, c, i)) return sentence(p, c, i);
    }
    if (p->what & HAS_WAITED && c->pending &&
        asprintf(&text,
                 "%s: it returns without waiting for what it started; its contract says that it "
                 "has waited",
                 p->function) < 0)
        return strdup("");
    if (!text && p->what & WAITS_FOR_ALL && !c->waited &&
        asprintf(&text,
                 "%s: it does not wait for the device: a copy alone does not wait for streams that "
                 "do not block",
                 p->function) < 0)
        return strdup("");
    if (!text && p->what & LEAVES_ITS_COPY && !c->pending &&
        asprintf(&text, "%s: it waits for its copy; its contract says that it does not",
                 p->function) < 0)
        return strdup("");
    if (!text && p->what & KEEPS_DEVICE && c->moved &&
        asprintf(&text, "%s: the current device has changed", p->function) < 0)
        return strdup("");
    if (!text && p->launches > 0 && c->deeds[DEED_LAUNCH].count > p->launches &&
        asprintf(&text, "%s: it makes %u launches; its contract says at most %u", p->function,
                 c->deeds[DEED_LAUNCH].count, p->launches) < 0)
        return strdup("");
    return text;
}

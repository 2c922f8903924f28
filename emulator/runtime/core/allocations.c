/*
 * allocations.c: what is known of each allocation that the device does not know: where the program
 * made it, where it freed it, what a tool calls it. Guarded by the runtime's lock.
 *
 * Those alive are kept, and the last KEPT that were freed.
 */
#include "runtime.h"

#include "softgpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1 << 12, KEPT = 1 << 10 };

static struct allocation *buckets[BUCKETS];
static struct allocation *oldest, *newest; /* of those that were freed */
static unsigned freed_count;

static struct allocation **bucket(device_address base)
{
    return &buckets[base / 256 % BUCKETS];
}

struct allocation *allocation_find(device_address base)
{
    for (struct allocation *a = *bucket(base); a; a = a->next)
        if (a->base == base) return a;
    return NULL;
}

static void drop(struct allocation *a)
{
    struct allocation **at = bucket(a->base);

    while (*at && *at != a) at = &(*at)->next;
    if (*at) *at = a->next;
    free(a);
}

static void drop_oldest(void)
{
    struct allocation *a = oldest;

    oldest = a->freed_after;
    if (!oldest) newest = NULL;
    freed_count--;
    drop(a);
}

/** The newest of one address stands first in its bucket. */
void allocation_add(device_address base, size_t bytes, bool pinned_host)
{
    struct allocation *a = calloc(1, sizeof *a);

    if (!a) return;
    a->base = base;
    a->bytes = bytes;
    a->pinned_host = pinned_host;
    a->made = trace_here();
    a->next = *bucket(base);
    *bucket(base) = a;
}

void allocation_freed(device_address base)
{
    struct allocation *a = allocation_find(base);

    if (!a || a->is_freed) return;
    a->is_freed = true;
    a->freed = trace_here();
    if (newest)
        newest->freed_after = a;
    else
        oldest = a;
    newest = a;
    if (++freed_count > KEPT) drop_oldest();
}

void allocations_forget(void)
{
    for (int i = 0; i < BUCKETS; i++)
        while (buckets[i]) drop(buckets[i]);
    oldest = newest = NULL;
    freed_count = 0;
}

/** Where a device is shared with another process, that may have made it. */
static struct allocation *add_lent(device_address base)
{
    device *device = device_at(pointer_to(base));
    device_address start;
    uint64_t bytes;

    if (!device || device_find(device, base, &start, &bytes) || start != base) return NULL;
    allocation_add(base, bytes, false);
    struct allocation *a = allocation_find(base);
    if (a) a->lent = true;
    return a;
}

void softgpu_name(const void *pointer, const char *name)
{
    runtime_lock();
    struct allocation *a = allocation_find(address_of(pointer));
    if (name && (!a || a->is_freed)) a = add_lent(address_of(pointer));
    if (name && a) snprintf(a->name, sizeof a->name, "%s", name);
    if (!name && a && a->lent) drop(a);
    runtime_unlock();
}

void allocation_describe(device_address base, uint64_t bytes, char *text, size_t size)
{
    const struct allocation *a = allocation_find(base);
    char made[600] = "", freed[600] = "";

    text[0] = '\0';
    if (!a || a->bytes != bytes) return;
    if (*a->name)
        snprintf(made, sizeof made, ", %s", a->name);
    else
        trace_place(&a->made, NULL, made, sizeof made);
    if (a->is_freed) trace_place(&a->freed, NULL, freed, sizeof freed);
    snprintf(text, size, "%s%s%s%s", *made && !*a->name ? " allocated" : "", made,
             *freed ? ", freed" : "", freed);
}

/* ---- what nobody freed ----------------------------------------------------------------------- */

/** By where they were made and their size, so that equal ones are neighbours. */
static int by_origin(const void *left, const void *right)
{
    const struct allocation *a = *(struct allocation *const *)left;
    const struct allocation *b = *(struct allocation *const *)right;
    int order = memcmp(&a->made, &b->made, sizeof a->made);

    if (order) return order;
    return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

static void report_leak(const struct allocation *a, size_t times)
{
    char where[700], many[32] = "";

    allocation_describe(a->base, a->bytes, where, sizeof where);
    if (times > 1) snprintf(many, sizeof many, ", %zu times", times);
    report_host(CHECK_LEAKS, FINDING_LEAK, RELATION_NONE, "%zu bytes%s%s are never freed%s",
                a->bytes, a->pinned_host ? " of pinned host memory" : "", where, many);
}

void allocations_report_leaks(void)
{
    enum { MOST = 20 };
    size_t count = 0, lines = 0;
    struct allocation **alive = NULL;

    for (int pass = 0; pass < 2; pass++) {
        if (pass) alive = malloc((count + 1) * sizeof *alive);
        if (pass && !alive) return;
        count = 0;
        for (int i = 0; i < BUCKETS; i++)
            for (struct allocation *a = buckets[i]; a; a = a->next) {
                if (a->is_freed || a->lent || a->idle) continue;
                if (alive) alive[count] = a;
                count++;
            }
    }
    qsort(alive, count, sizeof *alive, by_origin);
    for (size_t i = 0, end; i < count && lines < MOST; i = end, lines++) {
        for (end = i + 1; end < count && !by_origin(&alive[i], &alive[end]);) end++;
        report_leak(alive[i], end - i);
    }
    free(alive);
}

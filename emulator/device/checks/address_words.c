/*
 * address_words.c: the words of a finding for the memory concerned: the allocation that an address
 * belongs to, or the one that it just missed, and by how much.
 *
 * Interface
 *   access_verb, describe_distance, describe_buffer, describe_address
 *
 * Distances are counted in the elements that the operation moves, as an index would count them.
 */
#include <stdio.h>

#include "checks.h"

const char *access_verb(access_kind how)
{
    return how == ACCESS_LOAD ? "reads" : how == ACCESS_STORE ? "writes" : "updates";
}

/* What the type of an operation is called; NULL when it says no more than its size. */
static const char *type_name(const op *o)
{
    if (o->size == 1) return "byte";
    if (o->variant == 's' && o->size == 4) return "int";
    if (o->variant != 'f') return NULL;
    return o->size == 4 ? "float" : o->size == 8 ? "double" : "half";
}

void describe_distance(const op *o, uint64_t bytes, char *text, size_t room)
{
    const char *type = type_name(o);
    unsigned long long count = bytes;
    if (o->size == 0 || bytes % o->size)
        type = "byte";
    else
        count = bytes / o->size;
    if (type)
        snprintf(text, room, "%llu %s%s", count, type, count == 1 ? "" : "s");
    else
        snprintf(text, room, "%llu element%s of %u bytes", count, count == 1 ? "" : "s", o->size);
}

neighbour describe_buffer(const device *d, uint64_t base, uint64_t bytes, char *text, size_t room)
{
    const variable *v = module_owner(d, DEVICE_BASE + base);
    char name[128];
    if (!v || v->bytes != bytes) {
        snprintf(text, room, "a %llu-byte buffer", (unsigned long long)bytes);
        return (neighbour){RELATION_INSIDE, DEVICE_BASE + base, bytes, false};
    }
    plain_name(v->name, name, sizeof name);
    snprintf(text, room, "the %llu-byte variable %s", (unsigned long long)bytes, name);
    return (neighbour){.relation = RELATION_INSIDE};
}

/* The allocation that ends last before `at`, be it alive or freed. */
static bool find_below(const device *d, uint64_t at, uint64_t *base, uint64_t *bytes)
{
    uint64_t freed, size;
    bool alive = heap_below(&d->heap, at, base, bytes);
    if (!freed_below(d, at, &freed, &size)) return alive;
    if (alive && *base + *bytes >= freed + size) return true;
    *base = freed;
    *bytes = size;
    return true;
}

static bool near(uint64_t distance)
{
    return distance < 1 << 20;
}

static neighbour describe_freed(const device *d, uint64_t at, uint64_t base, uint64_t bytes,
                                char *text, size_t room)
{
    char buffer[192];
    neighbour n = describe_buffer(d, base, bytes, buffer, sizeof buffer);
    n.relation = RELATION_FREED;
    snprintf(text, room, "at byte %llu of %s", (unsigned long long)(at - base), buffer);
    return n;
}

static neighbour describe_past(const device *d, const op *o, uint64_t at, uint64_t base,
                               uint64_t bytes, char *text, size_t room)
{
    char buffer[192], distance[64];
    neighbour n = describe_buffer(d, base, bytes, buffer, sizeof buffer);
    n.relation = RELATION_PAST;
    describe_distance(o, at - base - bytes, distance, sizeof distance);
    if (at == base + bytes) snprintf(distance, sizeof distance, "just");
    snprintf(text, room, "%s past the end of %s", distance, buffer);
    return n;
}

static neighbour describe_before(const device *d, const op *o, uint64_t at, uint64_t base,
                                 uint64_t bytes, char *text, size_t room)
{
    char buffer[192], distance[64];
    neighbour n = describe_buffer(d, base, bytes, buffer, sizeof buffer);
    n.relation = RELATION_BEFORE;
    describe_distance(o, base - at, distance, sizeof distance);
    snprintf(text, room, "%s before the start of %s", distance, buffer);
    return n;
}

neighbour describe_address(device *d, const op *o, uint64_t address, char *text, size_t room)
{
    uint64_t at = address - DEVICE_BASE, base = 0, bytes = 0;
    if (address < 4096) {
        snprintf(text, room, "at address %u, through a null pointer", (unsigned)address);
        return (neighbour){.relation = RELATION_NULL};
    }
    if (at < DEVICE_OWN_BYTES && at - d->heap.first >= d->options.range_bytes) {
        snprintf(text, room,
                 "at 0x%llx, which is memory of another device: copy it with cudaMemcpyPeer first, "
                 "or call cudaDeviceEnablePeerAccess",
                 (unsigned long long)address);
        return (neighbour){0};
    }
    if (at >= DEVICE_BYTES) {
        snprintf(text, room, "at 0x%llx, which is not device memory", (unsigned long long)address);
        return (neighbour){.relation = RELATION_ALIEN};
    }
    if (freed_find(d, at, &base, &bytes)) return describe_freed(d, at, base, bytes, text, room);
    uint64_t next, next_bytes;
    const bool below = find_below(d, at, &base, &bytes) && near(at - base - bytes);
    const bool above = heap_above(&d->heap, at, &next, &next_bytes) && near(next - at);
    if (below && (!above || at - base - bytes <= next - at))
        return describe_past(d, o, at, base, bytes, text, room);
    if (above) return describe_before(d, o, at, next, next_bytes, text, room);
    snprintf(text, room, "at 0x%llx, which belongs to no allocation", (unsigned long long)address);
    return (neighbour){0};
}

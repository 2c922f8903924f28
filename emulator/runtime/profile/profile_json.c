/*
 * profile_json.c: the profile for programs: SOFTGPU_PROFILE=json:FILE.
 *
 *   {"softgpu_profile": 1,
 *    "total": COUNTS,
 *    "kernels": [{"name": ..., "counts": COUNTS, "sites": [SITE, ...]}, ...],
 *    "launches": [{"kernel": index, "grid": [x, y, z], "block": [x, y, z],
 *                  "dynamic_shared_bytes": n, "counts": COUNTS}, ...]}
 *
 * COUNTS has all fields of device_counts (counts.h) under their names there, and what follows from
 * them. A SITE is one statement of PTX: file, line, opcode, and of its counts those that are not 0;
 * statements that were never executed are left out. One launch, one instruction a line.
 */
#include "profile.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- counts ---------------------------------------------------------------------------------- */

struct field {
    const char *group; /* NULL: a field of the top */
    const char *name;
    size_t offset;
};

#define PLAIN(name)                                                                                \
    {                                                                                              \
        NULL, #name, offsetof(device_counts, name)                                                 \
    }
#define CLASS(name, number)                                                                        \
    {                                                                                              \
        "by_class", name, offsetof(device_counts, by_class) + (number) * sizeof(uint64_t)          \
    }
#define PART(group, name)                                                                          \
    {                                                                                              \
#group, #name, offsetof(device_counts, group.name)                                         \
    }
#define TRAFFIC(group) PART(group, requests), PART(group, sectors), PART(group, bytes)
#define BANKS(group)   PART(group, requests), PART(group, wavefronts), PART(group, conflicts)
#define COPIES(group)  PART(group, count), PART(group, bytes)

static const struct field fields[] = {
    PLAIN(launches),
    PLAIN(blocks),
    PLAIN(warps),
    PLAIN(threads),
    PLAIN(host_launches),
    PLAIN(resident),
    PLAIN(instructions),
    PLAIN(longest),
    CLASS("integer", CLASS_INTEGER),
    CLASS("float", CLASS_FLOAT),
    CLASS("double", CLASS_DOUBLE),
    CLASS("tensor", CLASS_TENSOR),
    CLASS("convert", CLASS_CONVERT),
    CLASS("move", CLASS_MOVE),
    CLASS("memory", CLASS_MEMORY),
    CLASS("control", CLASS_CONTROL),
    CLASS("warp", CLASS_WARP),
    PLAIN(lanes),
    PLAIN(operations),
    PLAIN(multiplications),
    TRAFFIC(global_load),
    TRAFFIC(global_store),
    TRAFFIC(local_load),
    TRAFFIC(local_store),
    TRAFFIC(global_atomic),
    TRAFFIC(read_only),
    PART(constant, requests),
    PART(constant, sectors),
    PART(constant, reads),
    TRAFFIC(bulk_load),
    TRAFFIC(bulk_store),
    PLAIN(block_atomics),
    BANKS(shared_load),
    BANKS(shared_store),
    BANKS(shared_atomic),
    PLAIN(barriers),
    PLAIN(footprint),
    COPIES(to_device),
    COPIES(to_host),
    COPIES(on_device),
    COPIES(fills),
    COPIES(allocated),
    COPIES(freed),
    PLAIN(peak),
    PLAIN(received),
    PLAIN(sent),
    PLAIN(busiest),
    PLAIN(span),
};

enum { FIELDS = sizeof fields / sizeof *fields };
_Static_assert(sizeof(device_counts) == FIELDS * sizeof(uint64_t), "every field has a name here");

static uint64_t value_of(const device_counts *c, const struct field *f)
{
    return *(const uint64_t *)((const char *)c + f->offset);
}

/* Members of an object, each but the first behind a comma. */
static void print_fields(FILE *to, const device_counts *c, bool zeros)
{
    const char *group = NULL, *comma = "";

    for (int i = 0; i < FIELDS; i++) {
        const struct field *f = &fields[i];
        uint64_t value = value_of(c, f);
        if (!value && !zeros) continue;
        if (group && group != f->group) fputs("}", to);
        if (f->group && f->group != group) {
            fprintf(to, "%s\"%s\":{", comma, f->group);
            comma = "";
        }
        group = f->group;
        fprintf(to, "%s\"%s\":%llu", comma, f->name, (unsigned long long)value);
        comma = ",";
    }
    if (group) fputs("}", to);
}

static void print_counts(FILE *to, const device_counts *c)
{
    fputs("{", to);
    print_fields(to, c, true);
    fprintf(to, ",\"active_lanes\":%.6g,\"sectors_per_load\":%.6g,\"sectors_per_store\":%.6g",
            active_lanes(c), ratio(c->global_load.sectors, c->global_load.requests),
            ratio(c->global_store.sectors, c->global_store.requests));
    fprintf(to, ",\"arithmetic_intensity\":%.6g}", intensity(c));
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void print_text(FILE *to, const char *text)
{
    fputc('"', to);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(to, "\\%c", c);
        else if (c < ' ' || c == 0x7f)
            fprintf(to, "\\u%04x", c);
        else
            fputc(c, to);
    }
    fputc('"', to);
}

static void print_instruction(FILE *to, const device_instruction *s)
{
    fputs("{\"file\":", to);
    print_text(to, s->file);
    fprintf(to, ",\"line\":%u,\"opcode\":", s->line);
    print_text(to, s->opcode);
    fputs(",\"counts\":{", to);
    print_fields(to, &s->counts, false);
    fputs("}}", to);
}

static bool was_reached(const device_instruction *s)
{
    static const device_counts none;

    for (int i = 0; i < FIELDS; i++)
        if (value_of(&s->counts, &fields[i]) != value_of(&none, &fields[i])) return true;
    return false;
}

static void print_kernel(FILE *to, const struct profile_kernel *k)
{
    const char *comma = "";

    fputs("\n {\"name\":", to);
    print_text(to, k->name);
    fputs(",\"counts\":", to);
    print_counts(to, &k->counts);
    fputs(",\"sites\":[", to);
    for (uint32_t i = 0; i < k->instruction_count; i++) {
        if (!was_reached(&k->instructions[i])) continue;
        fprintf(to, "%s\n  ", comma);
        print_instruction(to, &k->instructions[i]);
        comma = ",";
    }
    fputs("]}", to);
}

static void print_launch(FILE *to, const device_counted_launch *l)
{
    fprintf(to, "\n {\"kernel\":%u,\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u]", l->kernel, l->grid[0],
            l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2]);
    fprintf(to, ",\"dynamic_shared_bytes\":%u,\"counts\":", l->dynamic_shared_bytes);
    print_counts(to, &l->counts);
    fputs("}", to);
}

void profile_json(FILE *to, const struct profile *p)
{
    fputs("{\"softgpu_profile\":1,\n\"total\":", to);
    print_counts(to, &p->total);
    fputs(",\n\"kernels\":[", to);
    for (uint32_t i = 0; i < p->kernel_count; i++) {
        if (i) fputs(",", to);
        print_kernel(to, &p->kernels[i]);
    }
    fputs("],\n\"launches\":[", to);
    for (uint32_t i = 0; i < p->launch_count; i++) {
        if (i) fputs(",", to);
        print_launch(to, &p->launches[i]);
    }
    fputs("]}\n", to);
}

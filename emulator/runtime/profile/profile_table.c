/*
 * profile_table.c: the profile for people: a row for each kernel, then what it is made of.
 */
#include "profile.h"

#include <stdbool.h>
#include <string.h>

/** 1234567 as "1,234,567" */
static const char *grouped(uint64_t value, char text[32])
{
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value), at = 0;

    for (int i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0) text[at++] = ',';
        text[at++] = digits[i];
    }
    text[at] = 0;
    return text;
}

/* ---- one row a kernel ------------------------------------------------------------------------ */

static void print_ratio(FILE *to, int width, uint64_t part, uint64_t whole)
{
    if (whole)
        fprintf(to, " %*.1f", width, ratio(part, whole));
    else
        fprintf(to, " %*s", width, "-");
}

static void print_row(FILE *to, const struct profile_kernel *k)
{
    const device_counts *c = &k->counts;
    char text[32];

    fprintf(to, "  %-24.24s %8s", k->name, grouped(c->launches, text));
    fprintf(to, " %13s", grouped(c->threads, text));
    fprintf(to, " %15s", grouped(c->instructions, text));
    fprintf(to, " %5.0f%%", 100 * active_lanes(c));
    print_ratio(to, 8, c->global_load.sectors, c->global_load.requests);
    print_ratio(to, 9, c->global_store.sectors, c->global_store.requests);
    fprintf(to, " %13s", grouped(moved_bytes(c), text));
    uint64_t conflicts =
        c->shared_load.conflicts + c->shared_store.conflicts + c->shared_atomic.conflicts;
    fprintf(to, " %11s", grouped(conflicts, text));
    fprintf(to, " %10.2f\n", intensity(c));
}

/* ---- what a kernel is made of ---------------------------------------------------------------- */

static void print_classes(FILE *to, const device_counts *c)
{
    static const char *const names[CLASSES] = {"integer", "float",  "double",  "tensor", "convert",
                                               "move",    "memory", "control", "warp"};

    fputs("    instructions    ", to);
    for (int i = 0; i < CLASSES; i++)
        if (c->by_class[i])
            fprintf(to, "%s %.0f%%  ", names[i], 100 * ratio(c->by_class[i], c->instructions));
    fputs("\n", to);
}

static void print_traffic(FILE *to, const char *name, const device_traffic *t)
{
    char a[32], b[32], c[32];

    if (!t->requests) return;
    fprintf(to,
            "    %-15s %s requests, %s sectors: %.1f a request; %s bytes wanted, %.0f%% of it\n",
            name, grouped(t->requests, a), grouped(t->sectors, b), ratio(t->sectors, t->requests),
            grouped(t->bytes, c), 100 * ratio(t->bytes, 32 * t->sectors));
}

static void print_banks(FILE *to, const char *name, const device_banks *t)
{
    char a[32], b[32], c[32];

    if (!t->requests) return;
    fprintf(to, "    %-15s %s requests, %s wavefronts: %.1f a request; %s bank conflicts\n", name,
            grouped(t->requests, a), grouped(t->wavefronts, b), ratio(t->wavefronts, t->requests),
            grouped(t->conflicts, c));
}

static void print_constants(FILE *to, const device_constants *t)
{
    char a[32], b[32];

    if (!t->requests) return;
    fprintf(to, "    %-15s %s requests, %s reads: %.1f a request\n", "constant loads",
            grouped(t->requests, a), grouped(t->reads, b), ratio(t->reads, t->requests));
}

static void print_number(FILE *to, const char *name, uint64_t value, const char *unit)
{
    char text[32];

    if (value) fprintf(to, "    %-15s %s%s\n", name, grouped(value, text), unit);
}

static void print_details(FILE *to, const struct profile_kernel *k)
{
    const device_counts *c = &k->counts;

    fprintf(to, "\n  %s\n", k->name);
    print_classes(to, c);
    print_traffic(to, "global loads", &c->global_load);
    print_traffic(to, "global stores", &c->global_store);
    print_traffic(to, "global atomics", &c->global_atomic);
    print_traffic(to, "read-only loads", &c->read_only);
    print_constants(to, &c->constant);
    print_traffic(to, "bulk loads", &c->bulk_load);
    print_traffic(to, "bulk stores", &c->bulk_store);
    print_traffic(to, "local loads", &c->local_load);
    print_traffic(to, "local stores", &c->local_store);
    print_banks(to, "shared loads", &c->shared_load);
    print_banks(to, "shared stores", &c->shared_store);
    print_banks(to, "shared atomics", &c->shared_atomic);
    print_number(to, "footprint", c->footprint, " bytes of global memory touched");
    print_number(to, "longest", c->longest, " instructions of one warp");
    print_number(to, "barriers", c->barriers, " arrivals of warps");
    print_number(to, "floating point", c->operations, " operations");
}

static void print_copies(FILE *to, const char *name, const device_transfers *t)
{
    char a[32], b[32];

    if (t->count)
        fprintf(to, "    %-15s %s, %s bytes\n", name, grouped(t->count, a), grouped(t->bytes, b));
}

/** How many copies and kernels there are for each step of the timeline. */
static void print_overlap(FILE *to, const device_counts *c)
{
    char a[32], b[32];
    uint64_t all =
        c->launches + c->to_device.count + c->to_host.count + c->on_device.count + c->fills.count;

    if (all > c->span)
        fprintf(to, "    %-15s %s copies and kernels in %s steps\n", "overlap", grouped(all, a),
                grouped(c->span, b));
}

void profile_table(FILE *to, const struct profile *p)
{
    fprintf(to,
            "softgpu: what the kernels cost\n  %-24s %8s %13s %15s %6s %8s %9s %13s %11s %10s\n",
            "kernel", "launches", "threads", "instructions", "lanes", "sec/load", "sec/store",
            "bytes moved", "conflicts", "flops/byte");
    for (uint32_t i = 0; i < p->kernel_count; i++) print_row(to, &p->kernels[i]);
    for (uint32_t i = 0; i < p->kernel_count; i++) print_details(to, &p->kernels[i]);
    fputs("\n  copies\n", to);
    print_copies(to, "to the device", &p->total.to_device);
    print_copies(to, "to the host", &p->total.to_host);
    print_copies(to, "on the device", &p->total.on_device);
    print_copies(to, "fills", &p->total.fills);
    print_overlap(to, &p->total);
}

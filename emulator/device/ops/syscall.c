/*
 * syscall.c: functions that the device itself provides to kernels.
 *
 * Interface
 *   syscall_find
 *
 * vprintf formats as the host's printf does, from a buffer in which each argument lies at its
 * natural alignment. __assertfail names the assertion and ends the launch. malloc and free serve
 * kernels from the memory that cudaMalloc has, up to a limit.
 */
#include <stdio.h>
#include <stdlib.h>

#include "device/base/arena.h"
#include "device/base/bits.h"
#include "ops.h"

enum { OUTPUT_LIMIT = 1 << 24, TEXT_LIMIT = 4096 };

static uint64_t argument(const warp *w, const call *c, uint32_t index, uint32_t lane,
                         uint32_t words)
{
    const uint32_t *r = row(w, c->argument[index]);
    return r[lane] | (words > 1 ? (uint64_t)r[LANES + lane] << 32 : 0);
}

/* Copies what lies at a generic address, unchecked beyond its being there at all. */
static bool peek(const warp *w, uint32_t lane, uint64_t address, void *to, uint32_t bytes)
{
    const block *b = w->block;
    uint64_t local = address - LOCAL_WINDOW, global = address - DEVICE_BASE;
    uint64_t room = b->local_stride - ROW_ALIGNMENT;
    if (local < room && bytes <= room - local) {
        memcpy(to, w->local + lane * b->local_stride + local, bytes);
        return true;
    }
    uint64_t shared = address - SHARED_WINDOW;
    if (shared < b->shared_bytes && bytes <= b->shared_bytes - shared) {
        memcpy(to, b->shared + shared, bytes);
        return true;
    }
    if (global >= DEVICE_BYTES || !owned_all(b->device->owned, global, bytes)) return false;
    memcpy(to, b->device->bytes + global, bytes);
    return true;
}

static void peek_text(const warp *w, uint32_t lane, uint64_t address, char *text, uint32_t room)
{
    uint32_t n = 0;
    while (n + 1 < room && peek(w, lane, address + n, text + n, 1) && text[n]) n++;
    text[n] = 0;
}

static void put_output(device *d, const char *text, size_t bytes)
{
    pthread_mutex_lock(&d->reports);
    if (d->output_bytes + bytes <= OUTPUT_LIMIT) {
        if (d->output_bytes + bytes > d->output_capacity) {
            d->output_capacity = 2 * d->output_capacity + bytes + TEXT_LIMIT;
            d->output = retake(d->output, d->output_capacity);
        }
        memcpy(d->output + d->output_bytes, text, bytes);
        d->output_bytes += bytes;
    }
    pthread_mutex_unlock(&d->reports);
}

/* ---- vprintf --------------------------------------------------------------------------------- */

typedef struct printing {
    const warp *w;
    uint32_t lane;
    uint64_t at; /* address of the next argument */
    char out[TEXT_LIMIT];
    size_t used;
} printing;

static uint64_t next_argument(printing *p, uint32_t bytes)
{
    uint64_t value = 0;
    p->at = (p->at + bytes - 1) & ~(uint64_t)(bytes - 1);
    peek(p->w, p->lane, p->at, &value, bytes);
    p->at += bytes;
    return value;
}

#define PUT(...)                                                                                   \
    do {                                                                                           \
        int n = snprintf(p->out + p->used, sizeof p->out - p->used, __VA_ARGS__);                  \
        size_t left = sizeof p->out - 1 - p->used;                                                 \
        p->used += n < 0 ? 0 : (size_t)n < left ? (size_t)n : left;                                \
    } while (0)

/* `spec` is one directive, "%-8.3f" say, without length modifiers; `wide`: it had some. */
static void put_directive(printing *p, const char *spec, char kind, bool wide)
{
    char with_length[48], text[TEXT_LIMIT / 2];
    snprintf(with_length, sizeof with_length, "%.*sll%c", (int)strlen(spec) - 1, spec, kind);
    double real;
    uint64_t bits;
    switch (kind) {
    case 'd':
    case 'i':
        bits = next_argument(p, wide ? 8 : 4);
        PUT(with_length, wide ? (long long)bits : (long long)(int32_t)bits);
        break;
    case 'u':
    case 'x':
    case 'X':
    case 'o': PUT(with_length, (unsigned long long)next_argument(p, wide ? 8 : 4)); break;
    case 'c': PUT(spec, (int)next_argument(p, 4)); break;
    case 'p': PUT("0x%llx", (unsigned long long)next_argument(p, 8)); break;
    case 's':
        peek_text(p->w, p->lane, next_argument(p, 8), text, sizeof text);
        PUT(spec, text);
        break;
    default:
        bits = next_argument(p, 8);
        memcpy(&real, &bits, sizeof real);
        PUT(spec, real);
    }
}

static int width_argument(printing *p)
{
    const int width = (int)next_argument(p, 4);
    return width > TEXT_LIMIT ? TEXT_LIMIT : width < -TEXT_LIMIT ? -TEXT_LIMIT : width;
}

/* Reads a directive behind its %, replaces * by its value. Widths end where the text would: the
 * host's printf takes memory for what it does not show. @return what follows it. */
static const char *print_directive(printing *p, const char *f)
{
    char spec[40] = "%";
    size_t n = 1;
    unsigned width = 0;
    bool wide = false;
    for (; *f && n < 24; f++) {
        width = *f >= '0' && *f <= '9' ? 10 * width + (unsigned)(*f - '0') : 0;
        if (*f == '*')
            n += (size_t)snprintf(spec + n, 12, "%d", width_argument(p));
        else if (width > TEXT_LIMIT)
            width /= 10;
        else if (strchr("-+ #0123456789.", *f))
            spec[n++] = *f;
        else if (strchr("lzjt", *f))
            wide = true;
        else if (*f != 'h' && *f != 'L')
            break;
    }
    if (!*f || !strchr("diuxXocpsfFeEgGaA%", *f)) return f;
    spec[n++] = *f;
    spec[n] = 0;
    if (*f == '%')
        PUT("%%");
    else
        put_directive(p, spec, *f, wide);
    return f + 1;
}

static void print_lane(const warp *w, uint32_t lane, uint64_t format, uint64_t arguments)
{
    char text[TEXT_LIMIT];
    printing print = {.w = w, .lane = lane, .at = arguments}, *p = &print;
    peek_text(w, lane, format, text, sizeof text);
    for (const char *f = text; *f;) {
        if (*f == '%')
            f = print_directive(p, f + 1);
        else if (p->used < sizeof p->out - 1)
            p->out[p->used++] = *f++;
        else
            break;
    }
    put_output(w->block->device, p->out, p->used);
}

static const op *run_vprintf(warp *w, const op *o)
{
    const call *c = o->extra;
    for (uint32_t m = active(w, o); m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        print_lane(w, lane, argument(w, c, 0, lane, 2), argument(w, c, 1, lane, 2));
        if (c->has_result) ((uint32_t *)row(w, c->result))[lane] = 1;
    }
    return o + 1;
}

/* ---- __assertfail ---------------------------------------------------------------------------- */

/* (const char *message, const char *file, unsigned line, const char *function, size_t char_size) */
static const op *run_assertfail(warp *w, const op *o)
{
    const call *c = o->extra;
    uint32_t mask = active(w, o);
    if (mask == 0) return o + 1;
    uint32_t lane = (uint32_t)__builtin_ctz(mask);
    char message[256], file[200], where[128];
    peek_text(w, lane, argument(w, c, 0, lane, 2), message, sizeof message);
    peek_text(w, lane, argument(w, c, 1, lane, 2), file, sizeof file);
    peek_text(w, lane, argument(w, c, 3, lane, 2), where, sizeof where);
    report(w, o, FINDING_ASSERT, lane, 0, "assertion '%s' failed at %s:%u in %s", message,
           base_name(file), (uint32_t)argument(w, c, 2, lane, 1), where);
    return group_halt(w, o, DEVICE_ASSERT);
}

/* ---- malloc and free: device memory like any other ------------------------------------------- */

/* A kernel's own heap is small, unless cudaDeviceSetLimit has made it larger. */
static device_address take_from_heap(device *d, uint64_t bytes)
{
    device_address address = 0;
    pthread_mutex_lock(&d->allocations);
    bool fits = bytes <= d->kernel_heap && d->kernel_heap_used <= d->kernel_heap - bytes;
    if (fits && device_alloc(d, bytes, &address) == DEVICE_OK) d->kernel_heap_used += bytes;
    pthread_mutex_unlock(&d->allocations);
    return address;
}

static device_status give_to_heap(device *d, device_address address)
{
    uint64_t base, bytes = 0;
    heap_find(&d->heap, address - DEVICE_BASE, &base, &bytes);
    const device_status status = device_free(d, address);
    if (status == DEVICE_OK)
        d->kernel_heap_used -= bytes < d->kernel_heap_used ? bytes : d->kernel_heap_used;
    return status;
}

static const op *run_malloc(warp *w, const op *o)
{
    const call *c = o->extra;
    uint32_t *result = row(w, c->result);
    for (uint32_t m = active(w, o); m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        device_address address = take_from_heap(w->block->device, argument(w, c, 0, lane, 2));
        result[lane] = (uint32_t)address;
        result[LANES + lane] = (uint32_t)(address >> 32);
    }
    return o + 1;
}

static void report_bad_free(warp *w, const op *o, uint32_t lane, device_address address)
{
    device *d = w->block->device;
    char buffer[192] = "";
    neighbour n = {0};
    uint64_t base, bytes;
    if (freed_find(d, address - DEVICE_BASE, &base, &bytes)) {
        n = describe_buffer(d, base, bytes, buffer, sizeof buffer);
        n.relation = RELATION_FREED;
        report_near(w, o, FINDING_BAD_FREE, lane, address, &n, "frees again %s", buffer);
    } else {
        report(w, o, FINDING_BAD_FREE, lane, address,
               "frees 0x%llx, which is not the start of an allocation",
               (unsigned long long)address);
    }
    launch_fail(w->block->launch, DEVICE_ILLEGAL_ADDRESS);
}

static const op *run_free(warp *w, const op *o)
{
    const call *c = o->extra;
    device *d = w->block->device;
    for (uint32_t m = active(w, o); m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        device_address address = argument(w, c, 0, lane, 2);
        pthread_mutex_lock(&d->allocations);
        if (address && give_to_heap(d, address) != DEVICE_OK) report_bad_free(w, o, lane, address);
        pthread_mutex_unlock(&d->allocations);
    }
    return o + 1;
}

/* new and delete, with the size or without it. */
static bool starts(const char *name, const char *with)
{
    return !strncmp(name, with, strlen(with));
}

handler *syscall_find(const char *name)
{
    if (!strcmp(name, "_Znwm") || !strcmp(name, "_Znam")) return run_malloc;
    if (starts(name, "_ZdlPv") || starts(name, "_ZdaPv")) return run_free;
    if (!strcmp(name, "__cxa_pure_virtual")) return run_trap;
    if (!strcmp(name, "malloc")) return run_malloc;
    if (!strcmp(name, "__cuda_syscall_aligned_malloc")) return run_malloc; /* to 256 bytes */
    if (!strcmp(name, "free")) return run_free;
    if (!strcmp(name, "vprintf")) return run_vprintf;
    if (!strcmp(name, "__assertfail") || !strcmp(name, "__assert_fail")) return run_assertfail;
    return NULL;
}

/*
 * trace.c: a block's steps, written down as they happen.
 *
 * Interface
 *   all of trace.h
 *
 * Steps go to a stream in memory, and to the file when the launch is over: a line is whole or not
 * there. One block of one launch is traced at a time, so nothing is locked.
 */
#include <stdio.h>
#include <stdlib.h>

#include "device/base/arena.h"
#include "trace.h"

enum { MOST_WORDS = 64 };

struct trace {
    FILE *file;
    uint32_t block[3];
    char *kernels[MOST_KERNELS]; /* traced already: mangled names */
    uint32_t kernel_count;
    bool full; /* some kernels are left out, and that was said */
    FILE *steps;
    char *text; /* of `steps` */
    size_t bytes;
    uint32_t step_count, left_out, instruction_count;
    bool open; /* a step may still get accesses */
    struct {
        uint32_t kind, line;
    } told[MOST_WORDS]; /* findings that have had their words */
    uint32_t told_count;
};

/* ---- who is traced --------------------------------------------------------------------------- */

trace *trace_open(void)
{
    const char *name = getenv("SOFTGPU_TRACE"), *block = getenv("SOFTGPU_TRACE_BLOCK");
    FILE *file = name && *name ? fopen(name, "ae") : NULL;
    if (!file) {
        if (name && *name) fprintf(stderr, "softgpu: cannot write the trace %s\n", name);
        return NULL;
    }
    trace *t = take(1, sizeof *t);
    t->file = file;
    if (block) sscanf(block, "%u,%u,%u", &t->block[0], &t->block[1], &t->block[2]);
    return t;
}

void trace_close(device *d)
{
    trace *t = d->trace;
    if (!t) return;
    for (uint32_t i = 0; i < t->kernel_count; i++) free(t->kernels[i]);
    fclose(t->file);
    free(t);
}

static bool is_in_grid(const trace *t, const uint32_t grid[3])
{
    return t->block[0] < grid[0] && t->block[1] < grid[1] && t->block[2] < grid[2];
}

static bool is_new(trace *t, const char *kernel)
{
    for (uint32_t i = 0; i < t->kernel_count; i++) {
        if (!strcmp(t->kernels[i], kernel)) return false;
    }
    if (t->kernel_count == MOST_KERNELS) {
        if (!t->full)
            fprintf(stderr, "softgpu: the trace leaves out %s and what follows\n", kernel);
        t->full = true;
        return false;
    }
    t->kernels[t->kernel_count++] = strdup(kernel);
    return true;
}

/* ---- text ------------------------------------------------------------------------------------ */

static void put_string(FILE *to, const char *text)
{
    fputc('"', to);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(to, "\\%c", *c);
        else if (*c < ' ' || *c > '~')
            fprintf(to, "\\u%04x", *c);
        else
            fputc(*c, to);
    }
    fputc('"', to);
}

static void put_triple(FILE *to, const char *key, const uint32_t n[3])
{
    fprintf(to, ",\"%s\":[%u,%u,%u]", key, n[0], n[1], n[2]);
}

/* The line itself, then where its function was inlined, and so on. */
static void put_place(FILE *to, const module *m, uint32_t place)
{
    bool first = true;
    fputc('[', to);
    for (uint32_t at = place; at || first; at = at < m->place_count ? m->places[at].outer : 0) {
        uint32_t line = 0;
        const char *file = module_file(m, at, &line);
        if (!first) fputc(',', to);
        first = false;
        put_string(to, base_name(file));
        fprintf(to, ",%u", line);
    }
    fputc(']', to);
}

static void put_shared(FILE *to, const launch *l)
{
    const function *f = l->function;
    const module *m = f->module;
    bool any = false;
    fputs(",\"shared\":[", to);
    for (uint32_t i = 0; i < m->variable_count; i++) {
        const variable *v = &m->variables[i];
        char name[128];
        if (v->space != SPACE_SHARED || v->external || !f->shared_used[i]) continue;
        plain_name(v->name, name, sizeof name);
        if (any) fputc(',', to);
        any = true;
        fputc('[', to);
        put_string(to, name);
        fprintf(to, ",%u,%u]", (uint32_t)v->address, (uint32_t)v->bytes);
    }
    fprintf(to, "],\"dynamic\":[%u,%u]", m->shared_bytes, l->request->dynamic_shared_bytes);
}

/* Those of 8 bytes that point into an allocation: by them a page can tell whose memory it draws. */
static void put_parameters(FILE *to, const launch *l)
{
    const device_function_facts *f = &l->function->facts;
    fputs(",\"parameters\":[", to);
    for (uint32_t i = 0; i < f->param_count; i++) {
        uint64_t value = 0, bytes = 0;
        device_address base = 0;
        if (f->param_size[i] == 8) memcpy(&value, l->params + f->param_offset[i], 8);
        bool points = value >= DEVICE_BASE && value - DEVICE_BASE < DEVICE_BYTES &&
                      device_find(l->device, value, &base, &bytes) == DEVICE_OK;
        fprintf(to, "%s", i ? "," : "");
        if (points)
            fprintf(to, "[%llu,%llu,%llu]", (unsigned long long)(value - DEVICE_BASE),
                    (unsigned long long)(base - DEVICE_BASE), (unsigned long long)bytes);
        else
            fputs("null", to);
    }
    fputc(']', to);
}

/* ---- a launch -------------------------------------------------------------------------------- */

static void put_launch(trace *t, const launch *l)
{
    fputs("{\"kernel\":", t->steps);
    put_string(t->steps, l->function->plain_name);
    fputs(",\"id\":", t->steps);
    put_string(t->steps, l->function->name);
    put_triple(t->steps, "grid", l->request->grid);
    put_triple(t->steps, "block", l->request->block);
    put_triple(t->steps, "traced", t->block);
    put_shared(t->steps, l);
    put_parameters(t->steps, l);
    fputs(",\"steps\":[", t->steps);
}

void trace_begin(launch *l)
{
    trace *t = l->device->trace;
    if (!t || !is_in_grid(t, l->request->grid) || !is_new(t, l->function->name)) return;
    t->steps = open_memstream(&t->text, &t->bytes);
    if (!t->steps) abort();
    t->step_count = t->left_out = t->instruction_count = t->told_count = 0;
    l->trace = t;
    put_launch(t, l);
}

static void close_step(trace *t)
{
    if (t->open) fputc(']', t->steps);
    t->open = false;
}

void trace_instruction(launch *l, const trace_cost *c)
{
    trace *t = l->trace;
    close_step(t);
    if (!t->instruction_count++)
        fprintf(t->steps, "],\"left_out\":%u,\"instructions\":[", t->left_out);
    else
        fputc(',', t->steps);
    fprintf(t->steps, "[%u,", c->number);
    put_string(t->steps, c->opcode);
    fputc(',', t->steps);
    put_place(t->steps, l->function->module, c->line);
    fprintf(t->steps, ",%u,%llu,%llu,%llu,%llu,%llu,%llu,%d]", c->traffic,
            (unsigned long long)c->executed, (unsigned long long)c->lanes,
            (unsigned long long)c->requests, (unsigned long long)c->units,
            (unsigned long long)c->bytes, (unsigned long long)c->least, c->barrier);
}

void trace_end(launch *l)
{
    trace *t = l->trace;
    if (!t) return;
    if (!t->instruction_count) {
        close_step(t);
        fprintf(t->steps, "],\"left_out\":%u,\"instructions\":[", t->left_out);
    }
    fputs("]}\n", t->steps);
    fclose(t->steps);
    fwrite(t->text, 1, t->bytes, t->file);
    fflush(t->file);
    free(t->text);
}

void trace_start(block *b, uint64_t number)
{
    const trace *t = b->launch->trace;
    const uint32_t *grid = b->launch->request->grid;
    b->trace = NULL;
    if (!t) return;
    uint64_t wanted = t->block[0] + grid[0] * (t->block[1] + (uint64_t)grid[1] * t->block[2]);
    if (number == wanted) b->trace = b->launch->trace;
}

/* ---- a block --------------------------------------------------------------------------------- */

/* @return false: there are enough */
static bool begin_step(trace *t)
{
    close_step(t);
    if (t->step_count == MOST_STEPS) {
        t->left_out++;
        return false;
    }
    if (t->step_count++) fputs(",\n", t->steps);
    return t->open = true;
}

void trace_step(block *b, uint32_t warp, uint32_t instruction, uint32_t mask)
{
    if (begin_step(b->trace))
        fprintf(b->trace->steps, "[%u,%u,%d", warp, instruction, (int32_t)mask);
}

/* Do the addresses of the active lanes rise by the same step from lane to lane? */
static bool is_even(uint32_t mask, const uint64_t address[LANES], int64_t *base, int64_t *step)
{
    uint32_t first = (uint32_t)__builtin_ctz(mask), rest = mask & (mask - 1);
    if (rest && first + 1 != (uint32_t)__builtin_ctz(rest)) return false;
    *step = rest ? (int64_t)(address[first + 1] - address[first]) : 0;
    *base = (int64_t)address[first] - first * *step;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(m);
        if ((int64_t)address[i] != *base + i * *step) return false;
    }
    return true;
}

void trace_access(block *b, uint32_t kind, uint32_t bytes, uint32_t mask, uint32_t units,
                  const uint64_t address[LANES])
{
    trace *t = b->trace;
    uint64_t from[LANES];
    int64_t base, step;
    if (!t->open || !mask) return;
    for (uint32_t i = 0; i < LANES; i++)
        from[i] = address[i] >= DEVICE_BASE ? address[i] - DEVICE_BASE : address[i];
    fprintf(t->steps, ",[%u,%u,%d,%u,", kind, bytes, (int32_t)mask, units);
    if (is_even(mask, from, &base, &step)) {
        fprintf(t->steps, "%lld,%lld]", (long long)base, (long long)step);
        return;
    }
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(m);
        fprintf(t->steps, "%c%llu", m == mask ? '[' : ',', (unsigned long long)from[i]);
    }
    fputs("]]", t->steps);
}

int32_t trace_now(const block *b)
{
    return b->trace->open ? (int32_t)b->trace->step_count - 1 : -1;
}

void trace_landing(block *b, const trace_tile *x)
{
    FILE *to = b->trace->steps;
    if (!b->trace->open) return;
    fprintf(to, ",[%u,%u,%d,%u,%u,%u,%u,%u", TRACE_LANDING, x->bytes, x->step, x->phase, x->to,
            x->barrier, x->row_bytes, x->swizzle);
    for (uint32_t i = 0; i < x->rank; i++) fprintf(to, ",%d", x->corner[i]);
    fputc(']', to);
}

void trace_barrier(block *b, uint32_t number)
{
    uint32_t warps = 0;
    for (uint32_t k = 0; k < b->warp_count; k++) {
        const warp *w = &b->warps[k];
        for (int i = 0; i < w->group_count; i++) {
            const lane_group *g = &w->groups[i];
            if (g->state == GROUP_BARRIER && g->barrier == number) warps |= 1u << k;
        }
    }
    if (begin_step(b->trace)) fprintf(b->trace->steps, "[-1,%u,%d", number, (int32_t)warps);
}

/* A race is seen by a thousand threads in the same words. */
static bool is_told(trace *t, uint32_t kind, uint32_t line)
{
    for (uint32_t i = 0; i < t->told_count; i++) {
        if (t->told[i].kind == kind && t->told[i].line == line) return true;
    }
    if (t->told_count == MOST_WORDS) return true;
    t->told[t->told_count].kind = kind;
    t->told[t->told_count++].line = line;
    return false;
}

void trace_finding(block *b, uint32_t thread, const device_finding *f)
{
    trace *t = b->trace;
    long long address = f->address >= DEVICE_BASE ? -1 : (long long)f->address;
    if (!begin_step(t)) return;
    fprintf(t->steps, "[-2,%d,%u,%u,%lld,", f->kind, thread / LANES, thread % LANES, address);
    put_string(t->steps, base_name(f->inlined_line ? f->inlined_file : f->file));
    const uint32_t line = f->inlined_line ? f->inlined_line : f->line;
    fprintf(t->steps, ",%u,", line);
    put_string(t->steps, is_told(t, f->kind, line) ? "" : f->text);
}

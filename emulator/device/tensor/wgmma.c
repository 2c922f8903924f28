/*
 * wgmma.c: products of a warp group: 64 rows, of which each of four warps holds 16.
 *
 * Interface
 *   run_wgmma, run_wgmma_fence, run_wgmma_commit, run_wgmma_wait
 *   check_group, give_way
 *
 * Each warp computes its rows when it comes to the operation, as mma does, and has its sums at
 * once. analysis/ and the checks watch what it must not use before it has waited: registers there,
 * shared memory in reading.c.
 */
#include <stdio.h>

#include "tensor.h"

enum { ROWS = 16, MAX_COLUMNS = 256, MAX_DEPTH = 32 };

/* ---- the warp group -------------------------------------------------------------------------- */

const char *const step_names[STEP_KINDS] = {"wgmma", "setmaxnreg"};

static void report_few(warp *w, const op *o, step_kind kind)
{
    report(w, o, FINDING_DIVERGENT_BARRIER, 0, 0,
           "a warp group, four warps from a multiple of 4 on, executes %s, and this block has %u "
           "threads: launch it with a multiple of 128",
           step_names[kind], w->block->threads);
}

static void report_other(warp *w, const op *o, const op *other, step_kind kind)
{
    uint32_t line = 0;
    module_file(w->block->launch->function->module, other->line, &line);
    report(w, o, FINDING_DIVERGENT_BARRIER, 0, 0,
           "warp %u executes this %s while another of its warp group executes the one at line "
           "%u: all four warps must execute each together",
           w->index, step_names[kind], line);
}

/* The warp that is ahead says which comes next. */
void check_group(warp *w, const op *o, step_kind kind)
{
    tensor *t = tensor_of(w->block);
    warp_group *g = &t->group[kind][w->index / GROUP_WARPS];
    uint32_t step = t->steps[kind][w->index]++;
    if (w->index / GROUP_WARPS * GROUP_WARPS + GROUP_WARPS > w->block->warp_count)
        report_few(w, o, kind);
    if (step == g->steps) {
        g->step[step % STEPS] = o;
        g->steps++;
    } else if (g->steps - step <= STEPS && g->step[step % STEPS] != o) {
        report_other(w, o, g->step[step % STEPS], kind);
    }
}

/* ---- the product ----------------------------------------------------------------------------- */

static uint64_t descriptor_in(const warp *w, operand r, uint32_t lane)
{
    return ((const uint64_t *)row(w, r))[lane];
}

static void negate(double *x, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) x[i] = -x[i];
}

static void read_factors(warp *w, const op *o, double *a, double *b)
{
    const wgmma *x = o->extra;
    uint32_t lane = (uint32_t)__builtin_ctz(active(w, o)), depth = x->b_order.depth;
    reading_begin(w, o, 0, w->block->tensor->wgmma_groups[w->index], false);
    if (x->a_held)
        fragment_read(w, x->row, &x->a, a, depth, 1);
    else
        operand_read(w, o, descriptor_in(w, o->a, lane), &x->a_order, w->index % GROUP_WARPS * ROWS,
                     ROWS, a, depth, 1);
    operand_read(w, o, descriptor_in(w, o->b, lane), &x->b_order, 0, x->columns, b, 1, x->columns);
    if (x->negate_a != x->negate_b) negate(a, ROWS * depth);
}

const op *run_wgmma(warp *w, const op *o)
{
    const wgmma *x = o->extra;
    double a[ROWS * MAX_DEPTH], b[MAX_DEPTH * MAX_COLUMNS], sum[ROWS * MAX_COLUMNS];
    if (active(w, o) == 0) return o + 1;
    if (!whole_warp(w, o)) return NULL;
    uint32_t mask = active(w, o);
    bool adds = *(const uint32_t *)row(w, o->c) >> __builtin_ctz(mask) & 1;
    check_group(w, o, STEP_WGMMA);
    read_factors(w, o, a, b);
    if (adds)
        fragment_read(w, x->row, &x->d, sum, x->columns, 1);
    else
        memset(sum, 0, ROWS * x->columns * sizeof *sum);
    matrix_multiply(a, b, sum, ROWS, x->columns, x->b_order.depth);
    fragment_write(w, x->row, &x->d, x->saturate, mask, sum);
    return o + 1;
}

/* ---- fence, groups --------------------------------------------------------------------------- */

const op *run_wgmma_fence(warp *w, const op *o)
{
    if (active(w, o) == 0) return o + 1;
    if (!whole_warp(w, o)) return NULL;
    tensor_of(w->block)->fences[w->index]++;
    w->block->tensor->written[w->index] = 0;
    return o + 1;
}

const op *run_wgmma_commit(warp *w, const op *o)
{
    if (active(w, o) == 0) return o + 1;
    if (!whole_warp(w, o)) return NULL;
    tensor_of(w->block)->wgmma_groups[w->index]++;
    return o + 1;
}

/* Another warp of the group has not executed all that this one waits for. */
static bool is_ahead(const warp *w, uint32_t groups)
{
    const block *b = w->block;
    const tensor *t = b->tensor;
    uint32_t first = w->index / GROUP_WARPS * GROUP_WARPS;
    const uint32_t *done = t->steps[STEP_WGMMA];
    uint32_t steps = done[w->index] - readings_open(w, groups);
    for (uint32_t k = first; k < first + GROUP_WARPS && k < b->warp_count; k++)
        if (b->warps[k].alive && done[k] < steps) return true;
    return false;
}

const op *give_way(warp *w, const op *o)
{
    lane_group *g = group_now(w);
    g->pc = o;
    g->mask = w->mask;
    w->slice = 0;
    w->yields = true;
    return NULL;
}

/* All groups but the latest o->offset ones. They are done when all four warps have begun them; if
 * one never does, tensor_end tells. */
const op *run_wgmma_wait(warp *w, const op *o)
{
    if (active(w, o) == 0) return o + 1;
    if (!whole_warp(w, o)) return NULL;
    tensor *t = tensor_of(w->block);
    uint32_t committed = t->wgmma_groups[w->index], but = (uint32_t)o->offset;
    uint32_t groups = committed > but ? committed - but : 0;
    if (is_ahead(w, groups) && t->yields[w->index]++ < MOST_YIELDS) return give_way(w, o);
    t->yields[w->index] = 0;
    readings_end(w, false, 1, &committed, but);
    readings_end_group(w, groups);
    return o + 1;
}

/*
 * block.c: one block at a time on one host thread: its memory, its warps, their turns.
 *
 * Interface
 *   block_open, block_close, block_prepare, block_run, block_start, block_turn
 *
 * A block's memory is kept from launch to launch and only ever grows.
 */
#include <stdlib.h>

#include "device/base/arena.h"
#include "device/base/pages.h"
#include "device/counts/count.h"
#include "device/ops/ops.h"
#include "device/tensor/bulk.h"
#include "device/trace/trace.h"
#include "run.h"

enum { BLOCK_ROWS = 32, WARP_ROWS = 10, ROW_BYTES = LANES * 4 };
enum { LONG_WAIT = 4 }; /* turns, after which a block may be waiting for another */

/* ---- memory ---------------------------------------------------------------------------------- */

block *block_open(device *d)
{
    block *b = take(1, sizeof *b);
    b->device = d;
    b->rows = pages_reserve((BLOCK_ROWS + MAX_WARPS * WARP_ROWS) * ROW_BYTES);
    if (!b->rows) abort();
    b->warp_rows = b->rows + BLOCK_ROWS * ROW_BYTES;
    for (uint32_t k = 0; k < MAX_WARPS; k++) {
        b->warps[k].block = b;
        b->warps[k].index = k;
    }
    return b;
}

void block_close(block *b)
{
    if (!b) return;
    for (uint32_t k = 0; k < MAX_WARPS; k++) {
        free(b->warps[k].groups);
        free(b->warps[k].flights.list);
    }
    pages_release(b->rows, (BLOCK_ROWS + MAX_WARPS * WARP_ROWS) * ROW_BYTES);
    pages_release(b->frames, b->frame_capacity);
    pages_release(b->locals, b->local_capacity);
    pages_release(b->written, b->written_capacity);
    shadow_close(b);
    tensor_close(b);
    visits_close(b);
    free(b->mbarriers);
    block_close(b->spare);
    free(b->counters);
    global_shadow_end(b->tracker);
    free(b);
}

/* ---- what stays the same in all blocks of a launch ------------------------------------------- */

static void fill_row(uint8_t *rows, uint32_t row, uint32_t value)
{
    uint32_t *r = (uint32_t *)(rows + row * ROW_BYTES);
    for (int i = 0; i < LANES; i++) r[i] = value;
}

/* In the order of decode.c's table of special registers. */
static void fill_block_rows(block *b)
{
    const device_launch_request *r = b->launch->request;
    for (uint32_t i = 0; i < 3; i++) {
        fill_row(b->rows, 3 + i, r->block[i]);
        fill_row(b->rows, 6 + i, r->grid[i]);
    }
    fill_row(b->rows, 9, b->warp_count);
    fill_row(b->rows, 10, 0);
    fill_row(b->rows, 11, 1);
    fill_row(b->rows, 12, r->dynamic_shared_bytes);
    fill_row(b->rows, 13, r->dynamic_shared_bytes + b->launch->function->facts.static_shared_bytes);
    uint64_t meeting = b->launch->grid ? GRID_WINDOW : 0;
    fill_row(b->rows, 14, (uint32_t)(meeting >> 32));
    fill_row(b->rows, 15, (uint32_t)meeting);
    fill_row(b->rows, 30, r->cluster[0] ? ~0u : 0);
}

/* Without clusters each block is one. */
static void fill_cluster_rows(block *b)
{
    const uint32_t *grid = b->launch->request->grid, *given = b->launch->request->cluster;
    uint32_t rank = 0, count = 1;
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t size = given[0] ? given[i] : 1, at = b->index[i] % size;
        fill_row(b->rows, 16 + i, at);
        fill_row(b->rows, 19 + i, size);
        fill_row(b->rows, 22 + i, b->index[i] / size);
        fill_row(b->rows, 25 + i, grid[i] / size);
        rank += at * count;
        count *= size;
    }
    fill_row(b->rows, 28, rank);
    fill_row(b->rows, 29, count);
}

static void fill_warp_rows(const block *b, uint32_t k)
{
    const uint32_t *size = b->launch->request->block;
    uint32_t(*r)[LANES] = (uint32_t(*)[LANES])(b->warp_rows + k * WARP_ROWS * ROW_BYTES);
    for (uint32_t i = 0; i < LANES; i++) {
        uint32_t thread = k * LANES + i, bit = 1u << i;
        r[0][i] = thread % size[0];
        r[1][i] = thread / size[0] % size[1];
        r[2][i] = thread / size[0] / size[1];
        r[3][i] = i;
        r[4][i] = k;
        r[5][i] = bit;
        r[6][i] = bit | (bit - 1);
        r[7][i] = bit - 1;
        r[8][i] = ~(bit - 1);
        r[9][i] = ~(bit | (bit - 1));
    }
}

static void give_memory(block *b)
{
    const function *f = b->launch->function;
    bool calls = f->calls;
    b->frame_bytes = (f->register_bytes + (calls ? CALL_ROWS : 0) + 4095) & ~(size_t)4095;
    b->frame_bytes += 5 * ROW_ALIGNMENT; /* so that warps do not fight for the same cache sets */
    pages_grow(&b->frames, &b->frame_capacity, b->warp_count * b->frame_bytes);
    b->local_stride = f->local_bytes + (calls ? CALL_STACK : 0) + ROW_ALIGNMENT;
    pages_grow(&b->locals, &b->local_capacity, (size_t)b->warp_count * LANES * b->local_stride);
}

void block_prepare(block *b, launch *l)
{
    const uint32_t *size = l->request->block;
    b->launch = l;
    b->threads = size[0] * size[1] * size[2];
    b->warp_count = (b->threads + LANES - 1) / LANES;
    give_memory(b);
    fill_block_rows(b);
    for (uint32_t k = 0; k < b->warp_count; k++) {
        warp *w = &b->warps[k];
        fill_warp_rows(b, k);
        w->bank[BANK_CONSTANTS] = l->function->module->constants;
        w->bank[BANK_BLOCK] = b->rows;
        w->bank[BANK_WARP] = b->warp_rows + k * WARP_ROWS * ROW_BYTES;
        w->frames = b->frames + k * b->frame_bytes;
        w->frames_end = w->frames + b->frame_bytes;
        w->local = b->locals + (size_t)k * LANES * b->local_stride;
    }
    local_prepare(b);
    shadow_prepare(b);
}

/* ---- one block ------------------------------------------------------------------------------- */

void block_start(block *b, uint64_t number)
{
    const uint32_t *grid = b->launch->request->grid;
    b->index[0] = (uint32_t)(number % grid[0]);
    b->index[1] = (uint32_t)(number / grid[0] % grid[1]);
    b->index[2] = (uint32_t)(number / grid[0] / grid[1]);
    for (uint32_t i = 0; i < 3; i++) fill_row(b->rows, i, b->index[i]);
    if (b->cluster) fill_cluster_rows(b);
    b->live = b->threads;
    trace_start(b, number);
    memset(b->arrived, 0, sizeof b->arrived);
    b->polls = 0;
    b->listens = false;
    b->pushed = 0;
    b->atomics = 0;
    flights_start(b);
    tensor_start(b);
    visits_start(b);
    b->mbarrier_count = 0;
    for (uint32_t k = 0; k < b->warp_count; k++) {
        uint32_t rest = b->threads - k * LANES;
        b->warps[k].executed = 0;
        warp_start(&b->warps[k], b->launch->function, rest >= LANES ? ~0u : (1u << rest) - 1);
        local_start(&b->warps[k]);
        b->warps[k].budget = b->launch->budget;
    }
    shuffle_warps(b, number);
    shadow_start(b);
    if (b->launch->watched) global_shadow_start(b, (uint32_t)number);
}

bool block_turn(block *b)
{
    bool more = false;
    for (uint32_t k = 0; k < b->warp_count; k++) {
        more |= warp_run(&b->warps[b->order[k]], !more);
        if (b->launch->may_wait) together_between(b->launch);
    }
    b->spent = more;
    if (b->launch->stop) return more;
    if (more && b->polls) barrier_release(b); /* who polls may wait for those who wait there */
    if (more) return true;
    if (b->live && barrier_release(b)) return true;
    if (b->live && !b->cluster) barrier_deadlock(b);
    if (!b->live) departures_end_all(b);
    return false;
}

/* A block that waits may wait for one of a lower number: run those that have not begun. It takes
 * turns with them, for it may hold a lock that they want. The lowest finds none below it, so there
 * is only one such spare. @return whether the block that waited goes on */
static bool run_lower(block *b, uint64_t number)
{
    launch *l = b->launch;
    uint64_t lower;
    if (l->stop || !shuffle_lower(l, number, &lower)) return true;
    if (!b->spare) b->spare = block_open(b->device);
    block_prepare(b->spare, l);
    if (l->counted) counters_prepare(b->spare);
    b->spare->beside = b;
    do block_run(b->spare, lower);
    while (!l->stop && shuffle_lower(l, number, &lower));
    if (l->counted) counters_fold(b->spare);
    const bool more = b->spare->beside;
    b->spare->beside = NULL;
    return more;
}

void block_run(block *b, uint64_t number)
{
    bool more = true;
    block_start(b, number);
    still_start(b);
    while (more && !b->launch->stop && block_turn(b)) {
        if (b->beside && !block_turn(b->beside)) b->beside = NULL;
        still_turn(b);
        if (b->turns == LONG_WAIT) more = run_lower(b, number);
    }
    still_end(b);
    if (!b->launch->stop) tensor_end(b);
}

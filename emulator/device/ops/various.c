/*
 * various.c: operations that fit no table: packing, clocks, addresses, parameters of calls, traps.
 *
 * Interface
 *   run_pack, run_unpack, run_clock, run_local_address, run_is_space, run_param_load,
 *   run_param_store, run_trap, run_unsupported
 */
#include <time.h>

#include "device/base/cluster.h"
#include "ops.h"

/* mov.b64 d, {a, b, c, e}: o->size bytes each */
const op *run_pack(warp *w, const op *o)
{
    const uint8_t *part[4];
    uint8_t *d = row(w, o->d);
    for (uint32_t k = 0; k < o->count; k++) part[k] = row(w, (&o->a)[k]);
    for (uint32_t m = active(w, o); m; m &= m - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(m);
        uint8_t whole[8];
        for (uint32_t k = 0; k < o->count; k++)
            memcpy(whole + k * o->size, part[k] + i * o->size, o->size);
        memcpy(d + i * o->size * o->count, whole, (size_t)o->size * o->count);
    }
    return o + 1;
}

const op *run_unpack(warp *w, const op *o)
{
    const uint8_t *a = row(w, o->a);
    uint8_t *part[4];
    for (uint32_t k = 0; k < o->count; k++) part[k] = row(w, (&o->d)[k]);
    for (uint32_t m = active(w, o); m; m &= m - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(m);
        const uint8_t *whole = a + i * o->size * o->count;
        for (uint32_t k = 0; k < o->count; k++)
            memcpy(part[k] + i * o->size, whole + k * o->size, o->size);
    }
    return o + 1;
}

static void broadcast(warp *w, const op *o, uint64_t value)
{
    uint8_t *d = row(w, o->d);
    for (uint32_t m = active(w, o); m; m &= m - 1) {
        memcpy(d + (uint32_t)__builtin_ctz(m) * o->size, &value, o->size);
    }
}

/* variant: bit 0 the high half, bit 1 nanoseconds; otherwise operations executed by the warp. */
const op *run_clock(warp *w, const op *o)
{
    uint64_t now;
    if (o->variant & 2) {
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        now = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
    } else {
        now = (uint64_t)(w->block->launch->budget - w->budget);
        w->budget--; /* a loop that waits for time to pass sees it pass */
    }
    broadcast(w, o, o->variant & 1 ? now >> 32 : now);
    return o + 1;
}

const op *run_local_address(warp *w, const op *o)
{
    broadcast(w, o, w->groups[w->current].local + (uint64_t)o->offset);
    return o + 1;
}

static bool is_in(uint64_t address, space s)
{
    uint64_t base = s == SPACE_SHARED  ? SHARED_WINDOW
                    : s == SPACE_LOCAL ? LOCAL_WINDOW
                    : s == SPACE_PARAM ? PARAM_WINDOW
                                       : DEVICE_BASE;
    return address - base < (base == DEVICE_BASE ? DEVICE_BYTES : WINDOW_BYTES) && s != SPACE_CONST;
}

/* Shared memory of other blocks is that of the cluster only, which op.variant asks about. */
static bool is_asked(const warp *w, const op *o, uint64_t address)
{
    if (o->space != SPACE_SHARED || o->variant) return true;
    return peer_of(w->block, address - SHARED_WINDOW) == w->block;
}

const op *run_is_space(warp *w, const op *o)
{
    const uint64_t *a = row(w, o->a);
    uint32_t mask = active(w, o), yes = 0, *d = row(w, o->d);
    for (uint32_t i = 0; i < LANES; i++)
        yes |= (uint32_t)(is_in(a[i], o->space) && is_asked(w, o, a[i])) << i;
    *d = (*d & ~mask) | (yes & mask);
    return o + 1;
}

/* A parameter of a call is a row for each of its words; o->offset: bytes into the first one. */
static uint8_t *param_byte(const warp *w, const op *o, uint32_t lane, uint32_t byte)
{
    uint32_t at = (uint32_t)o->offset + byte;
    return (uint8_t *)row(w, o->a) + at / 4 * LANES * 4 + lane * 4 + at % 4;
}

const op *run_param_load(warp *w, const op *o)
{
    uint32_t width = o->size == 1 ? 2 : o->size;
    uint8_t *d = row(w, o->d);
    for (uint32_t m = active(w, o); m; m &= m - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(m);
        uint64_t value = 0;
        for (uint32_t k = 0; k < o->size; k++)
            memcpy((uint8_t *)&value + k, param_byte(w, o, i, k), 1);
        if (o->size == 1 && o->variant) value = (uint64_t)(int64_t)(int8_t)value;
        memcpy(d + i * width, &value, width);
    }
    return o + 1;
}

const op *run_param_store(warp *w, const op *o)
{
    uint32_t width = o->size == 1 ? 2 : o->size;
    const uint8_t *b = row(w, o->b);
    for (uint32_t m = active(w, o); m; m &= m - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(m);
        for (uint32_t k = 0; k < o->size; k++) memcpy(param_byte(w, o, i, k), b + i * width + k, 1);
    }
    return o + 1;
}

const op *run_trap(warp *w, const op *o)
{
    uint32_t mask = active(w, o);
    if (mask == 0) return o + 1;
    bool lonely = w->groups[w->current].function->asks_grid && !w->block->launch->grid;
    report(w, o, FINDING_TRAP, (uint32_t)__builtin_ctz(mask), 0,
           lonely ? "traps: to synchronise the grid, a kernel must be launched with "
                    "cudaLaunchCooperativeKernel"
                  : "executes trap");
    return group_halt(w, o, DEVICE_TRAP);
}

/* A launch of a kernel that has this operation is refused; never reached. */
const op *run_unsupported(warp *w, const op *o)
{
    return run_trap(w, o);
}

/* 408_memory_pool: scripts of calls that the worker carries out (worker.c), held against a shadow
 * model: no two blocks overlap, sizes and errors are right after each call, the limit holds and is
 * enough; fills by streams, of which softgpu knows which race; what it takes from the device in a
 * training step; time against cudaMalloc and cudaFree. */
#include "correctness/case.h"

#include "pool_script.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SUCCESS, INVALID_VALUE, OUT_OF_MEMORY }; /* cudaError_t */
enum { POOL, OTHER, BLOCK };                    /* handles */

#define DRIVE     "pool_drive" /* of worker.c: calls the pool as a script says */
#define ALIGNMENT 256
#define UNLIMITED SIZE_MAX
#define HUGE      (1ull << 52)

/* ---- scripts --------------------------------------------------------------------------------- */

typedef struct script {
    pool_step *steps;  /* [room] */
    pool_outcome *log; /* [room] */
    int count, room;
    size_t limit;
} script;

static script new_script(int room, size_t limit)
{
    script s = {.room = room, .limit = limit};
    s.steps = array_of(ELEMENT_BYTE, (size_t)room * sizeof *s.steps);
    s.log = array_of(ELEMENT_BYTE, (size_t)room * sizeof *s.log);
    return s;
}

static void add(script *s, pool_step step)
{
    if (s->count == s->room) abort(); /* the case's own mistake */
    s->steps[s->count++] = step;
}

static void alloc(script *s, int slot, unsigned long long bytes, int stream)
{
    add(s, (pool_step){.verb = POOL_ALLOC, .slot = slot, .stream = stream, .bytes = bytes});
}

static void release(script *s, int slot, int stream)
{
    add(s, (pool_step){.verb = POOL_FREE, .slot = slot, .stream = stream});
}

/* Of an address inside of the block, or of what is free. */
static void release_wrongly(script *s, int slot, unsigned long long offset)
{
    add(s, (pool_step){.verb = POOL_FREE, .slot = slot, .bytes = offset});
}

static void fill(script *s, int slot, unsigned long long bytes, int stream, int value)
{
    add(s, (pool_step){POOL_FILL, slot, stream, value, bytes});
}

static void expect_filled(script *s, int slot, unsigned long long bytes, int stream, int value)
{
    add(s, (pool_step){POOL_EXPECT, slot, stream, value, bytes});
}

/* ---- the shadow model ------------------------------------------------------------------------ */

typedef struct shadow_block {
    unsigned long long address, bytes;
    bool is_out;
} shadow_block;

typedef struct shadow {
    shadow_block blocks[POOL_SLOTS];
    unsigned long long in_use, rounded, peak, allocations, hits, reserved;
} shadow;

/* What a block may take of the limit. */
static unsigned long long rounded(unsigned long long bytes)
{
    return bytes + ALIGNMENT - 1 + (bytes + ALIGNMENT - 1) / 4;
}

static shadow_block *block_at(shadow *m, unsigned long long address)
{
    for (int i = 0; i < POOL_SLOTS; i++)
        if (m->blocks[i].is_out && m->blocks[i].address == address) return &m->blocks[i];
    return NULL;
}

static void expect_apart(const shadow *m, int step, unsigned long long from,
                         unsigned long long bytes)
{
    for (int i = 0; i < POOL_SLOTS; i++) {
        const shadow_block *b = &m->blocks[i];
        if (!b->is_out) continue;
        expect(from >= b->address + b->bytes || b->address >= from + bytes,
               "step %d: a block of %llu bytes overlaps one of %llu bytes that is in use", step,
               bytes, b->bytes);
    }
}

static void check_alloc(shadow *m, const script *s, int i)
{
    const pool_step *step = &s->steps[i];
    const pool_outcome *o = &s->log[i];
    if (o->refused && o->error != SUCCESS) {
        expect(o->address == 0, "step %d: pool_alloc failed, but *ptr is not NULL", i);
        expect(o->error != OUT_OF_MEMORY || m->in_use > 0 || o->reserved == 0,
               "step %d: the device is full, but the pool still has %llu free bytes: they must go "
               "back to the device first",
               i, o->reserved);
        return;
    }
    expect(!o->refused || o->hits == m->hits,
           "step %d: a call of the runtime failed, and pool_alloc handed out a free block all the "
           "same",
           i);
    if (o->error == OUT_OF_MEMORY && step->bytes > 0) {
        expect(step->bytes >= HUGE || s->limit == 0 || m->rounded + rounded(step->bytes) > s->limit,
               "step %d: no %llu bytes, though %llu are in use and the limit is %zu: free blocks "
               "of other sizes must go back to the device",
               i, step->bytes, m->in_use, s->limit);
        expect(o->address == 0, "step %d: pool_alloc failed, but *ptr is not NULL", i);
        return;
    }
    expect(o->error == SUCCESS, "step %d: pool_alloc of %llu bytes returned %d", i, step->bytes,
           o->error);
    expect(step->bytes < HUGE && step->bytes <= s->limit - m->in_use,
           "step %d: %llu bytes beyond the limit of %zu, of which %llu are in use, should be "
           "cudaErrorMemoryAllocation",
           i, step->bytes, s->limit, m->in_use);
    if (step->bytes == 0) {
        expect(o->address == 0, "step %d: *ptr of 0 bytes should be NULL", i);
        return;
    }
    expect(o->address != 0 && o->address % ALIGNMENT == 0,
           "step %d: a block at 0x%llx should be at a multiple of 256", i, o->address);
    expect_apart(m, i, o->address, step->bytes);
    m->blocks[step->slot] = (shadow_block){o->address, step->bytes, true};
    m->in_use += step->bytes;
    m->rounded += rounded(step->bytes);
    m->peak = m->in_use > m->peak ? m->in_use : m->peak;
    m->allocations++;
}

static void check_free(shadow *m, const pool_step *step, const pool_outcome *o, int i)
{
    shadow_block *b = block_at(m, o->address + step->bytes);
    if (o->address == 0) {
        expect(o->error == SUCCESS, "step %d: pool_free of NULL returned %d", i, o->error);
        return;
    }
    if (!b) {
        expect(o->error == INVALID_VALUE,
               "step %d: pool_free of %s returned %d, should be "
               "cudaErrorInvalidValue",
               i, step->bytes ? "what is no block" : "a block that is free already", o->error);
        return;
    }
    if (o->refused) {
        expect(o->error != SUCCESS,
               "step %d: a call of the runtime failed, and pool_free returned cudaSuccess", i);
        expect(o->in_use == m->in_use,
               "step %d: a call of the runtime failed, and pool_free returned that error, but the "
               "block is free all the same",
               i);
        return;
    }
    expect(o->error == SUCCESS, "step %d: pool_free of a block that is in use returned %d", i,
           o->error);
    m->in_use -= b->bytes;
    m->rounded -= rounded(b->bytes);
    b->is_out = false;
}

static void check_step(shadow *m, const script *s, int i)
{
    const pool_step *step = &s->steps[i];
    const pool_outcome *o = &s->log[i];
    switch (step->verb) {
    case POOL_ALLOC: check_alloc(m, s, i); break;
    case POOL_FREE: check_free(m, step, o, i); break;
    case POOL_RESET:
        for (int b = 0; b < POOL_SLOTS; b++) m->blocks[b].is_out = false;
        m->in_use = m->rounded = 0; /* fall through */
    default:
        expect(o->error == SUCCESS, "step %d: the device reports error %d", i, o->error);
        break;
    }
    if (step->verb == POOL_EXPECT) {
        expect(o->left_over == 0,
               "step %d: %d of %llu bytes are not what the stream wrote: another "
               "stream still wrote to the block",
               i, o->left_over, step->bytes);
    } else if (!o->refused) {
        expect(o->left_over == SUCCESS, "step %d: cudaGetLastError still reports error %d", i,
               o->left_over);
    }
}

static void check_statistics(shadow *m, const script *s, int i)
{
    const pool_outcome *o = &s->log[i];
    expect(o->in_use == m->in_use, "step %d: in_use is %llu, should be %llu", i, o->in_use,
           m->in_use);
    expect(o->peak == m->peak, "step %d: peak is %llu, should be %llu", i, o->peak, m->peak);
    expect(o->allocations == m->allocations, "step %d: allocations is %llu, should be %llu", i,
           o->allocations, m->allocations);
    expect(o->hits >= m->hits && o->hits <= o->allocations,
           "step %d: hits is %llu, of %llu allocations, after %llu", i, o->hits, o->allocations,
           m->hits);
    expect(o->reserved <= s->limit, "step %d: reserved is %llu, beyond the limit of %zu", i,
           o->reserved, s->limit);
    expect(o->reserved >= m->in_use, "step %d: reserved is %llu, less than the %llu in use", i,
           o->reserved, m->in_use);
    expect(
        o->hits == m->hits || o->reserved == m->reserved,
        "step %d: a hit, but the pool took memory from the device or gave some back: reserved was "
        "%llu and is %llu",
        i, m->reserved, o->reserved);
    m->hits = o->hits;
    m->reserved = o->reserved;
}

static void check(const script *s)
{
    shadow m = {0};
    for (int i = 0; i < s->count; i++) {
        check_step(&m, s, i);
        check_statistics(&m, s, i);
    }
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void create(int number, size_t limit)
{
    call_aside("pool_create", ARGS(handle_out(number), u64(limit)));
}

static void destroy(int number)
{
    call_aside("pool_destroy", ARGS(handle(number)));
}

/* The baseline has no pool. */
static void drive(const char *function, int number, script *s)
{
    const argument pool = strcmp(function, DRIVE) == 0 ? handle(number) : null_pointer();
    const size_t steps = (size_t)s->count * sizeof *s->steps / sizeof(double);
    const size_t outcomes = (size_t)s->count * sizeof *s->log / sizeof(double);
    call_cuda(function, ARGS(pool, host(in_of(ELEMENT_F64, "script", s->steps, steps)),
                             host(out_of(ELEMENT_F64, "log", s->log, outcomes)), i32(s->count)));
}

/* What the pool says that it has is what the device gave. */
static void expect_reserved(const script *s)
{
    const device_counts *c = call_counts();
    if (!c) return;
    const unsigned long long held = c->allocated.bytes - c->freed.bytes;
    expect(s->log[s->count - 1].reserved == held,
           "reserved is %llu, but the device gave %llu bytes more than it got back",
           s->log[s->count - 1].reserved, held);
}

static void run_script(script *s)
{
    create(POOL, s->limit);
    drive(DRIVE, POOL, s);
    check(s);
    expect_reserved(s);
    destroy(POOL);
}

/* ---- cases ----------------------------------------------------------------------------------- */

static void run_first(const long *shape)
{
    script s = new_script(20, UNLIMITED);
    alloc(&s, 0, 1000, 0);
    alloc(&s, 1, 1000, 0);
    fill(&s, 0, 1000, 0, 7);
    fill(&s, 1, 1000, 0, 8);
    expect_filled(&s, 0, 1000, 0, 7);
    release(&s, 0, 0);
    alloc(&s, 2, (unsigned long long)shape[0], 0);
    expect_filled(&s, 1, 1000, 0, 8);
    release(&s, 1, 0);
    release(&s, 2, 0);
    run_script(&s);
    expect(s.log[6].hits == 1, "a block of 1000 bytes was free, and the next %ld bytes are no hit",
           shape[0]);
}

/* Every size from 1 to shape[0], all out at a time, with room for what they may be rounded to;
 * written to their ends. */
static void run_sizes(const long *shape)
{
    script s = new_script(3 * POOL_SLOTS, 0);
    for (int i = 0; i < POOL_SLOTS; i++) {
        const unsigned long long bytes = (unsigned long long)(1 + i * shape[0] / POOL_SLOTS);
        alloc(&s, i, bytes, i % POOL_STREAMS);
        fill(&s, i, bytes, i % POOL_STREAMS, i % 100);
        s.limit += rounded(bytes);
    }
    for (int i = 0; i < POOL_SLOTS; i += 5)
        expect_filled(&s, i, (unsigned long long)(1 + i * shape[0] / POOL_SLOTS), i % POOL_STREAMS,
                      i % 100);
    run_script(&s);
}

static void run_wrong_frees(const long *shape)
{
    (void)shape;
    script s = new_script(20, UNLIMITED);
    alloc(&s, 0, 5000, 0);
    release_wrongly(&s, 0, 256);
    release_wrongly(&s, 0, 1);
    release_wrongly(&s, 0, 1u << 30);
    release(&s, 1, 0); /* NULL */
    release(&s, 0, 0);
    release_wrongly(&s, 0, 0);
    release_wrongly(&s, 0, 256);
    alloc(&s, 0, 5000, 0);
    alloc(&s, 1, 5000, 0);
    release(&s, 0, 0);
    release(&s, 1, 0);
    run_script(&s);
}

/* A second one, and one that the device does not have: both fail, and nothing else does. */
static void run_out_of_memory(const long *shape)
{
    const unsigned long long most = (unsigned long long)shape[0];
    script s = new_script(40, rounded(most));
    alloc(&s, 0, most, 0);
    alloc(&s, 1, most, 0);
    alloc(&s, 1, 1ull << 62, 0);
    alloc(&s, 1, ~0ull, 0);
    fill(&s, 0, most, 0, 5);
    release(&s, 0, 0);
    alloc(&s, 1, most / 2, 1); /* of another class: the free one must go */
    fill(&s, 1, most / 2, 1, 6);
    expect_filled(&s, 1, most / 2, 1, 6);
    alloc(&s, 2, most, 0);
    release(&s, 1, 1);
    alloc(&s, 2, most, 0);
    run_script(&s);
    script tight = new_script(1, most); /* one that is rounded up is beyond it */
    alloc(&tight, 0, most, 0);
    run_script(&tight);
    script unlimited = new_script(10, UNLIMITED), none = new_script(10, 0);
    alloc(&unlimited, 0, 4000, 0);
    alloc(&unlimited, 1, HUGE, 0);
    alloc(&unlimited, 1, ~0ull, 0);
    alloc(&unlimited, 1, 4000, 0);
    run_script(&unlimited);
    alloc(&none, 0, 0, 0);
    alloc(&none, 0, 1, 0);
    run_script(&none);
}

/* As many phases, each with sizes of its own: what the limit is enough for, it must do for. */
static void run_phases(const long *shape)
{
    enum { BLOCKS = 24 };
    const unsigned long long total = 3000000;
    script s = new_script((int)shape[0] * 3 * BLOCKS, 0);
    for (int phase = 0; phase < shape[0]; phase++) {
        unsigned long long left = total, needed = 0;
        int count = 0;
        const unsigned long long each = total / BLOCKS * (unsigned)(phase + 2) / 2;
        for (; count < BLOCKS && left > each; count++, left -= each) {
            alloc(&s, count, each + (unsigned)count, count % POOL_STREAMS);
            fill(&s, count, 64, count % POOL_STREAMS, phase);
            needed += rounded(each + (unsigned)count);
        }
        for (int i = 0; i < count; i++) release(&s, i, i % POOL_STREAMS);
        if (needed > s.limit) s.limit = needed;
    }
    run_script(&s);
}

/* What one stream has freed another gets while the first still writes. There is room for one. */
static void run_streams(const long *shape)
{
    const unsigned long long bytes = (unsigned long long)shape[0];
    script s = new_script(200, rounded(bytes));
    for (int round = 0; round < 4; round++) {
        const int a = round % POOL_STREAMS, b = (round + 1) % POOL_STREAMS;
        alloc(&s, 0, bytes, a);
        for (int i = 0; i < shape[1]; i++) fill(&s, 0, bytes, a, 11);
        release(&s, 0, a);
        alloc(&s, 1, bytes, b);
        fill(&s, 1, bytes, b, 22);
        expect_filled(&s, 1, bytes, b, 22);
        release(&s, 1, b);
    }
    run_script(&s);
}

/* Written by one stream, freed in another that was made to wait for it. */
static void run_freed_elsewhere(const long *shape)
{
    const unsigned long long bytes = (unsigned long long)shape[0];
    script s = new_script(200, rounded(bytes));
    for (int round = 0; round < 3; round++) {
        alloc(&s, 0, bytes, 0);
        for (int i = 0; i < shape[1]; i++) fill(&s, 0, bytes, 0, 11);
        add(&s, (pool_step){.verb = POOL_DEPENDS, .stream = 1, .value = 0});
        release(&s, 0, 1);
        alloc(&s, 0, bytes, round == 1 ? 0 : 2);
        fill(&s, 0, bytes, round == 1 ? 0 : 2, 22);
        expect_filled(&s, 0, bytes, round == 1 ? 0 : 2, 22);
        release(&s, 0, round == 1 ? 0 : 2);
    }
    run_script(&s);
}

/* The stream that freed it is gone; the new one may have its address. */
static void run_stream_gone(const long *shape)
{
    const unsigned long long bytes = (unsigned long long)shape[0];
    script s = new_script(100, rounded(bytes));
    for (int round = 0; round < 3; round++) {
        alloc(&s, 0, bytes, 0);
        for (int i = 0; i < shape[1]; i++) fill(&s, 0, bytes, 0, 11);
        release(&s, 0, 0);
        add(&s, (pool_step){.verb = POOL_RECREATE, .stream = 0});
        alloc(&s, 0, bytes, 0);
        fill(&s, 0, bytes, 0, 22);
        expect_filled(&s, 0, bytes, 0, 22);
        release(&s, 0, 0);
    }
    run_script(&s);
}

/* What was out is handed out anew, to other streams. */
static void run_reset(const long *shape)
{
    script s = new_script(20 * (int)shape[0] + 10, UNLIMITED);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < shape[0]; i++) {
            alloc(&s, i, (unsigned)(i + 1) * 300, (i + round) % POOL_STREAMS);
            fill(&s, i, (unsigned)(i + 1) * 300, (i + round) % POOL_STREAMS, round);
        }
        release(&s, 0, round % POOL_STREAMS);
        add(&s, (pool_step){.verb = POOL_RESET});
        release_wrongly(&s, 1, 0);
    }
    run_script(&s);
    const pool_outcome *last = &s.log[s.count - 1];
    expect(3 * last->hits >= 2 * last->allocations - 3,
           "after pool_reset blocks are free, but of %llu only %llu were hits", last->allocations,
           last->hits);
}

/* Of the runtime's calls in pool_alloc one after the other fails, where a free block of another
 * class has to go first: what comes later must find no trace of it. */
static void run_refused_within_a_limit(const long *shape)
{
    script s = new_script(10 * (int)shape[0], rounded(100000));
    for (int k = 1; k <= 2 * shape[0]; k++) {
        alloc(&s, 0, 100000, 0);
        release(&s, 0, 0);
        alloc(&s, 0, 50000, 1);
        s.steps[s.count - 1].value = k;
        release(&s, 0, 1); /* NULL after an error */
    }
    run_script(&s);
}

/* Of the runtime's calls in pool_alloc one after the other fails, then the one in pool_free. */
static void run_refused(const long *shape)
{
    run_refused_within_a_limit(shape);
    script s = new_script(6 * (int)shape[0] + 10, UNLIMITED);
    alloc(&s, 0, 600, 0); /* free where the device seems to be full */
    release(&s, 0, 0);
    for (int k = 1; k <= shape[0]; k++) {
        alloc(&s, 0, 1000ull << k, 0);
        s.steps[s.count - 1].value = k;
        release(&s, 0, 0);
    }
    for (int k = 1; k <= shape[0]; k++) {
        alloc(&s, 1, 300, 0);
        release(&s, 1, 0);
        s.steps[s.count - 1].value = k;
        release(&s, 1, 0); /* out after an error, and free else */
        alloc(&s, 1, 300, 1);
        s.steps[s.count - 1].value = k;
    }
    run_script(&s);
}

/* Called by the grader, which sees what they wait for; a block is of the pool that gave it. */
static void run_single_calls(const long *shape)
{
    for (int round = 0; round < 2; round++) {
        call_cuda("pool_alloc", ARGS(handle(POOL), handle_out(BLOCK),
                                     u64((unsigned long long)shape[0]), stream()));
        call_refused(INVALID_VALUE, "pool_free", ARGS(handle(OTHER), handle(BLOCK), stream()));
        call_cuda("pool_free", ARGS(handle(POOL), handle(BLOCK), stream()));
    }
}

/* Two pools know nothing of each other: what one has free, or out, the other does not. */
static void run_two_pools(const long *shape)
{
    script s = new_script(10, UNLIMITED), other = new_script(10, rounded((unsigned long)shape[0]));
    alloc(&s, 0, (unsigned long long)shape[0], 0);
    alloc(&s, 1, (unsigned long long)shape[0], 0);
    release(&s, 0, 0);
    alloc(&other, 0, (unsigned long long)shape[0], 0);
    release(&other, 0, 0);
    create(POOL, s.limit);
    create(OTHER, other.limit);
    drive(DRIVE, POOL, &s);
    check(&s);
    drive(DRIVE, OTHER, &other);
    check(&other);
    expect(other.log[0].hits == 0, "the first block of a pool is a hit: another pool had it");
    run_single_calls(shape);
    destroy(POOL);
    destroy(OTHER);
    call_cuda("pool_destroy", ARGS(null_pointer()));
}

/* More blocks than a table of some size has room for. */
static void run_many_blocks(const long *shape)
{
    script s = new_script(3 * (int)shape[0], UNLIMITED);
    for (int i = 0; i < shape[0]; i++) alloc(&s, i % POOL_SLOTS, 1 + (unsigned)i, 0);
    run_script(&s);
}

/* A perceptron of so many layers: activations, which the backward pass frees one by one, and for
 * each layer a gradient, a temporary and a workspace. */
enum { LAYERS = 12 };
#define ACTIVATION (3ull * 64 * 1024)
#define WORKSPACE  100000ull
#define PEAK       ((LAYERS + 2) * ACTIVATION + WORKSPACE) /* both backward temporaries, too */

static void training_step(script *s)
{
    enum { GRADIENT = LAYERS, OTHER, WORK };
    for (int l = 0; l < LAYERS; l++) {
        alloc(s, l, ACTIVATION, 0);
        alloc(s, WORK, WORKSPACE, 0);
        release(s, WORK, 0);
    }
    alloc(s, GRADIENT, ACTIVATION, 0);
    for (int l = LAYERS - 1; l >= 0; l--) {
        alloc(s, OTHER, ACTIVATION, 0);
        alloc(s, WORK, WORKSPACE, 0);
        release(s, WORK, 0);
        release(s, OTHER, 0);
        release(s, l, 0);
    }
    release(s, GRADIENT, 0);
}

static script training(long steps)
{
    script s = new_script((int)steps * (8 * LAYERS + 2), UNLIMITED);
    for (long step = 0; step < steps; step++) training_step(&s);
    return s;
}

static void run_training(const long *shape)
{
    script s = training(shape[0]);
    run_script(&s);
    const pool_outcome *last = &s.log[s.count - 1];
    expect(last->reserved <= 1.25 * (double)last->peak,
           "%ld training steps use at most %llu bytes, but the pool holds %llu", shape[0],
           last->peak, last->reserved);
}

static unsigned long long any_size(void)
{
    const uint64_t most = 256ull << random_below(case_random(), 11);
    return 1 + random_below(case_random(), most);
}

/* shape: steps, and the limit or 0 for none. Blocks are freed in the stream that had them. */
static void run_random(const long *shape)
{
    script s = new_script((int)shape[0] + 8, shape[1] ? (size_t)shape[1] : UNLIMITED);
    bool is_out[POOL_SLOTS] = {false};
    int stream_of[POOL_SLOTS] = {0};
    while (s.count < shape[0]) {
        const int slot = (int)random_below(case_random(), POOL_SLOTS);
        const int stream = (int)random_below(case_random(), POOL_STREAMS);
        const int luck = (int)random_below(case_random(), 1000);
        if (luck == 0 && random_below(case_random(), 20) == 0) {
            add(&s, (pool_step){.verb = POOL_RESET});
            memset(is_out, 0, sizeof is_out);
        } else if (is_out[slot]) {
            if (luck < 20) release_wrongly(&s, slot, 1 + (unsigned)luck);
            release(&s, slot, stream_of[slot]);
            if (luck >= 980) release_wrongly(&s, slot, 0);
            is_out[slot] = false;
        } else {
            const unsigned long long bytes = luck < 10               ? 0
                                             : luck < 12 && shape[1] ? HUGE
                                                                     : any_size();
            alloc(&s, slot, bytes, stream);
            stream_of[slot] = stream;
            is_out[slot] = true;
            if (!shape[1] && luck > 900)
                fill(&s, slot, bytes < 512 ? bytes : 512, stream, slot % 9);
        }
    }
    run_script(&s);
    const pool_outcome *last = &s.log[s.count - 1];
    if (shape[1] || shape[0] < 10000) return;
    expect(last->hits >= 0.9 * (double)last->allocations,
           "of %llu allocations only %llu are hits: free blocks are not reused", last->allocations,
           last->hits);
}

static const grading_case cases[] = {
    {.name = "first steps", .run = run_first, .shape = {1000}, .part = "pool_alloc"},
    {.name = "a little smaller is a hit", .run = run_first, .shape = {980}},
    {.name = "bytes", .run = run_sizes, .shape = {1}},
    {.name = "sizes to 2000", .run = run_sizes, .shape = {2000}},
    {.name = "sizes to 100000", .run = run_sizes, .shape = {100000}},
    {.name = "wrong frees", .run = run_wrong_frees},
    {.name = "out of memory", .run = run_out_of_memory, .shape = {1000000}, .part = "limit"},
    {.name = "phases of other sizes", .run = run_phases, .shape = {12}},
    {.name = "from stream to stream", .run = run_streams, .shape = {300000, 3}, .part = "streams"},
    {.name = "freed elsewhere", .run = run_freed_elsewhere, .shape = {300000, 3}},
    {.name = "its stream is gone", .run = run_stream_gone, .shape = {300000, 3}},
    {.name = "reset", .run = run_reset, .shape = {20}, .part = "pool_alloc"},
    {.name = "two pools", .run = run_two_pools, .shape = {1000}},
    {.name = "calls that fail", .run = run_refused, .shape = {3}},
    {.name = "four training steps", .run = run_training, .shape = {4}, .where = ON_GPU},
    {.name = "5000 blocks", .run = run_many_blocks, .shape = {5000}, .once = true},
    {.name = "2000 random steps", .run = run_random, .shape = {2000, 0}, .part = "streams"},
    {.name = "2000 random steps within a limit", .run = run_random, .shape = {2000, 6000000}},
    {.name = "100000 random steps", .run = run_random, .shape = {100000, 0}, .once = true},
    {.name = "1000000 random steps",
     .run = run_random,
     .shape = {1000000, 0},
     .where = ON_GPU,
     .once = true},
    {.name = "100000 random steps within a limit",
     .run = run_random,
     .shape = {100000, 6000000},
     .once = true},
    GPU_ROW("from stream to stream, 256 MB", run_streams, 256 << 20, 20),
    GPU_ROW("its stream is gone, 256 MB", run_stream_gone, 256 << 20, 20),
    {0},
};

/* ---- time and memory ---------------------------------------------------------------------- */

/* shape[0] pairs of pool_alloc and pool_free, of eight sizes from 1 MB to 8 MB in turn. */
static void run_timed(const char *function, const long *shape)
{
    script s = new_script(2 * (int)shape[0], UNLIMITED);
    for (int i = 0; i < shape[0]; i++) {
        alloc(&s, 0, (unsigned long long)(1 + i % 8) << 20, 0);
        release(&s, 0, 0);
    }
    if (strncmp(function, "baseline_", 9) == 0) {
        drive(function, POOL, &s);
        return;
    }
    create(POOL, UNLIMITED);
    drive(DRIVE, POOL, &s);
    check(&s);
    destroy(POOL);
}

static void run_counted(const char *function, const long *shape)
{
    (void)function; /* and all others */
    script s = training(shape[0]);
    create(POOL, UNLIMITED);
    drive(DRIVE, POOL, &s);
    check(&s);
    destroy(POOL);
}

static const speed_test speed[] = {
    {.metric = {"speedup", .over = "cudaMalloc and cudaFree", .shape = "2000 pairs of 1 to 8 MB"},
     .function = "pool_alloc",
     .baseline = "baseline_pool_drive",
     .run = run_timed,
     .shape = {2000},
     .from_idle = true,
     .where = ON_GPU,
     .threshold = 20.0},
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"bytes allocated", .relative_to = "peak in use", .shape = "four training steps"},
     .function = "pool_alloc",
     .run = run_counted,
     .shape = {4},
     .count = allocated_bytes,
     .ideal = PEAK,
     .bound = AT_MOST,
     .least = 1.0,
     .wanted = 1.25,
     .no_kernels = true},
    {0},
};

EXERCISE(408) = {
    .id = 408,
    .name = "memory_pool",
    .file = "phase4_optimization/408_memory_pool/408_memory_pool.cu",
    .functions = {"pool_create", "pool_alloc", "pool_free", "pool_reset", "pool_stats",
                  "pool_destroy"},
    .promises = {{"pool_create", WAITS_FOR_NOTHING},
                 {"pool_alloc",
                  WAITS_FOR_NOTHING | WAITS_TO_FREE | COPIES_NOTHING | MAY_FAIL_ANYHOW},
                 {"pool_free", WAITS_FOR_NOTHING | ALLOCATES_NOTHING | COPIES_NOTHING},
                 {"pool_stats", WAITS_FOR_NOTHING | ALLOCATES_NOTHING | COPIES_NOTHING}},
    .baseline_file = "grader/exercises/408_memory_pool/baseline.cu",
    .host_copies = true,
    .points = 15,
    .speed_points = 5,
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};

/*
 * test_counts.c: what requests cost, worked out by hand; and the counts of kernels in PTX through
 * device.h. Part of build/test_device.
 */
#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "device/device.h"
#include "device/counts/pattern.h"

Suite *more_suite(void);

/* ---- patterns -------------------------------------------------------------------------------- */

/** Lane i of `mask` touches element (i / share) * step + i % share * within, of `bytes`; `first`
 *  bytes are added to all addresses. */
typedef struct layout {
    const char *name;
    uint32_t bytes, mask;
    uint64_t first, share, step, within;
    uint32_t sectors, atomic_sectors, local_sectors;
    uint32_t load, load_least, store, store_least, atomic; /* wavefronts */
} layout;

#define ALL 0xffffffffu

/* clang-format off */
static const layout layouts[] = {
    /*                 bytes mask         first share step within  sectors  loads stores  */
    {"bytes in a row",     1, ALL,            0,  1,   1,  0,   1,  1,  8,   1, 1, 1, 1,  0},
    {"halves in a row",    2, ALL,            0,  1,   1,  0,   2,  2, 16,   1, 1, 1, 1,  0},
    {"words in a row",     4, ALL,            0,  1,   1,  0,   4,  4, 32,   1, 1, 1, 1,  1},
    {"words, off by one",  4, ALL,            4,  1,   1,  0,   5,  5, 32,   1, 1, 1, 1,  1},
    {"pairs in a row",     8, ALL,            0,  1,   1,  0,   8,  8, 64,   2, 2, 2, 2,  2},
    {"fours in a row",    16, ALL,            0,  1,   1,  0,  16, 16, 128,  4, 4, 4, 4,  4},
    {"fours, off by one", 16, ALL,           16,  1,   1,  0,  17, 17, 128,  4, 4, 4, 4,  4},
    {"every other word",   4, ALL,            0,  1,   2,  0,   8,  8, 32,   2, 1, 2, 1,  2},
    {"a word a sector",    4, ALL,            0,  1,   8,  0,  32, 32, 32,   8, 1, 8, 1,  8},
    {"a column of 32",     4, ALL,            0,  1,  32,  0,  32, 32, 32,  32, 1, 32, 1, 32},
    {"a column of 33",     4, ALL,            0,  1,  33,  0,  32, 32, 32,   1, 1, 1, 1,  1},
    {"one word",           4, ALL,            0, 32,   0,  0,   1, 32, 4,    1, 1, 1, 1, 32},
    {"one pair",           8, ALL,            0, 32,   0,  0,   1, 32, 8,    1, 1, 2, 2, 32},
    {"one four",          16, ALL,            0, 32,   0,  0,   1, 32, 16,   2, 2, 4, 4, 32},
    {"two rows of 16",     4, ALL,            0, 16, 512,  1,   4,  4, 32,   2, 1, 2, 1,  2},
    {"lanes in twos",      4, ALL,            0,  2,   1,  0,   2,  4, 16,   1, 1, 1, 1,  2},
    {"pairs in twos",      8, ALL,            0,  2,   1,  0,   4,  8, 32,   1, 1, 2, 2,  4},
    {"fours in twos",     16, ALL,            0,  2,   1,  0,   8, 16, 64,   2, 2, 4, 4,  8},
    {"half a warp",        4, 0xffff,         0,  1,   1,  0,   2,  2, 16,   1, 1, 1, 1,  1},
    {"half, pairs",        8, 0xffff,         0,  1,   1,  0,   4,  4, 32,   1, 1, 1, 1,  1},
    {"odd lanes, pairs",   8, 0xaaaaaaaa,     0,  1,   1,  0,   8,  8, 32,   2, 1, 2, 2,  2},
    {"odd lanes, fours",  16, 0xaaaaaaaa,     0,  1,   1,  0,  16, 16, 64,   4, 2, 4, 4,  4},
    {"one lane",           4, 0x80,           0,  1,   1,  0,   1,  1, 1,    1, 1, 1, 1,  1},
    {"one lane, four",    16, 0x80,           0,  1,   1,  0,   1,  1, 4,    1, 1, 1, 1,  1},
    {"a column of pairs",  8, ALL,            0,  1,  16,  0,  32, 32, 64,  32, 2, 32, 2, 32},
};
/* clang-format on */

static pattern pattern_of(const layout *l)
{
    pattern p = {.mask = l->mask, .bytes = l->bytes};
    for (uint64_t i = 0; i < PATTERN_LANES; i++)
        p.address[i] = l->first + l->bytes * (i / l->share * l->step + i % l->share * l->within);
    return p;
}

START_TEST(patterns_cost_what_they_should)
{
    const layout *l = &layouts[_i];
    pattern p = pattern_of(l);
    uint64_t sector[PATTERN_LANES];
    ck_assert_msg(pattern_sectors(&p, sector) == l->sectors, "%s: %u sectors", l->name,
                  pattern_sectors(&p, sector));
    ck_assert_msg(pattern_atomic_sectors(&p) == l->atomic_sectors, "%s: %u sectors of atomics",
                  l->name, pattern_atomic_sectors(&p));
    ck_assert_msg(pattern_local_sectors(&p) == l->local_sectors, "%s: %u sectors of local memory",
                  l->name, pattern_local_sectors(&p));
    pattern_passes load = pattern_banks(&p, PATTERN_LOAD), store = pattern_banks(&p, PATTERN_STORE);
    pattern_passes atomic = pattern_banks(&p, PATTERN_ATOMIC);
    ck_assert_msg(load.wavefronts == l->load && load.least == l->load_least,
                  "%s: loads take %u wavefronts of %u", l->name, load.wavefronts, load.least);
    ck_assert_msg(store.wavefronts == l->store && store.least == l->store_least,
                  "%s: stores take %u wavefronts of %u", l->name, store.wavefronts, store.least);
    if (l->bytes < 4) return; /* there are no atomics of that width in shared memory */
    ck_assert_msg(atomic.wavefronts == l->atomic, "%s: atomics take %u wavefronts", l->name,
                  atomic.wavefronts);
}
END_TEST

START_TEST(sectors_are_named)
{
    pattern p = {.mask = 0x11, .bytes = 4};
    uint64_t sector[PATTERN_LANES];
    p.address[0] = 31 * 32;
    p.address[4] = 7 * 32 + 28;
    ck_assert_uint_eq(pattern_sectors(&p, sector), 2);
    ck_assert(sector[0] + sector[1] == 38 && (sector[0] == 7 || sector[1] == 7));
}
END_TEST

/* In any order of the lanes a request costs the same. */
START_TEST(the_order_of_lanes_does_not_matter)
{
    pattern p = {.mask = ALL, .bytes = 4}, q = p;
    uint64_t sector[PATTERN_LANES];
    for (uint32_t i = 0; i < PATTERN_LANES; i++) p.address[i] = i * 2654435761u % 4096 / 4 * 4;
    for (uint32_t i = 0; i < PATTERN_LANES; i++) q.address[i] = p.address[(i * 5 + 3) % 32];
    ck_assert_uint_eq(pattern_sectors(&p, sector), pattern_sectors(&q, sector));
    ck_assert_uint_eq(pattern_atomic_sectors(&p), pattern_atomic_sectors(&q));
    for (pattern_kind k = PATTERN_LOAD; k <= PATTERN_ATOMIC; k++)
        ck_assert_uint_eq(pattern_banks(&p, k).wavefronts, pattern_banks(&q, k).wavefronts);
}
END_TEST

/* ---- kernels --------------------------------------------------------------------------------- */

static device *d;

static void open_device(void)
{
    device_options options = {.memory_bytes = 64 << 20, .threads = 2};
    d = device_open(&options);
    ck_assert_ptr_nonnull(d);
    device_count(d, 1);
}

static void close_device(void)
{
    device_close(d);
}

#define HEAD                                                                                       \
    ".version 9.0\n.target sm_80\n.address_size 64\n.const .align 4 .b8 given[64];\n"              \
    ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .f32 %f<9>;\n"   \
    ".reg .f64 %d<3>; .reg .pred %q<3>;\n.shared .align 16 .b8 s[4096]; .local .align 4 .b8 "      \
    "mine[64];\n"                                                                                  \
    "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4;\n"                    \
    "add.s64 %rd1, %rd1, %rd2;\n"
#define TAIL "ret;\n}\n"

static const char *const body[] = {
    "setp.lt.u32 %q1, %r1, 40;\n@%q1 ld.global.u32 %r2, [%rd1];\n",
    "setp.gt.u32 %q1, %r1, 99;\n@%q1 st.global.u32 [%rd1], %r1;\n",
    "st.global.v4.u32 [%rd2+0], {%r1, %r1, %r1, %r1};\n",
    "bar.sync 0;\nbar.warp.sync -1;\nbarrier.sync 0;\n",
    "st.local.u32 [mine], %r1; ld.local.u32 %r2, [mine];\n",
    "fma.rn.f32 %f1, %f1, %f1, %f1; add.f32 %f1, %f1, %f1; neg.f32 %f1, %f1;\n",
    "cvt.u64.u32 %rd3, %r1; cvta.shared.u64 %rd4, %rd3; st.u8 [%rd4], %r1;\n",
    "setp.lt.u32 %q1, %r1, 40; @%q1 red.global.add.u32 [%rd1], 1;\n"
    "setp.gt.u32 %q1, %r1, 31; @%q1 bra end; add.u32 %r1, %r1, 1; add.u32 %r1, %r1, 1;\n"
    "mov.u32 %r2, %ctaid.x; setp.eq.u32 %q1, %r2, 0; @%q1 bra end; add.u32 %r1, %r1, 1;\nend:\n",
    "ld.const.u32 %r2, [given+4];\n",
    "setp.lt.u32 %q1, %r1, 40; and.b32 %r2, %r1, 15; mul.wide.u32 %rd2, %r2, 4;\n"
    "mov.u64 %rd3, given; add.s64 %rd3, %rd3, %rd2; @%q1 ld.const.u32 %r2, [%rd3];\n",
};

/* A launch of 2 blocks of 64 threads: 4 warps. */
static device_counts count(const char *text)
{
    char ptx[4096];
    uint32_t module, function;
    device_address p;
    device_counts counts;
    snprintf(ptx, sizeof ptx, "%s%s%s", HEAD, text, TAIL);
    ck_assert_msg(device_load(d, ptx, strlen(ptx), &module) == DEVICE_OK, "%s", device_error(d));
    ck_assert_int_eq(device_function(d, module, "k", &function), DEVICE_OK);
    ck_assert_int_eq(device_alloc(d, 4096, &p), DEVICE_OK);
    ck_assert_int_eq(device_fill(d, p, 0, 4, 1024), DEVICE_OK);
    device_launch_request r = {.function = function,
                               .grid = {2, 1, 1},
                               .block = {64, 1, 1},
                               .params = &p,
                               .param_bytes = 8};
    device_launch(d, &r);
    device_count_total(d, &counts);
    return counts;
}

START_TEST(lanes_that_are_off_ask_for_nothing)
{
    device_counts c = count(body[0]);
    ck_assert_uint_eq(c.global_load.requests, 4);
    ck_assert_uint_eq(c.global_load.sectors, 2 * (4 + 1));
    ck_assert_uint_eq(c.global_load.bytes, 2 * 40 * 4);
    ck_assert_uint_eq(c.footprint, 5 * 32);
    ck_assert_uint_eq(c.instructions, 4 * 7);
    ck_assert_uint_eq(c.lanes, 128 * 6 + 2 * 40);
}
END_TEST

START_TEST(a_request_of_no_lane_is_none)
{
    device_counts c = count(body[1]);
    ck_assert_uint_eq(c.global_store.requests, 0);
    ck_assert_uint_eq(c.global_store.sectors, 0);
    ck_assert_uint_eq(c.footprint, 0);
    ck_assert_uint_eq(c.by_class[CLASS_MEMORY], 4 * 2);
}
END_TEST

START_TEST(constants_are_read_from_memory)
{
    device_counts c = count(body[8]);
    ck_assert_uint_eq(c.read_only.requests, 4);
    ck_assert_uint_eq(c.read_only.sectors, 4);
    ck_assert_uint_eq(c.read_only.bytes, 128 * 4);
    ck_assert_uint_eq(c.constant.requests, 4);
    ck_assert_uint_eq(c.constant.sectors, 4);
    ck_assert_uint_eq(c.constant.reads, 4);
    ck_assert_uint_eq(c.global_load.requests, 0);
    ck_assert_uint_eq(c.footprint, 32);
}
END_TEST

/* 16 words for 32 lanes, and 8 for 8. */
START_TEST(constants_at_different_addresses_are_read_one_by_one)
{
    device_counts c = count(body[9]);
    ck_assert_uint_eq(c.constant.requests, 4);
    ck_assert_uint_eq(c.constant.sectors, 2 * (2 + 1));
    ck_assert_uint_eq(c.constant.reads, 2 * (16 + 8));
}
END_TEST

START_TEST(multiplications_outside_of_tensor_instructions)
{
    ck_assert_uint_eq(count(body[5]).multiplications, 128 * (1 + 1)); /* mul.wide, fma */
}
END_TEST

START_TEST(an_access_out_of_bounds_is_counted)
{
    device_counts c = count(body[2]);
    ck_assert_uint_ge(c.global_store.requests, 1);
    ck_assert_uint_eq(c.footprint, 0);
    ck_assert_uint_eq(c.launches, 1);
}
END_TEST

START_TEST(barriers_of_blocks_are_counted)
{
    device_counts c = count(body[3]);
    ck_assert_uint_eq(c.barriers, 4 * 2);
    ck_assert_uint_eq(c.by_class[CLASS_WARP], 4 * 3);
}
END_TEST

START_TEST(local_memory_is_word_by_word)
{
    device_counts c = count(body[4]);
    ck_assert_uint_eq(c.local_store.requests, 4);
    ck_assert_uint_eq(c.local_store.sectors, 4 * 4);
    ck_assert_uint_eq(c.local_load.sectors, 4 * 4);
    ck_assert_uint_eq(c.global_load.requests, 0);
}
END_TEST

START_TEST(operations_are_counted_by_lane)
{
    device_counts c = count(body[5]);
    ck_assert_uint_eq(c.operations, 128 * 3);
    ck_assert_uint_eq(c.by_class[CLASS_FLOAT], 4 * 3);
}
END_TEST

START_TEST(generic_addresses_are_told_apart)
{
    device_counts c = count(body[6]);
    ck_assert_uint_eq(c.global_store.requests, 0);
    ck_assert_uint_eq(c.shared_store.requests, 4);
    ck_assert_uint_eq(c.shared_store.wavefronts, 4);
}
END_TEST

/* The first warp of block 1 has the longest way. Launches add up, whatever their warps' number. */
START_TEST(the_longest_warp_and_the_busiest_block_count)
{
    device_counts first = count(body[7]), second = count("");
    ck_assert_uint_eq(first.longest, 4 + 2 + 2 + 2 + 3 + 1 + 1);
    ck_assert_uint_eq(first.block_atomics, 40);
    ck_assert_uint_eq(second.longest, first.longest + 4 + 1);
    ck_assert_uint_eq(second.block_atomics, first.block_atomics);
}
END_TEST

START_TEST(sites_and_launches_add_up)
{
    device_counts total = count(body[0]), kernel, sum = {0};
    device_instruction instruction;
    device_counted_launch launch;
    char name[128];
    ck_assert_int_eq(device_count_kernel(d, 0, name, &kernel), 1);
    ck_assert_str_eq(name, "k");
    ck_assert_mem_eq(&kernel, &total, sizeof total);
    ck_assert_int_eq(device_count_kernel(d, 1, name, &kernel), 0);
    for (uint32_t i = 0; device_count_instruction(d, 0, i, &instruction); i++) {
        sum.instructions += instruction.counts.instructions;
        sum.global_load.sectors += instruction.counts.global_load.sectors;
        if (instruction.counts.global_load.requests)
            ck_assert_str_eq(instruction.opcode, "ld.global.u32");
    }
    ck_assert_uint_eq(sum.instructions, total.instructions);
    ck_assert_uint_eq(sum.global_load.sectors, total.global_load.sectors);
    ck_assert_int_eq(device_count_launch(d, 0, &launch), 1);
    ck_assert_uint_eq(launch.grid[0], 2);
    ck_assert_mem_eq(&launch.counts, &total, sizeof total);
    ck_assert_int_eq(device_count_launch(d, 1, &launch), 0);
}
END_TEST

START_TEST(counting_can_pause)
{
    device_counts first = count(body[0]), second;
    device_count(d, 0);
    second = count(body[0]);
    ck_assert_mem_eq(&first, &second, sizeof first);
    device_count(d, 1);
    second = count(body[0]);
    ck_assert_uint_eq(second.instructions, 2 * first.instructions);
    ck_assert_uint_eq(second.footprint, 2 * first.footprint);
}
END_TEST

/* ---- matrices -------------------------------------------------------------------------------- */

#define R4 "{%r1, %r2, %r3, %r4}"
#define R8 "{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}"
#define F8 "{%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}"

/* 1024 bytes of p for each warp; in shared memory: a generic address, and an address a lane. */
#define APART                                                                                      \
    "ld.param.u64 %rd1, [p]; mov.u32 %r2, %ctaid.x; shr.u32 %r3, %r1, 5; shl.b32 %r2, %r2, 1;\n"   \
    "add.u32 %r2, %r2, %r3; mul.wide.u32 %rd2, %r2, 1024; add.s64 %rd1, %rd1, %rd2;\n"
#define GENERIC               "mov.u32 %r2, s; cvt.u64.u32 %rd3, %r2; cvta.shared.u64 %rd4, %rd3;\n"
#define EVERY(bytes)          "mov.u32 %r2, %laneid; mul.lo.u32 %r2, %r2, " #bytes ";\n"

#define LOAD(what, to, from)  "wmma.load." what " " to ", " from ";\n"
#define STORE(what, to, from) "wmma.store." what " " to ", " from ";\n"

/** What one warp asks for; of global memory, `units` are sectors, of shared memory wavefronts. */
static const struct {
    const char *text;
    enum { FROM_GLOBAL, TO_GLOBAL, FROM_SHARED } where;
    uint64_t requests, units, conflicts;
} moves[] = {
    /* Of 8 lines 16 bytes each; the stride is 128 bytes. */
    {LOAD("a.sync.aligned.row.m16n16k16.global.f16", R8, "[%rd1], 64"), FROM_GLOBAL, 4, 4 * 8, 0},
    {LOAD("a.sync.aligned.col.m16n16k16.global.f16", R8, "[%rd1], 64"), FROM_GLOBAL, 4, 4 * 8, 0},
    {LOAD("b.sync.aligned.row.m32n8k16.global.f16", R8, "[%rd1], 64"), FROM_GLOBAL, 2, 2 * 8, 0},
    {LOAD("a.sync.aligned.row.m16n16k16.f16", R8, "[%rd1], 64"), FROM_GLOBAL, 4, 4 * 8, 0},
    /* 8 lines of 16 bytes, one right behind the other; and 4 lines, 8 bytes of each. */
    {LOAD("a.sync.aligned.row.m16n16k16.global.s8", "{%r1, %r2}", "[%rd1], 16"), FROM_GLOBAL, 2,
     2 * 4, 0},
    {LOAD("a.sync.aligned.col.m16n16k16.global.s8", "{%r1, %r2}", "[%rd1], 64"), FROM_GLOBAL, 8,
     8 * 4, 0},
    /* 8 lines of 32 bytes, half of each; 4 lines of 64 bytes, half of each. */
    {LOAD("a.sync.aligned.row.m16n16k8.global.tf32", R4, "[%rd1], 8"), FROM_GLOBAL, 4, 4 * 8, 0},
    {LOAD("a.sync.aligned.col.m16n16k8.global.tf32", R4, "[%rd1], 16"), FROM_GLOBAL, 4, 4 * 4, 0},
    /* All of 8 lines of 64 bytes; 4 of them at a time. */
    {LOAD("c.sync.aligned.row.m8n8k4.global.f64", "{%d1, %d2}", "[%rd1], 8"), FROM_GLOBAL, 1, 16,
     0},
    {LOAD("c.sync.aligned.col.m8n8k4.global.f64", "{%d1, %d2}", "[%rd1], 8"), FROM_GLOBAL, 2, 2 * 8,
     0},
    /* 8 lines, 32 bytes of each; 4 lines, 32 bytes of each. */
    {LOAD("c.sync.aligned.row.m16n16k16.global.f32", F8, "[%rd1], 32"), FROM_GLOBAL, 4, 4 * 8, 0},
    {LOAD("c.sync.aligned.col.m16n16k16.global.f32", F8, "[%rd1], 32"), FROM_GLOBAL, 8, 8 * 4, 0},
    {LOAD("c.sync.aligned.row.m32n8k16.global.f32", F8, "[%rd1], 8"), FROM_GLOBAL, 4, 4 * 8, 0},
    {LOAD("c.sync.aligned.row.m8n32k16.global.f32", F8, "[%rd1], 32"), FROM_GLOBAL, 8, 8 * 4, 0},
    {LOAD("c.sync.aligned.col.m8n32k16.global.f32", F8, "[%rd1], 8"), FROM_GLOBAL, 4, 4 * 8, 0},
    {APART STORE("d.sync.aligned.row.m16n16k16.global.f32", "[%rd1]", F8 ", 16"), TO_GLOBAL, 4,
     4 * 8, 0},
    {APART STORE("d.sync.aligned.col.m16n16k16.global.f32", "[%rd1]", F8 ", 16"), TO_GLOBAL, 8,
     8 * 4, 0},
    {APART STORE("d.sync.aligned.col.m16n16k16.global.f16", "[%rd1]", R4 ", 16"), TO_GLOBAL, 4,
     4 * 8, 0},
    /* Tiles of 8 x 16 bytes: lines 8 words apart conflict in twos, 12 words apart not at all. */
    {LOAD("a.sync.aligned.row.m16n16k16.shared.f16", R8, "[s], 16"), FROM_SHARED, 1, 4 * 2, 4},
    {LOAD("a.sync.aligned.col.m16n16k16.shared.f16", R8, "[s], 24"), FROM_SHARED, 1, 4, 0},
    {LOAD("b.sync.aligned.col.m8n32k16.shared.f16", R8, "[s], 24"), FROM_SHARED, 2, 2 * 4, 0},
    {LOAD("a.sync.aligned.row.m32n8k16.shared.s8", R4, "[s], 16"), FROM_SHARED, 2, 2 * 2, 0},
    /* Word by word, of 8 lines that are 8 words apart. */
    {GENERIC LOAD("a.sync.aligned.row.m16n16k16.f16", R8, "[%rd4], 16"), FROM_SHARED, 4, 4 * 2, 4},
    /* Of lines 0, 4, 8 and 12, 16 words apart, 2 words each. */
    {LOAD("a.sync.aligned.col.m16n16k16.shared.s8", "{%r1, %r2}", "[s], 16"), FROM_SHARED, 8, 8 * 2,
     8},
    /* Each half of the warp: of 4 lines, 16 words apart, 8 words each. */
    {LOAD("c.sync.aligned.row.m16n16k16.shared.f32", F8, "[s], 16"), FROM_SHARED, 4, 4 * 2 * 2,
     4 * 2},
    {EVERY(16) "ldmatrix.sync.aligned.m8n8.x4.shared.b16 " R4 ", [%r2];\n", FROM_SHARED, 1, 4, 0},
    {EVERY(32) "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r2];\n", FROM_SHARED, 1, 2, 1},
    {EVERY(128) "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r1, %r2}, [%r2];\n", FROM_SHARED,
     1, 2 * 8, 2 * 7},
};

START_TEST(matrices_are_moved_as_by_machine_code)
{
    device_counts c = count(moves[_i].text);
    bool load = moves[_i].where == FROM_GLOBAL, store = moves[_i].where == TO_GLOBAL;
    bool shared = moves[_i].where == FROM_SHARED;
    uint64_t requests = 4 * moves[_i].requests, units = 4 * moves[_i].units;
    ck_assert_uint_eq(c.global_load.requests, load ? requests : 0);
    ck_assert_uint_eq(c.global_load.sectors, load ? units : 0);
    ck_assert_uint_eq(c.global_store.requests, store ? requests : 0);
    ck_assert_uint_eq(c.global_store.sectors, store ? units : 0);
    ck_assert_uint_eq(c.shared_load.requests, shared ? requests : 0);
    ck_assert_uint_eq(c.shared_load.wavefronts, shared ? units : 0);
    ck_assert_uint_eq(c.shared_load.conflicts, 4 * moves[_i].conflicts);
    ck_assert_uint_eq(c.shared_store.requests, 0);
}
END_TEST

Suite *more_suite(void)
{
    Suite *suite = suite_create("counts");
    TCase *patterns = tcase_create("patterns"), *kernels = tcase_create("kernels");
    tcase_add_loop_test(patterns, patterns_cost_what_they_should, 0,
                        sizeof layouts / sizeof *layouts);
    tcase_add_test(patterns, sectors_are_named);
    tcase_add_test(patterns, the_order_of_lanes_does_not_matter);
    tcase_add_test(kernels, lanes_that_are_off_ask_for_nothing);
    tcase_add_test(kernels, a_request_of_no_lane_is_none);
    tcase_add_test(kernels, multiplications_outside_of_tensor_instructions);
    tcase_add_test(kernels, constants_are_read_from_memory);
    tcase_add_test(kernels, constants_at_different_addresses_are_read_one_by_one);
    tcase_add_test(kernels, an_access_out_of_bounds_is_counted);
    tcase_add_test(kernels, barriers_of_blocks_are_counted);
    tcase_add_test(kernels, local_memory_is_word_by_word);
    tcase_add_test(kernels, operations_are_counted_by_lane);
    tcase_add_test(kernels, generic_addresses_are_told_apart);
    tcase_add_test(kernels, the_longest_warp_and_the_busiest_block_count);
    tcase_add_test(kernels, sites_and_launches_add_up);
    tcase_add_test(kernels, counting_can_pause);
    tcase_add_loop_test(kernels, matrices_are_moved_as_by_machine_code, 0,
                        sizeof moves / sizeof *moves);
    tcase_add_checked_fixture(kernels, open_device, close_device);
    tcase_set_timeout(patterns, 120);
    tcase_set_timeout(kernels, 120);
    suite_add_tcase(suite, patterns);
    suite_add_tcase(suite, kernels);
    return suite;
}

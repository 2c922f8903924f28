/*
 * test_device.c: the device through its interface, with kernels written in PTX: needs no compiler
 * but the host's.
 *
 * Build and run: make build/test_device && build/test_device
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"

static device *d;

static void open_device(void)
{
    device_options options = {.memory_bytes = 64 << 20, .threads = 2, .budget = 10 * 1000 * 1000};
    d = device_open(&options);
    ck_assert_ptr_nonnull(d);
}

static void close_device(void)
{
    device_close(d);
}

/* ---- memory ---------------------------------------------------------------------------------- */

START_TEST(allocations_are_found_and_freed)
{
    device_address a, b, base;
    uint64_t bytes;
    ck_assert_int_eq(device_alloc(d, 1000, &a), DEVICE_OK);
    ck_assert_int_eq(device_alloc(d, 0, &b), DEVICE_OK);
    ck_assert_uint_eq(a % 256, 0);
    ck_assert_uint_ne(a, b);
    ck_assert_int_eq(device_find(d, a + 999, &base, &bytes), DEVICE_OK);
    ck_assert_uint_eq(base, a);
    ck_assert_uint_eq(bytes, 1000);
    ck_assert_int_eq(device_find(d, a + 1000, &base, &bytes), DEVICE_BAD_ADDRESS);
    ck_assert_int_eq(device_free(d, a + 4), DEVICE_BAD_ADDRESS);
    ck_assert_int_eq(device_free(d, a), DEVICE_OK);
    ck_assert_int_eq(device_free(d, a), DEVICE_BAD_ADDRESS);
    ck_assert_int_eq(device_free(d, b), DEVICE_OK);
}
END_TEST

START_TEST(memory_is_limited)
{
    device_address a = 1;
    uint64_t free_bytes, total;
    ck_assert_int_eq(device_alloc(d, UINT64_C(65) << 20, &a), DEVICE_OUT_OF_MEMORY);
    ck_assert_uint_eq(a, 1);
    ck_assert_int_eq(device_alloc(d, UINT64_MAX, &a), DEVICE_OUT_OF_MEMORY);
    ck_assert_int_eq(device_alloc(d, 64 << 20, &a), DEVICE_OK);
    device_memory(d, &free_bytes, &total);
    ck_assert_uint_eq(free_bytes, 0);
    ck_assert_uint_eq(total, 64 << 20);
}
END_TEST

/* Many allocations come and go; those that live never overlap, and all memory comes back. */
START_TEST(allocations_never_overlap)
{
    enum { SLOTS = 64, ROUNDS = 20000 };
    static device_address at[SLOTS];
    static uint64_t size[SLOTS];
    memset(at, 0, sizeof at);
    srand(1);
    for (int round = 0; round < ROUNDS; round++) {
        int i = rand() % SLOTS;
        if (at[i]) ck_assert_int_eq(device_free(d, at[i]), DEVICE_OK);
        size[i] = (uint64_t)(rand() % 100000);
        ck_assert_int_eq(device_alloc(d, size[i], &at[i]), DEVICE_OK);
        for (int k = 0; k < SLOTS; k++) {
            if (k == i || !at[k]) continue;
            ck_assert(at[i] + size[i] < at[k] || at[k] + size[k] < at[i]);
        }
    }
    for (int i = 0; i < SLOTS; i++) ck_assert_int_eq(device_free(d, at[i]), DEVICE_OK);
    uint64_t free_bytes, total;
    device_memory(d, &free_bytes, &total);
    ck_assert_uint_eq(free_bytes, total);
}
END_TEST

START_TEST(copies_stay_inside_one_allocation)
{
    device_address a, b;
    char text[16] = "0123456789abcde", got[16];
    ck_assert_int_eq(device_alloc(d, 16, &a), DEVICE_OK);
    ck_assert_int_eq(device_alloc(d, 16, &b), DEVICE_OK);
    ck_assert_int_eq(device_write(d, a, text, 16), DEVICE_OK);
    ck_assert_int_eq(device_copy(d, b, a, 16), DEVICE_OK);
    ck_assert_int_eq(device_read(d, got, b, 16), DEVICE_OK);
    ck_assert_mem_eq(got, text, 16);
    ck_assert_int_eq(device_write(d, a + 8, text, 9), DEVICE_BAD_ADDRESS);
    ck_assert_int_eq(device_read(d, got, a - 1, 1), DEVICE_BAD_ADDRESS);
    ck_assert_int_eq(device_fill(d, a, 0x01020304, 4, 4), DEVICE_OK);
    ck_assert_int_eq(device_read(d, got, a + 12, 4), DEVICE_OK);
    ck_assert_mem_eq(got, "\4\3\2\1", 4);
}
END_TEST

/* ---- modules --------------------------------------------------------------------------------- */

#define HEAD ".version 9.0\n.target sm_80\n.address_size 64\n"

static uint32_t load(const char *ptx)
{
    uint32_t module;
    ck_assert_msg(device_load(d, ptx, strlen(ptx), &module) == DEVICE_OK, "%s", device_error(d));
    return module;
}

START_TEST(bad_modules_are_refused)
{
    static const char *const bad[] = {
        "nonsense",
        HEAD ".visible .entry k(.param .u64 p",
        HEAD ".visible .entry k() { bra nowhere; }",
        HEAD ".visible .entry k() { .reg .b32 %r<4>; add.s32 %r1, %r2",
        HEAD ".global .align 3 .u32 x;",
        HEAD ".global .u64 x = missing;",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint32_t module;
        ck_assert_int_eq(device_load(d, bad[i], strlen(bad[i]), &module), DEVICE_BAD_MODULE);
        ck_assert_str_ne(device_error(d), "");
    }
}
END_TEST

START_TEST(symbols_have_their_initial_values)
{
    uint32_t module = load(HEAD ".global .align 4 .u32 x[3] = {1, 2};\n"
                                ".const .align 8 .u64 where = generic(x)+4;\n");
    device_address x, where, value;
    uint64_t bytes;
    uint32_t words[3];
    ck_assert_int_eq(device_symbol(d, module, "x", &x, &bytes), DEVICE_OK);
    ck_assert_uint_eq(bytes, 12);
    ck_assert_int_eq(device_read(d, words, x, 12), DEVICE_OK);
    ck_assert(words[0] == 1 && words[1] == 2 && words[2] == 0);
    ck_assert_int_eq(device_symbol(d, module, "where", &where, &bytes), DEVICE_OK);
    ck_assert_int_eq(device_read(d, &value, where, 8), DEVICE_OK);
    ck_assert_uint_eq(value, x + 4);
    ck_assert_int_eq(device_free(d, x), DEVICE_BAD_ADDRESS);
    ck_assert_int_eq(device_symbol(d, module, "y", &x, &bytes), DEVICE_NOT_FOUND);
    ck_assert_int_eq(device_unload(d, module), DEVICE_OK);
    ck_assert_int_eq(device_symbol(d, module, "x", &x, &bytes), DEVICE_NOT_FOUND);
}
END_TEST

/* ---- kernels --------------------------------------------------------------------------------- */

/* A kernel that has the address of `out` in %out and its thread's number in %t. */
#define KERNEL(body)                                                                               \
    HEAD ".visible .entry _Z6kernelPi(.param .u64 p) {\n"                                          \
         ".reg .b64 %out, %a, %x<9>; .reg .b32 %t, %r<9>; .reg .b16 %h<4>; .reg .pred %p<4>;\n"    \
         ".shared .align 4 .b8 tile[256];\n"                                                       \
         "ld.param.u64 %out, [p]; mov.u32 %t, %tid.x;\n"                                           \
         "mul.wide.u32 %a, %t, 4; add.s64 %a, %a, %out;\n" body " ret; }\n"
#define STORE_R1 "st.global.u32 [%a], %r1;\n"

enum { OUT_WORDS = 128 };

typedef struct outcome {
    device_status status;
    uint32_t out[OUT_WORDS];
    uint32_t findings;
    device_finding first;
} outcome;

/* One block of `threads`; the output starts as zeros. */
static outcome run_on(device_address out, const char *ptx, uint32_t threads)
{
    outcome o = {0};
    uint32_t module = load(ptx), function;
    ck_assert_int_eq(device_fill(d, out, 0, 1, sizeof o.out), DEVICE_OK);
    ck_assert_int_eq(device_function(d, module, "_Z6kernelPi", &function), DEVICE_OK);
    device_launch_request r = {
        .function = function,
        .grid = {1, 1, 1},
        .block = {threads, 1, 1},
        .params = &out,
        .param_bytes = 8,
    };
    o.status = device_launch(d, &r);
    device_finding f;
    while (device_take_finding(d, &f)) {
        if (o.findings++ == 0) o.first = f;
    }
    ck_assert_int_eq(device_read(d, o.out, out, sizeof o.out), DEVICE_OK);
    ck_assert_int_eq(device_unload(d, module), DEVICE_OK);
    ck_assert_int_eq(device_free(d, out), DEVICE_OK);
    return o;
}

static outcome run(const char *ptx, uint32_t threads)
{
    device_address out;
    ck_assert_int_eq(device_alloc(d, sizeof((outcome){0}.out), &out), DEVICE_OK);
    return run_on(out, ptx, threads);
}

/* Each row: what every thread t < 64 computes, and the value for t = 5 and t = 33. */
static const struct {
    const char *name, *ptx;
    uint32_t of_5, of_33;
} values[] = {
    {"tid", KERNEL("mov.u32 %r1, %tid.x;" STORE_R1), 5, 33},
    {"lane and warp",
     KERNEL("mov.u32 %r1, %laneid; mov.u32 %r2, %warpid; mad.lo.s32 %r1, %r2, 100, %r1;" STORE_R1),
     5, 101},
    {"guard", KERNEL("setp.lt.u32 %p1, %t, 10; mov.u32 %r1, 1; @%p1 mov.u32 %r1, 2;" STORE_R1), 2,
     1},
    {"branch",
     KERNEL("setp.lt.u32 %p1, %t, 10; @%p1 bra A; mov.u32 %r1, 7; bra B; A: mov.u32 %r1, 8; "
            "B:" STORE_R1),
     8, 7},
    {"loop by lane",
     KERNEL("mov.u32 %r1, 0; mov.u32 %r2, 0; L: add.u32 %r1, %r1, %r2; add.u32 %r2, %r2, 1; "
            "setp.le.u32 %p1, %r2, %t; @%p1 bra L;" STORE_R1),
     15, 561},
    {"borrow", KERNEL("mov.u32 %r2, 3; sub.cc.u32 %r1, %r2, %t; subc.u32 %r1, 9, 0;" STORE_R1), 8,
     8},
    {"no borrow", KERNEL("mov.u32 %r2, 33; sub.cc.u32 %r1, %r2, %t; subc.u32 %r1, 9, 0;" STORE_R1),
     9, 9},
    {"prmt", KERNEL("mov.u32 %r2, 0x44332211; prmt.b32 %r1, %r2, %t, 0x4810;" STORE_R1), 0x05002211,
     0x21002211},
    {"lop3", KERNEL("lop3.b32 %r1, %t, 0xff, 3, 0x96;" STORE_R1), 5 ^ 0xff ^ 3, 33 ^ 0xff ^ 3},
    {"division by 0", KERNEL("mov.u32 %r2, 0; div.u32 %r1, %t, %r2;" STORE_R1), ~0u, ~0u},
    {"shuffle", KERNEL("shfl.sync.down.b32 %r1|%p1, %t, 4, 31, -1;" STORE_R1), 9, 37},
    {"ballot", KERNEL("setp.eq.u32 %p1, %t, 35; vote.sync.ballot.b32 %r1, %p1, -1;" STORE_R1), 0,
     8},
    {"reduction barrier", KERNEL("setp.lt.u32 %p1, %t, 35; bar.red.popc.u32 %r1, 0, %p1;" STORE_R1),
     35, 35},
    {"jump table",
     KERNEL(
         "T: .branchtargets A, B, C; and.b32 %r2, %t, 3; min.u32 %r2, %r2, 2; brx.idx %r2, T; A: "
         "mov.u32 %r1, 10; bra E; B: mov.u32 %r1, 11; bra E; C: mov.u32 %r1, 12; E:" STORE_R1),
     11, 11},
    {"atomic",
     KERNEL("atom.global.add.u32 %r2, [%out+256], 1; bar.sync 0; ld.global.u32 %r1, "
            "[%out+256];" STORE_R1),
     64, 64},
    {"narrow store",
     KERNEL("st.global.u8 [%a], %t; ld.global.u32 %r1, [%a]; shl.b32 %r1, %r1, 1;" STORE_R1), 10,
     66},
    {"shared window",
     KERNEL("mov.u32 %r2, tile; shl.b32 %r3, %t, 2; add.u32 %r2, %r2, %r3; cvt.u64.u32 %x1, %r2; "
            "cvta.shared.u64 %x1, %x1; st.u32 [%x1], %t; ld.shared.u32 %r1, [%r2];" STORE_R1),
     5, 33},
};

START_TEST(kernels_compute)
{
    outcome o = run(values[_i].ptx, 64);
    ck_assert_msg(o.status == DEVICE_OK, "%s: %s", values[_i].name, device_error(d));
    ck_assert_msg(o.findings == 0, "%s: %s", values[_i].name, o.first.text);
    ck_assert_msg(o.out[5] == values[_i].of_5, "%s: %u", values[_i].name, o.out[5]);
    ck_assert_msg(o.out[33] == values[_i].of_33, "%s: %u", values[_i].name, o.out[33]);
}
END_TEST

/* A call parts the warp: each lane recurses as deep as its number. */
START_TEST(functions_recurse)
{
    outcome o = run(
        HEAD
        ".func (.param .b32 result) sum(.param .b32 n) { .reg .b32 %r<5>; .reg .pred %p;\n"
        "ld.param.u32 %r1, [n]; mov.u32 %r2, 0; setp.eq.u32 %p, %r1, 0; @%p bra D;\n"
        "sub.u32 %r3, %r1, 1; { .param .b32 a; st.param.b32 [a], %r3; .param .b32 b;\n"
        "call.uni (b), sum, (a); ld.param.b32 %r4, [b]; } add.u32 %r2, %r4, %r1;\n"
        "D: st.param.b32 [result], %r2; ret; }\n"
        ".visible .entry _Z6kernelPi(.param .u64 p) { .reg .b64 %o, %a; .reg .b32 %t, %r;\n"
        "ld.param.u64 %o, [p]; mov.u32 %t, %tid.x; mul.wide.u32 %a, %t, 4; add.s64 %a, %a, %o;\n"
        "{ .param .b32 a; st.param.b32 [a], %t; .param .b32 b; call.uni (b), sum, (a);\n"
        "ld.param.b32 %r, [b]; } st.global.u32 [%a], %r; ret; }\n",
        64);
    ck_assert_int_eq(o.status, DEVICE_OK);
    for (uint32_t t = 0; t < 64; t++) ck_assert_uint_eq(o.out[t], t * (t + 1) / 2);
}
END_TEST

#ifndef TEST_PROGRAM
/* Of four warps: who begins first takes the lowest ticket. */
START_TEST(a_seed_decides_the_order_of_warps)
{
    const char *ticket = KERNEL(
        "mov.u32 %r3, %warpid; and.b32 %r2, %t, 31; setp.ne.u32 %p1, %r2, 0; @%p1 bra E;"
        "atom.global.add.u32 %r1, [%out+256], 1; mul.wide.u32 %x1, %r3, 4; add.s64 %x1, %x1, %out;"
        "st.global.u32 [%x1], %r1; E:");
    bool differs = false;
    outcome first = run(ticket, 128);
    for (uint32_t k = 0; k < 4; k++) ck_assert_uint_eq(first.out[k], k);
    for (uint64_t seed = 1; seed < 9; seed++) {
        device_shuffle(d, seed);
        outcome a = run(ticket, 128), b = run(ticket, 128);
        ck_assert(a.status == DEVICE_OK && a.findings == 0);
        ck_assert_mem_eq(a.out, b.out, sizeof a.out);
        differs |= memcmp(a.out, first.out, sizeof a.out) != 0;
        ck_assert_uint_eq(a.out[0] + a.out[1] + a.out[2] + a.out[3], 6);
    }
    ck_assert(differs);
}
END_TEST
#endif

/* ---- findings -------------------------------------------------------------------------------- */

#define TILE "mov.u32 %r2, tile; shl.b32 %r3, %t, 2; add.u32 %r2, %r2, %r3;\n"
#define OTHER                                                                                      \
    "xor.b32 %r4, %t, 63; shl.b32 %r4, %r4, 2; mov.u32 %r5, tile; add.u32 %r4, %r4, %r5;\n"
#define NEIGHBOUR                                                                                  \
    "xor.b32 %r4, %t, 1; shl.b32 %r4, %r4, 2; mov.u32 %r5, tile; add.u32 %r4, %r4, %r5;\n"

enum { NOTHING = -1 };

/* Defects, and right programs that come close to them. 64 threads each. */
static const struct {
    const char *name, *ptx;
    int kind;
    device_status status;
    const char *text;
} defects[] = {
    {"past the end", KERNEL("st.global.u32 [%a+512], %t;"), FINDING_OUT_OF_BOUNDS,
     DEVICE_ILLEGAL_ADDRESS, "just past the end of a 512-byte buffer"},
    {"8 past the end", KERNEL("ld.global.u32 %r1, [%a+520];"), FINDING_OUT_OF_BOUNDS,
     DEVICE_ILLEGAL_ADDRESS,
     "reads 4 bytes, 2 elements of 4 bytes past the end of a 512-byte buffer"},
    {"before the start", KERNEL("st.global.u32 [%a+-4], %t;"), FINDING_OUT_OF_BOUNDS,
     DEVICE_ILLEGAL_ADDRESS, "4 bytes before the start of a 512-byte"},
    {"last word", KERNEL("st.global.u32 [%a+256], %t;"), NOTHING, DEVICE_OK, ""},
    {"null pointer", KERNEL("mov.u64 %x1, 0; ld.global.u32 %r1, [%x1];"), FINDING_OUT_OF_BOUNDS,
     DEVICE_ILLEGAL_ADDRESS, "through a null pointer"},
    {"host pointer", KERNEL("mov.u64 %x1, 0x7fff12345678; ld.global.u32 %r1, [%x1];"),
     FINDING_OUT_OF_BOUNDS, DEVICE_ILLEGAL_ADDRESS, "not device memory"},
    {"misaligned", KERNEL("st.global.u32 [%a+2], %t;"), FINDING_MISALIGNED, DEVICE_MISALIGNED,
     "not a multiple of 4"},
    {"past shared", KERNEL(TILE "st.shared.u32 [%r2+4], %t;"), FINDING_OUT_OF_BOUNDS,
     DEVICE_ILLEGAL_ADDRESS, "just past the end of the 256-byte shared array tile"},
    {"race", KERNEL(TILE OTHER "st.shared.u32 [%r2], %t; st.shared.u32 [%r4], 7;"), FINDING_RACE,
     DEVICE_OK, "no __syncthreads() in between"},
    {"race ended by a barrier",
     KERNEL(TILE OTHER "st.shared.u32 [%r2], %t; bar.sync 0; ld.shared.u32 %r1, [%r4];" STORE_R1),
     NOTHING, DEVICE_OK, ""},
    {"race in a warp",
     KERNEL(TILE NEIGHBOUR "st.shared.u32 [%r2], %t; ld.shared.u32 %r1, [%r4];" STORE_R1),
     FINDING_MISSING_SYNCWARP, DEVICE_OK, "no __syncwarp()"},
    {"ordered by __syncwarp",
     KERNEL(TILE NEIGHBOUR
            "st.shared.u32 [%r2], %t; bar.warp.sync -1; ld.shared.u32 %r1, [%r4];" STORE_R1),
     NOTHING, DEVICE_OK, ""},
    {"own words",
     KERNEL(TILE "st.shared.u32 [%r2], %t; ld.shared.u32 %r1, [%r2]; st.shared.u32 [%r2], 3;"),
     NOTHING, DEVICE_OK, ""},
    {"one flag, one value",
     KERNEL("mov.u32 %r1, 7; st.shared.u32 [tile], %r1; bar.sync 0; ld.shared.u32 %r1, "
            "[tile];" STORE_R1),
     NOTHING, DEVICE_OK, ""},
    {"one word, many values", KERNEL("st.shared.u32 [tile], %t;"), FINDING_RACE, DEVICE_OK,
     "overwrites"},
    {"bytes of a word",
     KERNEL("mov.u32 %r2, tile; add.u32 %r2, %r2, %t; cvt.u16.u32 %h1, %t; st.shared.u8 [%r2], "
            "%h1; bar.sync 0; ld.shared.u8 %h2, [%r2];"),
     NOTHING, DEVICE_OK, ""},
    {"shared, not written", KERNEL(TILE "ld.shared.u32 %r1, [%r2];" STORE_R1),
     FINDING_UNINITIALISED, DEVICE_OK, "nothing in this block has written"},
    {"atomics",
     KERNEL("mov.u32 %r1, 0; st.shared.u32 [tile], %r1; bar.sync 0; red.shared.add.u32 [tile], 1; "
            "bar.sync 0; ld.shared.u32 %r1, [tile];" STORE_R1),
     NOTHING, DEVICE_OK, ""},
    {"early return",
     KERNEL("setp.gt.u32 %p1, %t, 40; @%p1 bra D; bar.sync 0; mov.u32 %r1, 1;" STORE_R1 "D:"),
     NOTHING, DEVICE_OK, ""},
    {"barrier in a branch",
     KERNEL("setp.gt.u32 %p1, %t, 40; @%p1 bra D; bar.sync 0; D: mov.u32 %r1, 1;" STORE_R1
            "bar.sync 0;"),
     FINDING_DIVERGENT_BARRIER, DEVICE_DEADLOCK, "does not reach"},
    {"two barriers",
     KERNEL("setp.gt.u32 %p1, %t, 31; @%p1 bra D; bar.sync 0; bra E; D: bar.sync 0; E:"),
     FINDING_DIVERGENT_BARRIER, DEVICE_OK, "PTX allows that and they go on"},
    {"too few threads", KERNEL("bar.sync 1, 96;"), FINDING_DEADLOCK, DEVICE_DEADLOCK,
     "which expects 96"},
    {"endless loop", KERNEL("L: bra L;"), FINDING_ENDLESS_LOOP, DEVICE_TIMEOUT, "without end"},
    {"trap", KERNEL("setp.eq.u32 %p1, %t, 9; @%p1 trap;"), FINDING_TRAP, DEVICE_TRAP, "trap"},
    {"unsupported", KERNEL("tcgen05.fence::after_thread_sync;"), FINDING_UNSUPPORTED,
     DEVICE_UNSUPPORTED, "tcgen05.fence"},
    {"no opcode, though an operation of the device's",
     KERNEL(".reg .f32 %f<2>; saturate.f32 %f1, %f1;"), FINDING_UNSUPPORTED, DEVICE_UNSUPPORTED,
     "saturate.f32"},
};

#ifndef TEST_PROGRAM /* a device in another process lends to that process alone */
START_TEST(what_nobody_used_is_not_freed)
{
    device_address large, out;
    ck_assert_int_eq(device_lend(d, 1 << 20, &large), DEVICE_OK);
    ck_assert_int_eq(device_free_unused(d, large), DEVICE_OK);
    ck_assert_int_eq(device_lend(d, 512, &out), DEVICE_OK);
    ck_assert_uint_eq(out, large);
    outcome o = run_on(out, KERNEL("st.global.u32 [%a+512], %t;"), 64);
    ck_assert_int_eq(o.first.kind, FINDING_OUT_OF_BOUNDS);
    ck_assert_msg(strstr(o.first.text, "just past the end of a 512-byte"), "%s", o.first.text);
}
END_TEST
#endif

START_TEST(defects_are_named)
{
    outcome o = run(defects[_i].ptx, 64);
    const char *name = defects[_i].name;
    ck_assert_msg(o.status == defects[_i].status, "%s: status %d, %s", name, o.status,
                  device_error(d));
    if (defects[_i].kind == NOTHING) {
        ck_assert_msg(o.findings == 0, "%s: %s", name, o.first.text);
        return;
    }
    ck_assert_msg(o.findings > 0, "%s: nothing found", name);
    ck_assert_msg((int)o.first.kind == defects[_i].kind, "%s: %s", name, o.first.text);
    ck_assert_msg(strstr(o.first.text, defects[_i].text) != NULL, "%s: %s", name, o.first.text);
    ck_assert_str_eq(o.first.kernel, "kernel");
}
END_TEST

/* Line 10 writes, 13 reads what others write; nothing orders this read and the next write. */
#define ROUNDS(barrier)                                                                            \
    KERNEL(TILE OTHER ".loc 1 10 0\n st.shared.u32 [%r2], %t;\n"                                   \
                      ".loc 1 " barrier " 0\n bar.sync 0; setp.lt.u32 %p1, %t, 32;\n"              \
                      ".loc 1 13 0\n @%p1 ld.shared.u32 %r1, [%r4];\n"                             \
                      ".loc 1 10 0\n @!%p1 st.shared.u32 [%r2], 7;\n")                             \
    ".file 1 \"rounds.cu\"\n"

static const struct {
    const char *ptx;
    device_cause cause;
} causes[] = {
    {ROUNDS("12"), CAUSE_NO_BARRIER_TO_WRITE}, /* between write and read */
    {ROUNDS("14"), CAUSE_NO_BARRIER_TO_READ},  /* at the end of the round before */
    {KERNEL("st.global.u32 [%a+512], %t;"), CAUSE_PAST_END},
    {KERNEL(TILE "st.shared.u32 [%r2+4], %t;"), CAUSE_PAST_END},
    {KERNEL("st.global.u32 [%a+-4], %t;"), CAUSE_NONE},
    {KERNEL("ld.global.u32 %r1, [%a+-4];" STORE_R1), CAUSE_READ_OUTSIDE},
    {KERNEL("ld.global.u32 %r1, [%a+512];" STORE_R1), CAUSE_READ_OUTSIDE},
    {KERNEL("st.shared.u32 [tile], %t;"), CAUSE_ONE_PLACE},
    {KERNEL("st.global.u32 [%out], %t;"), CAUSE_ONE_PLACE},
    {KERNEL(TILE NEIGHBOUR "st.shared.u32 [%r2], %t; ld.shared.u32 %r1, [%r4];" STORE_R1),
     CAUSE_NO_BARRIER_TO_READ},
    {KERNEL("st.global.u32 [%a], %t; ld.global.u32 %r1, [%out]; st.global.u32 [%a], %r1;"),
     CAUSE_NO_BARRIER_TO_READ},
    {KERNEL(TILE OTHER "st.shared.u32 [%r2], %t; bar.sync 0; setp.lt.u32 %p1, %t, 32; "
                       "@%p1 ld.shared.u32 %r1, [%r4]; @!%p1 st.shared.u32 [%r2], 7;"),
     CAUSE_NO_BARRIER_TO_WRITE},
    {KERNEL(TILE "ld.shared.u32 %r1, [%r2];" STORE_R1), CAUSE_UNWRITTEN_SHARED},
    {KERNEL(TILE OTHER "setp.lt.u32 %p1, %t, 32; @!%p1 ret; st.shared.u32 [%r2], %t; bar.sync 0;"
                       "ld.shared.u32 %r1, [%r4];" STORE_R1),
     CAUSE_RETURNED},
};

START_TEST(causes_are_told)
{
    outcome o = run(causes[_i].ptx, 64);
    ck_assert_msg(o.findings > 0, "%d: nothing found", _i);
    ck_assert_msg(o.first.cause == causes[_i].cause, "%d: %s", _i, o.first.text);
}
END_TEST

START_TEST(uninitialised_global_memory)
{
    uint32_t module = load(KERNEL("ld.global.u32 %r1, [%a]; st.global.u32 [%a+256], %r1;")),
             function;
    device_address out;
    ck_assert_int_eq(device_function(d, module, "_Z6kernelPi", &function), DEVICE_OK);
    ck_assert_int_eq(device_alloc(d, 512, &out), DEVICE_OK);
    ck_assert_int_eq(device_fill(d, out, 0, 1, 128), DEVICE_OK);
    device_launch_request r = {function, {1, 1, 1}, {64, 1, 1}, 0, &out, 8, 0, {0}};
    device_finding f;
    ck_assert_int_eq(device_launch(d, &r), DEVICE_OK);
    ck_assert_int_eq(device_take_finding(d, &f), 1);
    ck_assert_int_eq(f.kind, FINDING_UNINITIALISED);
    ck_assert_int_eq(f.cause, CAUSE_UNWRITTEN);
    ck_assert_uint_eq(f.count, 32);
    ck_assert_uint_eq(f.thread[0], 32);
    ck_assert_int_eq(device_fill(d, out, 0, 1, 512), DEVICE_OK);
    ck_assert_int_eq(device_launch(d, &r), DEVICE_OK);
    ck_assert_int_eq(device_take_finding(d, &f), 0);
    ck_assert_int_eq(device_forget(d, out, 4), DEVICE_OK);
    ck_assert_int_eq(device_launch(d, &r), DEVICE_OK);
    ck_assert_int_eq(device_take_finding(d, &f), 1);
    ck_assert_uint_eq(f.count, 1);
}
END_TEST

START_TEST(bad_launches_are_refused)
{
    uint32_t module = load(KERNEL("")), function;
    device_address out = 0;
    ck_assert_int_eq(device_function(d, module, "_Z6kernelPi", &function), DEVICE_OK);
    device_launch_request good = {function, {1, 1, 1}, {32, 1, 1}, 0, &out, 8, 0, {0}}, r;
    ck_assert_int_eq(device_launch(d, &good), DEVICE_OK);
    r = good, r.grid[1] = 0;
    ck_assert_int_eq(device_launch(d, &r), DEVICE_BAD_LAUNCH);
    r = good, r.block[0] = 1025;
    ck_assert_int_eq(device_launch(d, &r), DEVICE_BAD_LAUNCH);
    r = good, r.block[1] = 33;
    ck_assert_int_eq(device_launch(d, &r), DEVICE_BAD_LAUNCH);
    r = good, r.dynamic_shared_bytes = 300 * 1024;
    ck_assert_int_eq(device_launch(d, &r), DEVICE_BAD_LAUNCH);
    r = good, r.param_bytes = 4;
    ck_assert_int_eq(device_launch(d, &r), DEVICE_BAD_LAUNCH);
    r = good, r.function = 12345;
    ck_assert_int_eq(device_launch(d, &r), DEVICE_NOT_FOUND);
}
END_TEST

static Suite *device_suite(void)
{
    Suite *suite = suite_create("device");
    TCase *memory = tcase_create("memory"), *modules = tcase_create("modules");
    TCase *kernels = tcase_create("kernels"), *findings = tcase_create("findings");
    TCase *cases[] = {memory, modules, kernels, findings};
    tcase_add_test(memory, allocations_are_found_and_freed);
    tcase_add_test(memory, memory_is_limited);
    tcase_add_test(memory, allocations_never_overlap);
    tcase_add_test(memory, copies_stay_inside_one_allocation);
    tcase_add_test(modules, bad_modules_are_refused);
    tcase_add_test(modules, symbols_have_their_initial_values);
    tcase_add_loop_test(kernels, kernels_compute, 0, sizeof values / sizeof *values);
    tcase_add_test(kernels, functions_recurse);
    tcase_add_test(kernels, bad_launches_are_refused);
#ifndef TEST_PROGRAM
    tcase_add_test(kernels, a_seed_decides_the_order_of_warps);
#endif
    tcase_add_loop_test(findings, defects_are_named, 0, sizeof defects / sizeof *defects);
    tcase_add_loop_test(findings, causes_are_told, 0, sizeof causes / sizeof *causes);
#ifndef TEST_PROGRAM
    tcase_add_test(findings, what_nobody_used_is_not_freed);
#endif
    tcase_add_test(findings, uninitialised_global_memory);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tcase_add_checked_fixture(cases[i], open_device, close_device);
        tcase_set_timeout(cases[i], 120);
        suite_add_tcase(suite, cases[i]);
    }
    return suite;
}

Suite *order_suite(void); /* test_order.c */
Suite *trace_suite(void); /* test_trace.c */
Suite *more_suite(void);  /* test_counts.c, test_remote.c */

int main(void)
{
    SRunner *runner = srunner_create(device_suite());
    srunner_add_suite(runner, order_suite());
    srunner_add_suite(runner, trace_suite());
    srunner_add_suite(runner, more_suite());
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}

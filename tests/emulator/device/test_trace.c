/*
 * test_trace.c: what a traced block has done, word for word: addresses, masks, the order of warps
 * and barriers. Kernels in PTX, through device.h. Part of build/test_device.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/device.h"

Suite *trace_suite(void);

static device *d;
static char path[] = "/tmp/trace.XXXXXX";
static device_address memory;

static void open_traced(const char *block, uint32_t checks)
{
    device_options options = {.memory_bytes = 64 << 20, .threads = 2, .checks = checks};
    strcpy(path, "/tmp/trace.XXXXXX");
    close(mkstemp(path));
    setenv("SOFTGPU_TRACE", path, 1);
    setenv("SOFTGPU_TRACE_BLOCK", block, 1);
    d = device_open(&options);
    unsetenv("SOFTGPU_TRACE");
    unsetenv("SOFTGPU_TRACE_BLOCK");
    ck_assert_ptr_nonnull(d);
    ck_assert_int_eq(device_alloc(d, 4096, &memory), DEVICE_OK);
    ck_assert_int_eq(device_fill(d, memory, 0, 4, 1024), DEVICE_OK);
}

/* In front of each kernel: %r1 is the thread, %rd2 its word of memory, %r2 its word of s. */
#define HEAD                                                                                       \
    ".version 8.0\n.target sm_80\n.address_size 64\n"                                              \
    ".visible .entry k(.param .u64 p)\n{\n"                                                        \
    ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %q<3>;\n.shared .align 4 .b8 s[512];\n"         \
    "mov.u32 %r1, %tid.x;\nld.param.u64 %rd1, [p];\nmul.wide.u32 %rd2, %r1, 4;\n"                  \
    "add.s64 %rd2, %rd1, %rd2;\nmov.u32 %r3, s;\nshl.b32 %r2, %r1, 2;\nadd.u32 %r2, %r3, %r2;\n"
#define FIRST 7 /* number of the first instruction behind it */

static device_status launch(const char *text, uint32_t grid, uint32_t threads)
{
    char ptx[4096];
    uint32_t module, function;
    snprintf(ptx, sizeof ptx, "%s%s\nret;\n}\n", HEAD, text);
    ck_assert_msg(device_load(d, ptx, strlen(ptx), &module) == DEVICE_OK, "%s", device_error(d));
    ck_assert_int_eq(device_function(d, module, "k", &function), DEVICE_OK);
    device_launch_request r = {.function = function,
                               .grid = {grid, 1, 1},
                               .block = {threads, 1, 1},
                               .params = &memory,
                               .param_bytes = 8};
    return device_launch(d, &r);
}

/* All that was written; the device is closed. */
static const char *written(void)
{
    static char text[4 << 20];
    device_close(d);
    FILE *file = fopen(path, "r");
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    unlink(path);
    return text;
}

/* The steps behind HEAD's, one a line; ACCESS in addresses from the allocation on. */
static const char *steps_of(const char *trace)
{
    static char steps[1 << 16];
    size_t n = 0;
    int warp, number, mask, at;
    const char *line = strstr(trace, "\"steps\":[");
    ck_assert_ptr_nonnull(line);
    line += strlen("\"steps\":[");
    for (; *line == '['; line += strcspn(line, "\n") + 1) {
        size_t length = strcspn(line, "\n");
        sscanf(line, "[%d,%d,%d%n", &warp, &number, &mask, &at);
        if (warp >= 0 && number < FIRST) continue;
        if (warp >= 0) number -= FIRST;
        n += (size_t)snprintf(steps + n, sizeof steps - n, "%d %d %x%.*s\n", warp, number,
                              (unsigned)mask, (int)length - at, line + at);
        if (strstr(line, "\n") == NULL || line[length - 1] != ',') break;
    }
    char *end = strstr(steps, "],\"left_out\"");
    if (end) strcpy(end, "\n");
    return steps;
}

/** What a block of 64 threads writes down of a kernel: warp, instruction, mask, accesses. */
static const struct {
    const char *text, *steps;
} kernels[] = {
    /* Neighbours; then a column of 32 words, a broadcast. The base of the memory is 0. */
    {"ld.global.u32 %r4, [%rd2];\n"
     "mul.wide.u32 %rd3, %r1, 16;\nadd.s64 %rd3, %rd1, %rd3;\nst.global.u32 [%rd3], %r1;\n"
     "ld.global.u32 %r4, [%rd1+8];\n",
     "0 0 ffffffff,[1,4,-1,4,0,4]],\n0 1 ffffffff],\n0 2 ffffffff],\n"
     "0 3 ffffffff,[2,4,-1,16,0,16]],\n0 4 ffffffff,[1,4,-1,1,8,0]],\n0 5 ffffffff],\n"
     "1 0 ffffffff,[1,4,-1,4,0,4]],\n1 1 ffffffff],\n1 2 ffffffff],\n"
     "1 3 ffffffff,[2,4,-1,16,0,16]],\n1 4 ffffffff,[1,4,-1,1,8,0]],\n1 5 ffffffff]\n"},
    /* Shared memory: a row each, the barrier, the words of all in the reverse order. */
    {"st.shared.u32 [%r2], %r1;\nbar.sync 0;\nsub.u32 %r4, 252, %r2;\nld.shared.u32 %r5, [%r4];\n",
     "0 0 ffffffff,[7,4,-1,1,0,4]],\n0 1 ffffffff],\n"
     "1 0 ffffffff,[7,4,-1,1,0,4]],\n1 1 ffffffff],\n-1 0 3],\n"
     "0 2 ffffffff],\n0 3 ffffffff,[6,4,-1,1,252,-4]],\n0 4 ffffffff],\n"
     "1 2 ffffffff],\n1 3 ffffffff,[6,4,-1,1,252,-4]],\n1 4 ffffffff]\n"},
    /* An asynchronous copy: it reads global memory and will write shared memory. */
    {"cp.async.ca.shared.global [%r2], [%rd2], 4;\n",
     "0 0 ffffffff,[1,4,-1,4,0,4],[9,4,-1,0,0,4]],\n0 1 ffffffff],\n"
     "1 0 ffffffff,[1,4,-1,4,0,4],[9,4,-1,0,128,4]],\n1 1 ffffffff]\n"},
    /* A branch: threads 40 and above add; of the first warp none, of the second 24 lanes. */
    {"setp.lt.u32 %q1, %r1, 40;\n@%q1 bra over;\nadd.u32 %r4, %r1, %r1;\nover:\n"
     "@%q1 st.shared.u32 [%r2], %r1;\n",
     "0 0 ffffffff],\n0 1 ffffffff],\n0 3 ffffffff,[7,4,-1,1,0,4]],\n0 4 ffffffff],\n"
     "1 0 ffffffff],\n1 1 ffffffff],\n1 2 ffffff00],\n1 3 ff,[7,4,255,1,0,4]],\n1 4 ffffffff]\n"},
    /* Scattered: lane i wants word i * i mod 16, of which there are four. */
    {"mul.lo.u32 %r4, %r1, %r1;\nand.b32 %r4, %r4, 15;\nshl.b32 %r4, %r4, 2;\n"
     "setp.lt.u32 %q1, %r1, 5;\n@%q1 st.shared.u32 [%r4], 1;\n",
     "0 0 ffffffff],\n0 1 ffffffff],\n0 2 ffffffff],\n0 3 ffffffff],\n"
     "0 4 1f,[7,4,31,1,[0,4,16,36,0]]],\n0 5 ffffffff],\n"
     "1 0 ffffffff],\n1 1 ffffffff],\n1 2 ffffffff],\n1 3 ffffffff],\n1 4 0],\n1 5 ffffffff]\n"},    /* A bulk copy, asked for in step 12, lands in the step that waits for phase 0 of the mbarrier. */
    {"setp.ne.u32 %q1, %r1, 0;\n@%q1 bra over;\nmbarrier.init.shared.b64 [%r3+64], 1;\n"
     "mbarrier.arrive.expect_tx.shared.b64 %rd4, [%r3+64], 32;\nadd.u32 %r5, %r3, 64;\n"
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 32, [%r5];\n"
     "again:\nmbarrier.try_wait.parity.shared.b64 %q2, [%r3+64], 0;\n@!%q2 bra again;\nover:\n",
     "0 0 ffffffff],\n0 1 ffffffff],\n0 2 1],\n0 3 1,[10,8,1,0,64,0]],\n0 4 1],\n0 5 1],\n"
     "0 6 1,[13,32,12,0,0,64,0,0],[12,8,1,0,64,0]],\n0 7 1],\n0 8 ffffffff],\n"
     "1 0 ffffffff],\n1 1 ffffffff],\n1 8 ffffffff]\n"},
};

/* Of addresses in global memory what they are beyond the allocation; of the second warp's, and of
 * shared memory's, what they are beyond where its lane 0 would be. */
static void rebase(char *steps)
{
    char copy[1 << 16], *to = steps;
    strcpy(copy, steps);
    for (char *line = strtok(copy, "\n"); line; line = strtok(NULL, "\n")) {
        int kind, bytes, mask, units, at, end, warp = atoi(line);
        long long base, step;
        const char *access = strchr(line, '[');
        if (access && sscanf(access, "[%d,%d,%d,%d,%n%lld,%lld%n", &kind, &bytes, &mask, &units,
                             &at, &base, &step, &end) == 6) {
            if (kind <= 3) base -= (long long)(memory - DEVICE_BASE);
            if (warp == 1) base -= 32 * step;
            to += sprintf(to, "%.*s%lld,%lld%s\n", (int)(access - line) + at, line, base, step,
                          access + end);
        } else {
            to += sprintf(to, "%s\n", line);
        }
    }
}

START_TEST(a_block_is_written_down_exactly)
{
    open_traced("1,0,0", DEVICE_CHECK_NONE);
    ck_assert_int_eq(launch(kernels[_i].text, 3, 64), DEVICE_OK);
    char *steps = (char *)steps_of(written());
    rebase(steps);
    ck_assert_str_eq(steps, kernels[_i].steps);
}
END_TEST

/* What the launch cost is of all its blocks. */
START_TEST(totals_are_of_the_whole_launch)
{
    open_traced("0,0,0", 0);
    ck_assert_int_eq(launch("st.global.u32 [%rd2], %r1;\n", 5, 64), DEVICE_OK);
    const char *trace = written();
    ck_assert_ptr_nonnull(strstr(trace, "\"kernel\":\"k\",\"id\":\"k\",\"grid\":[5,1,1],"
                                        "\"block\":[64,1,1],\"traced\":[0,0,0]"));
    ck_assert_ptr_nonnull(strstr(trace, "\"shared\":[[\"s\",0,512]],\"dynamic\":[1024,0],"));
    ck_assert_ptr_nonnull(strstr(trace, "[7,\"st.global.u32\",[\"\",0],2,10,320,10,40,1280,0,0]"));
}
END_TEST

/* Thread 32 reads what thread 0 has written: a finding, behind the step that made it. */
START_TEST(a_race_stands_where_it_happens)
{
    open_traced("0,0,0", 0);
    ck_assert_int_eq(launch("and.b32 %r4, %r2, 127;\nst.shared.u32 [%r2], %r1;\n"
                            "ld.shared.u32 %r5, [%r4];\n",
                            1, 64),
                     DEVICE_OK);
    const char *race =
        strstr(written(), "[-2,2,1,0,0,\"\",0,\"thread 32 reads what thread 0 wrote");
    ck_assert_ptr_nonnull(race);
}
END_TEST

START_TEST(only_the_first_launch_with_that_block_is_traced)
{
    open_traced("2,0,0", 0);
    for (uint32_t blocks = 1; blocks < 5; blocks++)
        ck_assert_int_eq(launch("", blocks, 32), DEVICE_OK);
    const char *trace = written();
    ck_assert_ptr_nonnull(strstr(trace, "\"grid\":[3,1,1]"));
    ck_assert_ptr_null(strstr(trace, "\"grid\":[2,1,1]"));
    ck_assert_ptr_null(strstr(trace, "\"grid\":[4,1,1]"));
}
END_TEST

#define LOOP                                                                                       \
    "mov.u32 %r4, 0;\nagain:\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %q1, %r4, 40000;\n@%q1 bra "       \
    "again;\n"

/* 7 before it, 1 + 3 * 40000 of the loop, 1 behind it. */
START_TEST(what_is_too_much_is_left_out_and_said)
{
    open_traced("0,0,0", 0);
    ck_assert_int_eq(launch(LOOP, 1, 32), DEVICE_OK);
    const char *trace = written();
    ck_assert_ptr_nonnull(strstr(trace, "],\"left_out\":20009,\"instructions\":["));
    ck_assert_ptr_nonnull(strstr(trace, "\"setp.lt.u32\",[\"\",0],0,40000,1280000,"));
}
END_TEST

START_TEST(nothing_is_written_unasked)
{
    device_options options = {.memory_bytes = 64 << 20};
    d = device_open(&options);
    ck_assert_int_eq(device_alloc(d, 4096, &memory), DEVICE_OK);
    ck_assert_int_eq(launch("", 1, 32), DEVICE_OK);
    device_counts counts;
    device_count_total(d, &counts);
    ck_assert_uint_eq(counts.launches, 0);
    device_close(d);
}
END_TEST

Suite *trace_suite(void)
{
    Suite *suite = suite_create("trace");
    TCase *tcase = tcase_create("trace");
    tcase_add_loop_test(tcase, a_block_is_written_down_exactly, 0,
                        sizeof kernels / sizeof *kernels);
    tcase_add_test(tcase, totals_are_of_the_whole_launch);
    tcase_add_test(tcase, a_race_stands_where_it_happens);
    tcase_add_test(tcase, only_the_first_launch_with_that_block_is_traced);
    tcase_add_test(tcase, what_is_too_much_is_left_out_and_said);
    tcase_add_test(tcase, nothing_is_written_unasked);
    tcase_set_timeout(tcase, 120);
    suite_add_tcase(suite, tcase);
    return suite;
}

/*
 * test_promises.c: what a contract says of the runtime's calls, held against what the worker saw
 * (promises), which calls of a case are to fail (failures), and how long a call may take. That they
 * do fail is in the corpus, in cases named "when a call fails".
 */
#include "grader/tests.h"

#include "correctness/correctness.h"
#include <stdlib.h>
#include <string.h>

static const struct {
    promise promise;
    wire_calls calls;
    const char *words; /* NULL: kept */
} rows[] = {
    {{"f", WAITS_FOR_NOTHING, 0}, {.deeds[DEED_LAUNCH] = {9, "cudaLaunchKernel"}}, NULL},
    {{"f", WAITS_FOR_NOTHING, 0},
     {.deeds[DEED_WAIT] = {1, "cudaFree"}},
     "f: it calls cudaFree; its contract says that it waits for nothing"},
    {{"f", 0, 0}, {.deeds[DEED_WAIT] = {1, "cudaFree"}}, NULL},
    {{"f", WAITS_FOR_NOTHING | WAITS_TO_FREE, 0},
     {.deeds[DEED_WAIT] = {1, "cudaDeviceSynchronize"}},
     "it calls cudaDeviceSynchronize"},
    {{"f", WAITS_FOR_NOTHING | WAITS_TO_FREE, 0},
     {.deeds[DEED_WAIT] = {1, "cudaFree"}, .deeds[DEED_FREE] = {1, "cudaFree"}},
     NULL},
    {{"f", ALLOCATES_NOTHING, 0},
     {.deeds[DEED_ALLOCATE] = {1, "cudaMallocAsync"}},
     "it calls cudaMallocAsync; its contract says that it allocates nothing"},
    {{"f", ALLOCATES_ON_ITS_STREAM, 0}, {.deeds[DEED_ALLOCATE] = {1, "cudaMallocAsync"}}, NULL},
    {{"f", ALLOCATES_ON_ITS_STREAM, 0},
     {.deeds[DEED_ALLOCATE_ELSEWHERE] = {1, "cudaMalloc"}},
     "it calls cudaMalloc; its contract says that it allocates on its stream"},
    {{"f", COPIES_NOTHING, 0},
     {.deeds[DEED_COPY] = {2, "cudaMemcpyAsync"}},
     "it calls cudaMemcpyAsync; its contract says that it copies nothing"},
    {{"f", 0, 0},
     {.deeds[DEED_ASTRAY] = {1, "cudaMemsetAsync"}},
     "it calls cudaMemsetAsync; its contract says that it works on the stream that it is given"},
    {{"f", HAS_WAITED, 0}, {.pending = 1}, "it returns without waiting for what it started"},
    {{"f", HAS_WAITED, 0}, {.pending = 0}, NULL},
    {{"f", WAITS_FOR_ALL, 0}, {.waited = 0}, "it does not wait for the device"},
    {{"f", WAITS_FOR_ALL, 0}, {.waited = 1}, NULL},
    {{"f", LEAVES_ITS_COPY, 0}, {.pending = 1}, NULL},
    {{"f", LEAVES_ITS_COPY, 0}, {.pending = 0}, "f: it waits for its copy"},
    {{"f", 0, 0}, {.deeds[DEED_LEGACY] = {1, "cudaMemcpy"}}, NULL},
    {{"f", NEVER_LEGACY, 0},
     {.deeds[DEED_LEGACY] = {1, "cudaMemcpy"}},
     "f: it calls cudaMemcpy; its contract says that it never uses the legacy stream"},
    {{"f", 0, 2}, {.deeds[DEED_LAUNCH] = {2, "cudaLaunchKernel"}}, NULL},
    {{"f", 0, 2},
     {.deeds[DEED_LAUNCH] = {3, "cudaLaunchKernel"}},
     "f: it makes 3 launches; its contract says at most 2"},
};

START_TEST(a_promise)
{
    char *words = promise_broken(&rows[_i].promise, &rows[_i].calls);
    if (rows[_i].words)
        ck_assert_msg(words && strstr(words, rows[_i].words), "%s", words ? words : "nothing");
    else
        ck_assert_msg(!words, "%s", words);
    free(words);
}
END_TEST

/* What has no row is told by its stream and its phase. */
START_TEST(without_a_row)
{
    argument with[] = {stream()};
    static const int ids[] = {112, 203, 314, CHALLENGE(4, 'c'), 505};
    static const unsigned wanted[] = {0, WAITS_FOR_NOTHING, WAITS_FOR_NOTHING, WAITS_FOR_NOTHING,
                                      0};
    const exercise e = {.id = ids[_i], .promises = {{"row", HAS_WAITED, 0}}};
    call_request r = {.function = "f", .arguments = with, .count = 1, .place = ON_SOFTGPU};
    ck_assert_uint_eq(promise_of(&e, &r).what, wanted[_i]);
    r.count = 0;
    ck_assert_uint_eq(promise_of(&e, &r).what, 0);
    r.function = "row";
    ck_assert_uint_eq(promise_of(&e, &r).what, HAS_WAITED);
}
END_TEST

static uint32_t first(case_state *s, call_request r)
{
    failure_first(s, &r);
    return r.refuse_at;
}

/* Once a function, and not where no error can be returned or nothing is left to be called. */
START_TEST(which_calls_fail)
{
    const exercise e = {.id = 203, .functions = {"f", "thing_free"}};
    case_state s = {.exercise = &e};
    call_request r = {.function = "f", .returns = WIRE_RETURN_CUDA, .place = ON_SOFTGPU};
    ck_assert_uint_eq(first(&s, r), 0);
    s.refuse_at = 1;
    r.wanted = 1;
    ck_assert_uint_eq(first(&s, r), 0);
    r.wanted = 0;
    ck_assert_uint_eq(first(&s, r), 1);
    ck_assert_uint_eq(first(&s, r), 0);
    r.function = "thing_free";
    ck_assert_uint_eq(first(&s, r), 0);
    r.function = "another";
    ck_assert_uint_eq(first(&s, r), 0);
}
END_TEST

/* A network that half a step has changed is of no use: its kernels need not run. */
START_TEST(calls_without_kernels)
{
    const exercise e = {.id = 505, .functions = {"forward"}};
    case_state s = {.exercise = &e, .refuse_at = 1};
    argument network[] = {handle(0)};
    call_request r = {.function = "forward", .returns = WIRE_RETURN_CUDA, .place = ON_SOFTGPU};
    failure_first(&s, &r);
    ck_assert(r.refuse_at == 1 && !r.without_kernels);
    s.refused = 0;
    r.arguments = network;
    r.count = 1;
    failure_first(&s, &r);
    ck_assert(r.refuse_at == 1 && r.without_kernels);
}
END_TEST

START_TEST(which_cases_run)
{
    ck_assert(failures_wanted(&(options){0}));
    ck_assert(failures_wanted(&(options){.case_name = FAILURES_CASE}));
    ck_assert(!failures_wanted(&(options){.case_name = "n=1"}));
    ck_assert(failures_wanted(&(options){.case_start = "when"}));
    ck_assert(!failures_wanted(&(options){.case_start = "n=1"}));
    ck_assert(!failures_wanted(&(options){.case_start = ""}));
    ck_assert(!failures_wanted(&(options){.metric_start = "speedup"}));
}
END_TEST

/* However busy this machine is. */
START_TEST(deadlines_wait_in_line)
{
    const options alone = {0}, hurried = {.slow = 0.1, .jobs = 4}, in_line = {.jobs = 1 << 20};
    ck_assert_double_ge(times_as_long(&alone), 1.0);
    ck_assert_double_eq(times_as_long(&hurried), 0.1);
    ck_assert_double_eq(times_as_long(&in_line), 1 << 20);
}
END_TEST

Suite *suite_promises(void)
{
    Suite *suite = suite_create("promises");
    TCase *tcase = tcase_create("promises");
    tcase_add_loop_test(tcase, a_promise, 0, sizeof rows / sizeof *rows);
    tcase_add_loop_test(tcase, without_a_row, 0, 5);
    tcase_add_test(tcase, which_calls_fail);
    tcase_add_test(tcase, calls_without_kernels);
    tcase_add_test(tcase, which_cases_run);
    tcase_add_test(tcase, deadlines_wait_in_line);
    suite_add_tcase(suite, tcase);
    return suite;
}

/*
 * test_worker.c: calls into a worker (worker_process.c, call.c) with a library of this file's own:
 * what arrives, what comes back, and what is told of a function that does what it must not.
 */
#include "grader/tests.h"

#include "call/call.h"
#include "correctness/correctness.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char source[] =
    "#include <stdio.h>\n#include <stdlib.h>\n#include <signal.h>\n"
    "#include <unistd.h>\n"
    "void twice(float *y, const float *x, int n) { for (int i = 0; i < n; i++) y[i] = 2 * x[i]; }\n"
    "void reversed(int *y, const int *x, int n) { for (int i = 0; i < n; i++) y[i] = x[n - 1 - i]; "
    "}\n"
    "void grow(float *x, float by, unsigned long long n) { while (n-- > 0) x[n] += by; }\n"
    "float third(int n) { return n / 3.0f; }\n"
    "double seventh(int n) { return n / 7.0; }\n"
    "int last_of(const char *text, unsigned long long n) { return (size_t)text % 2 * 1000 + text[n "
    "- 1]; "
    "}\n"
    "int less_one(int n) { return n - 1; }\n"
    "void *make(int n) { int *kept = malloc(sizeof *kept); *kept = n; return kept; }\n"
    "void *make_nothing(int n) { return NULL; }\n"
    "void look(int *y, const int *handle) { *y = *handle; }\n"
    "void same(int *y, const float *a, const float *b, void *none) { *y = a == b && !none; }\n"
    "void gather(float *y, float **parts, int n, double by) { for (int i = 0; i < n; i++) "
    "y[i] = by * parts[0][i] + parts[1][i]; }\n"
    "void say(void) { puts(\"a word\"); fflush(stdout); }\n"
    "void change(float *y, const float *x) { y[0] = 1; ((float *)x)[1] = 5; }\n"
    "void before(float *y, const float *x) { y[-1] = 1; }\n"
    "void after(float *y, const float *x) { y[4] = 1; }\n"
    "void leave(void) { _exit(3); }\n"
    "void end(void) { kill(getpid(), SIGKILL); }\n"
    "void end_as_killed(void) { _exit(128 + SIGKILL); }\n"
    "void hang(void) { for (;;) pause(); }\n"
    "void crash(void) { *(volatile int *)16 = 1; }\n";

static char folder[PATH_MAX], library[PATH_MAX + 16];
static const exercise nothing = {.name = "nothing"};
static options course;
static case_state state;

static void compile_library(void)
{
    char *arguments[] = {"unit_tests", "grade", NULL};
    ck_assert(options_parse(&course, 2, arguments) && sandbox_start(&course));
    snprintf(folder, sizeof folder, "%s/worker test %d", course.build, (int)getpid());
    snprintf(library, sizeof library, "%s/made.so", folder);
    make_library(folder, source);
}

static void remove_library(void)
{
    remove_tree(folder);
}

static void start(void)
{
    state = case_begin(&course, &nothing, ON_HOST, library);
    state.request.deadline = 60.0;
}

static void stop(void)
{
    case_drop_worker(&state);
}

/* What a case that does this is told, or NULL. */
static char *told(void (*run)(const char *, const long *), const char *function)
{
    return run_guarded(&state, run, function, NULL);
}

static void expect_well(void (*run)(const char *, const long *), const char *function)
{
    char *message = told(run, function);
    ck_assert_msg(!message, "%s", message);
}

static void expect_told(void (*run)(const char *, const long *), const char *function,
                        const char *words)
{
    char *message = told(run, function);
    ck_assert_msg(message && strstr(message, words), "%s", message ? message : "nothing");
    free(message);
}

/* ---- what goes there and back ---------------------------------------------------------------- */

static void call_twice(const char *function, const long *shape)
{
    float x[] = {1, -2, 3.5f}, y[3];
    (void)shape;
    call_void(function, ARGS(out_f32("y", y, 3), in_f32("x", x, 3), i32(3)));
    expect(y[0] == 2 && y[1] == -4 && y[2] == 7, "%g %g %g", y[0], y[1], y[2]);
}

static void call_reversed(const char *function, const long *shape)
{
    int x[] = {1, 2, -3}, y[3];
    (void)shape;
    call_void(function, ARGS(out_i32("y", y, 3), in_i32("x", x, 3), i32(3)));
    expect(y[0] == -3 && y[1] == 2 && y[2] == 1, "%d %d %d", y[0], y[1], y[2]);
}

static void call_grow(const char *function, const long *shape)
{
    float x[] = {1, 2, 3};
    (void)shape;
    call_void(function, ARGS(shifted(inout_f32("x", x, 3), 4), f32(0.5f), u64(2)));
    expect(x[0] == 1.5f && x[1] == 2.5f && x[2] == 3, "%g %g %g", x[0], x[1], x[2]);
}

static void call_for_numbers(const char *function, const long *shape)
{
    (void)function, (void)shape;
    const float a = call_returning_f32("third", ARGS(i32(2)));
    const double b = call_returning_f64("seventh", ARGS(i32(-2)));
    expect(a == 2 / 3.0f && b == -2 / 7.0, "%g %g", a, b);
    const int c =
        call_returning_i32("last_of", ARGS(shifted(in_bytes("text", "abc", 3), 1), u64(3)));
    expect(c == 1000 + 'c', "%d", c);
    const int d = call_returning_i32("last_of", ARGS(in_bytes("text", "\x80", 1), u64(1)));
    expect(d % 1000 == (char)0x80, "%d", d);
}

static void call_with_handle(const char *function, const long *shape)
{
    int y = 0;
    (void)function, (void)shape;
    call_returning_handle(3, "make", ARGS(i32(42)));
    call_returning_handle(4, "make", ARGS(i32(43)));
    call_void("look", ARGS(out_i32("y", &y, 1), handle(3)));
    expect(y == 42, "%d", y);
}

static void call_same(const char *function, const long *shape)
{
    int y;
    float x[4] = {0};
    (void)shape;
    call_void(function, ARGS(out_i32("y", &y, 1), in_f32("x", x, 4), same_as(1), null_pointer()));
    expect(y == 1, "%d", y);
}

static void call_gather(const char *function, const long *shape)
{
    float a[] = {1, 2, 3}, b[] = {10, 20, 30}, y[3];
    (void)shape;
    call_void(function,
              ARGS(out_f32("y", y, 3), addresses("parts", (unsigned long long[]){5, 4}, 2), i32(3),
                   f64(0.5), beside(in_f32("a", a, 3)), beside(in_f32("b", b, 3))));
    expect(y[0] == 6 && y[1] == 12 && y[2] == 18, "%g %g %g", y[0], y[1], y[2]);
}

static void call_before_and_after(const char *function, const long *shape)
{
    int x[] = {1, 2, -3}, y[3];
    (void)shape;
    state.request.timed = true;
    call_aside("less_one", ARGS(i32(1)));
    call_void(function, ARGS(out_i32("y", y, 3), in_i32("x", x, 3), i32(3)));
    const double seconds = call_seconds(), wall = call_wall_seconds();
    call_aside("less_one", ARGS(i32(1)));
    expect(state.request.timed && seconds > 0 && call_seconds() == seconds &&
               call_wall_seconds() == wall,
           "%.9f s became %.9f s", seconds, call_seconds());
    call_aside("less_one", ARGS(i32(2)));
}

START_TEST(calls_aside_change_no_time)
{
    expect_told(call_before_and_after, "reversed", "it returned");
}
END_TEST

START_TEST(arguments_arrive_and_results_return)
{
    expect_well(call_twice, "twice");
    expect_well(call_reversed, "reversed");
    expect_well(call_grow, "grow");
    expect_well(call_for_numbers, NULL);
    expect_well(call_with_handle, NULL);
    expect_well(call_same, "same");
    expect_well(call_gather, "gather");
}
END_TEST

START_TEST(addresses_and_guards_change_nothing)
{
    state.request.relocate = true;
    expect_well(call_twice, "twice");
    state.request.against_guard = true;
    expect_well(call_twice, "twice");
    state.request.timed = true;
    expect_well(call_twice, "twice");
    ck_assert(call_seconds() > 0 && call_seconds() < 5);
}
END_TEST

static void call_say(const char *function, const long *shape)
{
    (void)shape;
    call_void(function, NULL, 0);
    expect(strcmp(call_output(), "a word\n") == 0, "it printed \"%s\"", call_output());
}

START_TEST(what_is_printed_is_kept_of_the_last_call)
{
    expect_well(call_say, "say");
    expect_well(call_say, "say");
}
END_TEST

/* ---- what must not be ------------------------------------------------------------------------ */

static void call_four(const char *function, const long *shape)
{
    float x[4] = {0}, y[4] = {0};
    (void)shape;
    call_void(function, ARGS(inout_f32("y", y, 4), in_f32("x", x, 4)));
}

static void call_plain(const char *function, const long *shape)
{
    (void)shape;
    call_void(function, NULL, 0);
}

static void call_make_nothing(const char *function, const long *shape)
{
    (void)shape;
    call_returning_handle(0, function, ARGS(i32(1)));
}

static const struct {
    void (*run)(const char *, const long *);
    const char *function, *words;
} wrong[] = {
    {call_four, "change", "changed its input `x`"},
    {call_four, "before", "wrote outside of `y`: 1 bytes before its start"},
    {call_four, "after", "wrote outside of `y`: 0 bytes past its end"},
    {call_plain, "no_such", "does not define no_such"},
    {call_plain, "leave", "status 3"},
    {call_plain, "crash", "crash"},
    {call_make_nothing, "make_nothing", "make_nothing returned NULL"},
};

START_TEST(what_must_not_be_is_told)
{
    expect_told(wrong[_i].run, wrong[_i].function, wrong[_i].words);
    ck_assert(!state.dead);
    expect_well(call_twice, "twice"); /* in a new worker, if need be */
}
END_TEST

START_TEST(a_deadline_is_the_end)
{
    state.request.deadline = 0.2;
    expect_told(call_plain, "hang", "did not return within 0 s");
    ck_assert(state.dead);
    ck_assert_ptr_null(state.worker);
}
END_TEST

START_TEST(an_end_of_its_own_is_a_failure)
{
    expect_told(call_plain, "leave", "status 3");
    ck_assert(!state.interrupted);
    expect_told(call_plain, "end", "signal 9"); /* it can do that itself */
    expect_told(call_plain, "end_as_killed", "9");
    ck_assert(!state.interrupted);
}
END_TEST

static void count_oom_kills(const char *path, int kills)
{
    FILE *file = fopen(path, "w");
    ck_assert(file && fprintf(file, "oom_killer 7\noom_kill %d\n", kills) > 0 && !fclose(file));
}

START_TEST(an_end_for_want_of_memory_is_no_verdict)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/vmstat", folder);
    oom_counter = path;
    count_oom_kills(path, 3);
    expect_well(call_twice, "twice");
    count_oom_kills(path, 4);
    expect_told(call_plain, "end", "signal 9");
    ck_assert(state.interrupted && state.dead);
}
END_TEST

START_TEST(a_library_that_cannot_be_loaded)
{
    bool killed;
    char why[512] = "";
    ck_assert_ptr_null(worker_start(&course, ON_HOST, "/no/such/library.so", &killed, why));
    ck_assert_msg(strstr(why, "no/such/library.so") != NULL, "%s", why);
    const options no_worker = {.build = "/no/such/build"};
    ck_assert_ptr_null(worker_start(&no_worker, ON_HOST, library, &killed, why));
    ck_assert_str_ne(why, "");
    worker_stop(NULL);
}
END_TEST

START_TEST(memory_only_grows)
{
    bool killed;
    char why[512];
    worker *w = worker_start(&course, ON_HOST, library, &killed, why);
    unsigned char *first = worker_memory(w, 5000);
    ck_assert_ptr_nonnull(first);
    first[4999] = 7;
    ck_assert_ptr_eq(worker_memory(w, 100), first);
    unsigned char *more = worker_memory(w, 10 << 20);
    ck_assert_int_eq(more[4999], 7);
    more[(10 << 20) - 1] = 1;
    ck_assert_ptr_null(worker_memory(w, (size_t)1 << 62));
    worker_stop(w);
}
END_TEST

Suite *suite_worker(void)
{
    Suite *suite = suite_create("worker");
    TCase *tcase = tcase_create("worker");
    tcase_add_unchecked_fixture(tcase, compile_library, remove_library);
    tcase_add_checked_fixture(tcase, start, stop);
    tcase_add_test(tcase, arguments_arrive_and_results_return);
    tcase_add_test(tcase, calls_aside_change_no_time);
    tcase_add_test(tcase, addresses_and_guards_change_nothing);
    tcase_add_test(tcase, what_is_printed_is_kept_of_the_last_call);
    tcase_add_loop_test(tcase, what_must_not_be_is_told, 0, sizeof wrong / sizeof *wrong);
    tcase_add_test(tcase, a_deadline_is_the_end);
    tcase_add_test(tcase, an_end_of_its_own_is_a_failure);
    tcase_add_test(tcase, an_end_for_want_of_memory_is_no_verdict);
    tcase_add_test(tcase, a_library_that_cannot_be_loaded);
    tcase_add_test(tcase, memory_only_grows);
    suite_add_tcase(suite, tcase);
    return suite;
}

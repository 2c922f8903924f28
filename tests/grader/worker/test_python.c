/*
 * test_python.c: an exercise in Python, from its file to its verdict: arrays and numbers that go
 * there and back, exceptions, and that it reaches no more than a library would.
 */
#include "grader/tests.h"

#include "verdict/verdict.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_NAME "phase2_cuda_basics/216_made.py"

static options course;
static char folder[PATH_MAX], path[PATH_MAX + 64], secret[PATH_MAX + 64];

/* ---- the cases of an exercise ---------------------------------------------------------------- */

static void check_scaled(const long *shape)
{
    const size_t n = (size_t)shape[0];
    const float *x = random_f32(n);
    float *y = f32_array(n);
    int *order = i32_array(n);
    call_void("scaled", ARGS(out_f32("y", y, n), out_i32("order", order, n), in_f32("x", x, n),
                             f32(0.5f), u64(n), null_pointer()));
    for (size_t i = 0; i < n; i++) {
        expect(y[i] == 0.5f * x[i], "y[%zu] is %g, not %g", i, y[i], 0.5f * x[i]);
        expect(order[i] == (int)(n - 1 - i), "order[%zu] is %d", i, order[i]);
    }
}

static void check_numbers(const long *shape)
{
    const size_t n = (size_t)shape[0];
    const float *x = random_f32(n);
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) sum += x[i];
    expect_near("the sum", call_returning_f64("total", ARGS(in_f32("x", x, n))), sum, 1e-9);
    const int bytes = call_returning_i32("length", ARGS(in_bytes("text", "a word", 6)));
    expect(bytes == 6, "%d bytes", bytes);
    expect(strcmp(call_output(), "a word\n") == 0, "it printed \"%s\"", call_output());
}

static const grading_case cases[] = {{.name = "scaled 0", .run = check_scaled},
                                     {.name = "scaled 1000", .run = check_scaled, .shape = {1000}},
                                     {.name = "numbers", .run = check_numbers, .shape = {77}},
                                     {0}};
static const exercise made = {.id = 216,
                              .name = "made",
                              .file = FILE_NAME,
                              .functions = {"scaled", "total", "length"},
                              .points = 10,
                              .cases = cases};

static const exercise calling = {.file = FILE_NAME, .prerequisites = {211}};

#define GOOD                                                                                       \
    "import numpy\n"                                                                               \
    "def total(x):\n    return x.sum(dtype=numpy.float64)\n"                                       \
    "def length(text):\n    print(text.tobytes().decode())\n    return len(text)\n"
#define SCALED "def scaled(y, order, x, by, n, none):\n"
#define RIGHT  "    y[:] = numpy.multiply(x, by)\n    order[:] = numpy.arange(n)[::-1]\n"

static void make_folder(void)
{
    char *arguments[] = {"unit_tests", "grade", NULL};
    ck_assert(options_parse(&course, 2, arguments) && sandbox_start(&course));
    snprintf(folder, sizeof folder, "%s/python test %d", course.build, (int)getpid());
    snprintf(path, sizeof path, "%s/" FILE_NAME, folder);
    snprintf(secret, sizeof secret, "%s/grader/main.c", course.root);
    make_folders_of(path);
}

static void remove_folder(void)
{
    remove_tree(folder);
}

/* @return the verdict on a file; the caller frees it */
static exercise_result verdict_on(const char *source)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, source, secret); /* where it asks for it */
    fclose(file);
    build b = {.exercise = &made,
               .root = folder,
               .file = FILE_NAME,
               .place = exercise_place(&made, BACKEND_CUDA)};
    build_all(&course, (build *[]){&b}, 1);
    exercise_result r = judge(&course, &b, NULL, &(device_facts){.name = "none"});
    free(b.log);
    return r;
}

START_TEST(arrays_and_numbers_go_there_and_back)
{
    exercise_result r = verdict_on(GOOD SCALED RIGHT);
    ck_assert_int_eq(r.place, ON_PYTHON);
    ck_assert_msg(r.status == PASSED, "%s", r.reason);
    ck_assert_double_eq(r.points, 10);
    exercise_result_free(&r);
}
END_TEST

static const struct {
    const char *source, *reason, *needs;
} wrong[] = {
    {GOOD SCALED RIGHT "    y[3:4] = 1\n", "scaled 1000: y[3] is 1", ""},
    {GOOD SCALED "    raise ValueError('of mine')\n", "raised ValueError: of mine (216_made.py:8)",
     ""},
    {GOOD SCALED "    y[:] = numpy.zeros(3)\n", "raised ValueError: could not broadcast", ""},
    {GOOD SCALED "    raise NotImplementedError\n", "scaled is not implemented yet", ""},
    {GOOD SCALED RIGHT "    x[5:6] = 1\n", "changed its input `x`", ""},
    {GOOD SCALED "    sys.exit(0)\n", "raised NameError: name 'sys' is not defined", ""},
    {GOOD SCALED "    raise SystemExit(0)\n", "raised SystemExit: 0", ""},
    {GOOD SCALED "    import os; os._exit(0)\n", "exited with status 0", ""},
    {GOOD SCALED "    import ctypes; ctypes.string_at(0)\n", "segmentation fault", ""},
    {GOOD SCALED "    return 1 +\n", "cannot load it: SyntaxError: invalid syntax (216_made.py:8)",
     ""},
    {GOOD "import nonsense\n", "cannot load it: ModuleNotFoundError: No module named 'nonsense'",
     ""},
    {GOOD, "the file does not define scaled", ""},
    {GOOD SCALED RIGHT "def total(x):\n    return None\n", "total raised TypeError", ""},
    {GOOD "import threading, time\n" SCALED RIGHT
          "    threading.Thread(target=lambda: time.sleep(9), daemon=True).start()\n",
     "left 1 thread running", ""},
    {GOOD SCALED "    open('%s')\n", "Error: [Errno", "files"},
    {GOOD SCALED "    import os; os.fork()\n", "Error: [Errno", "seccomp"},
    {GOOD SCALED "    import socket; socket.socket()\n", "PermissionError: [Errno 1]", "seccomp"},
    {GOOD SCALED "    import subprocess; subprocess.run(['true'])\n", "Error: [Errno", "seccomp"},
};

START_TEST(what_is_wrong_is_told)
{
    const layers on = sandbox_layers();
    const char *needs = wrong[_i].needs;
    if ((*needs == 'f' && !on.files) || (*needs == 's' && !on.seccomp)) return;
    exercise_result r = verdict_on(wrong[_i].source);
    ck_assert_msg(strstr(r.reason, wrong[_i].reason) != NULL, "%s: %s", wrong[_i].reason, r.reason);
    ck_assert_double_eq(r.points, 0);
    exercise_result_free(&r);
}
END_TEST

START_TEST(without_numpy_it_is_skipped)
{
    setenv("PYTHON", "/no/such/python", 1);
    ck_assert_str_eq(place_needs(&course, ON_PYTHON), "python3 with NumPy");
    if (place_needs(&course, ON_SOFTGPU)) return;
    ck_assert_str_eq(exercise_needs(&course, &calling, ON_SOFTGPU), "python3 with NumPy");
}
END_TEST

START_TEST(what_calls_cuda_runs_where_that_does)
{
    ck_assert_int_eq(exercise_place(&made, BACKEND_CPU), ON_PYTHON);
    ck_assert_int_eq(exercise_place(&calling, BACKEND_CPU), ON_SOFTGPU);
    ck_assert_int_eq(exercise_place(&calling, BACKEND_CUDA), ON_GPU);
}
END_TEST

Suite *suite_python(void)
{
    Suite *suite = suite_create("python");
    TCase *tcase = tcase_create("python"), *without = tcase_create("without python");
    tcase_add_test(without, without_numpy_it_is_skipped);
    tcase_add_test(without, what_calls_cuda_runs_where_that_does);
    suite_add_tcase(suite, without);
    const char *folder_of_build = getenv("COURSE_BUILD");
    const options here = {.build = folder_of_build ? folder_of_build : "build"};
    if (place_needs(&here, ON_PYTHON)) {
        puts("skipped python: needs python3 with NumPy");
        return suite;
    }
    tcase_add_checked_fixture(tcase, make_folder, remove_folder);
    tcase_add_test(tcase, arrays_and_numbers_go_there_and_back);
    tcase_add_loop_test(tcase, what_is_wrong_is_told, 0, sizeof wrong / sizeof *wrong);
    suite_add_tcase(suite, tcase);
    return suite;
}

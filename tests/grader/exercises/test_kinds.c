/*
 * test_kinds.c: an exercise that no student sees, with cases of every kind of argument: short
 * types, arrays of pointers, calls that must be refused, cuBLAS, several devices. On softgpu; with
 * BACKEND=cuda on a GPU, too. kinds.cu and kinds_blas.cu are its submissions.
 */
#include "grader/tests.h"

#include "build/build.h"
#include "correctness/correctness.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INVALID_VALUE = 1 }; /* of cudaError_t */
enum { RIGHT, SILENT, ANOTHER, LEFT_BEHIND, FATAL };
enum { BY_PEERS, BY_HOST, WITHOUT_WAITING };

static const exercise kinds = {.name = "kinds",
                               .file = "kinds.cu",
                               .functions = {"twice_f64", "twice_f16", "twice_bf16", "twice_e4m3",
                                             "twice_i8", "twice_but_last", "gather",
                                             "gather_and_swap", "careful"}};
static const exercise pair = {
    .name = "pair", .file = "kinds.cu", .functions = {"sum_of_two"}, .devices = 2};
static const exercise blas = {
    .name = "blas", .file = "kinds_blas.cu", .functions = {"product", "products"}, .cublas = true};
static const exercise forbidden = {
    .name = "blas", .file = "kinds_blas.cu", .functions = {"product", "products"}};

static options course;
static place where;
static char root[PATH_MAX];
static case_state state;

static void on_softgpu(void)
{
    where = ON_SOFTGPU;
}

static void on_gpu(void)
{
    where = ON_GPU;
}

/* @return false where it would be skipped */
static bool begin(const exercise *e)
{
    char *arguments[] = {"unit_tests", "grade", NULL};
    ck_assert(options_parse(&course, 2, arguments) && sandbox_start(&course));
    snprintf(root, sizeof root, "%s/tests/grader/exercises", course.root);
    return !exercise_needs(&course, e, where);
}

static build built(const exercise *e)
{
    build b = {.exercise = e, .root = root, .file = e->file, .place = where};
    build_all(&course, (build *[]){&b}, 1);
    return b;
}

/* What a case that does this is told; NULL: nothing. */
static char *told(const exercise *e, void (*run)(const char *, const long *), const char *function,
                  const long *shape)
{
    build b = built(e);
    ck_assert_msg(b.ok, "%s", b.log);
    state = case_begin(&course, e, where, b.library);
    char *message = run_guarded(&state, run, function, shape);
    char *found = case_take_found(&state);
    case_drop_worker(&state);
    if (!message && *found) message = strdup(found);
    free(found);
    free(b.log);
    return message;
}

static void expect_told(const exercise *e, void (*run)(const char *, const long *),
                        const char *function, const long *shape, const char *words)
{
    char *message = told(e, run, function, shape);
    if (words)
        ck_assert_msg(message && strstr(message, words), "%s", message ? message : "nothing");
    else
        ck_assert_msg(!message, "%s", message);
    free(message);
}

/* ---- types ----------------------------------------------------------------------------------- */

static const struct {
    const char *function;
    element_type type;
    double low, high;
} types[] = {{"twice_f64", ELEMENT_F64, -1, 1},
             {"twice_f16", ELEMENT_F16, -1, 1},
             {"twice_bf16", ELEMENT_BF16, -1, 1},
             {"twice_e4m3", ELEMENT_E4M3, 1, 100},
             {"twice_i8", ELEMENT_I8, -60, 60}};

/* shape: n, type */
static void double_all(const char *function, const long *shape)
{
    const size_t n = (size_t)shape[0];
    const element_type e = (element_type)shape[1];
    const double low = shape[2], high = shape[3];
    void *x = random_of(e, n, low, high), *y = array_of(e, n);
    double *want = f64_array(n);
    for (size_t i = 0; i < n; i++) want[i] = 2 * element_value(e, x, i);
    call_cuda(function, ARGS(out_of(e, "y", y, n), in_of(e, "x", x, n), i32((int)n), stream()));
    expect_close_of((layout){"y", 1, n}, e, y, want, NULL, 1e-12);
}

START_TEST(every_type_goes_there_and_back)
{
    if (!begin(&kinds)) return;
    const long shape[] = {501, (long)types[_i].type, (long)types[_i].low, (long)types[_i].high};
    expect_told(&kinds, double_all, types[_i].function, shape, NULL);
}
END_TEST

START_TEST(what_is_left_out_of_a_short_type_was_never_written)
{
    if (!begin(&kinds)) return;
    expect_told(&kinds, double_all, "twice_but_last", (long[]){501, ELEMENT_F16, -1, 1},
                "never written");
}
END_TEST

/* ---- arrays of pointers ---------------------------------------------------------------------- */

/* Six buffers, that of argument 5 twice. */
static void gather_all(const char *function, const long *shape)
{
    const size_t n = (size_t)shape[0];
    const unsigned long long numbers[] = {5, 7, 6, 5};
    float *x[3], *y = f32_array(n);
    double *want = f64_array(n);
    for (int k = 0; k < 3; k++) x[k] = random_f32(n);
    for (size_t i = 0; i < n; i++) want[i] = 2.0 * x[0][i] + x[1][i] + x[2][i];
    call_cuda(function,
              ARGS(out_f32("y", y, n), addresses("parts", numbers, 4), i32(4), i32((int)n),
                   stream(), beside(in_f32("a", x[0], n)), beside(in_f32("b", x[1], n)),
                   beside(shifted(in_f32("c", x[2], n), 4))));
    expect_close((layout){"y", 1, n}, y, want, NULL, 1e-6);
}

START_TEST(pointers_lead_to_other_buffers)
{
    if (!begin(&kinds)) return;
    expect_told(&kinds, gather_all, "gather", (long[]){300}, NULL);
    expect_told(&kinds, gather_all, "gather_and_swap", (long[]){300}, "changed its input `parts`");
}
END_TEST

/* ---- errors ---------------------------------------------------------------------------------- */

/* A call that must be refused, and then one that must not, in the same worker. */
static void refuse(const char *function, const long *shape)
{
    float *x = random_f32(100), *y = f32_array(100), *z = f32_array(100);
    call_refused(
        INVALID_VALUE, function,
        ARGS(out_f32("y", y, 100), in_f32("x", x, 100), i32(-1), i32((int)shape[0]), stream()));
    const worker *first = state.worker;
    call_cuda(function,
              ARGS(out_f32("y", z, 100), in_f32("x", x, 100), i32(100), i32(RIGHT), stream()));
    expect(state.worker == first, "it was another worker");
    expect(memcmp(z, x, 400) == 0, "z is not x");
}

static const struct {
    long how;
    const char *words;
} refusals[] = {
    {RIGHT, NULL},
    {SILENT, "should return cudaErrorInvalidValue"},
    {ANOTHER, "it returned: cudaErrorInvalidConfiguration"},
    {LEFT_BEHIND, "but cudaGetLastError still says: cudaErrorInvalidDevice"},
    {FATAL, "careful: "},
};

START_TEST(a_call_is_refused_and_the_next_is_not)
{
    if (!begin(&kinds)) return;
    expect_told(&kinds, refuse, "careful", &refusals[_i].how, refusals[_i].words);
}
END_TEST

/* ---- cuBLAS ---------------------------------------------------------------------------------- */

static void multiply(const char *function, const long *shape)
{
    const long m = shape[0], n = shape[1], k = shape[2];
    float *a = random_f32((size_t)(m * k)), *b = random_f32((size_t)(k * n));
    float *c = f32_array((size_t)(m * n));
    call_cuda(function, ARGS(out_f32("c", c, (size_t)(m * n)), in_f32("a", a, (size_t)(m * k)),
                             in_f32("b", b, (size_t)(k * n)), i32((int)m), i32((int)n), i32((int)k),
                             stream()));
    const device_counts *counts = call_counts();
    expect(!counts || (counts->launches == 1 && counts->to_host.bytes == 0), "%llu launches",
           (unsigned long long)counts->launches);
    expect_matmul(c, a, b, m, n, k);
}

/* Halves: the reference is computed of what they are, and rounded once. */
static void multiply_halves(const char *function, const long *shape)
{
    enum { COUNT = 3 };
    const long m = shape[0], n = shape[1], k = shape[2];
    const size_t as = (size_t)(m * k), bs = (size_t)(k * n), cs = (size_t)(m * n);
    void *a = random_of(ELEMENT_F16, COUNT * as, -1, 1);
    void *b = random_of(ELEMENT_F16, COUNT * bs, -1, 1), *c = array_of(ELEMENT_F16, COUNT * cs);
    const float *fa = f32_of(ELEMENT_F16, a, COUNT * as), *fb = f32_of(ELEMENT_F16, b, COUNT * bs);
    double *want = f64_array(COUNT * cs), *scale = f64_array(COUNT * cs);
    for (size_t i = 0; i < COUNT; i++)
        reference_matmul(want + i * cs, scale + i * cs, fa + i * as, fb + i * bs, m, n, k);
    call_cuda(function,
              ARGS(out_of(ELEMENT_F16, "c", c, COUNT * cs), in_of(ELEMENT_F16, "a", a, COUNT * as),
                   in_of(ELEMENT_F16, "b", b, COUNT * bs), i32((int)m), i32((int)n), i32((int)k),
                   i32(COUNT), stream()));
    expect_close_of((layout){"c", (size_t)(COUNT * m), (size_t)n}, ELEMENT_F16, c, want, scale,
                    FP32_SUM_TOLERANCE);
}

START_TEST(cublas_works_on_the_device)
{
    if (!begin(&kinds)) return;
    expect_told(&blas, multiply, "product", (long[]){33, 65, 40}, NULL);
    expect_told(&blas, multiply_halves, "products", (long[]){7, 20, 66}, NULL);
}
END_TEST

START_TEST(cublas_is_for_exercises_that_say_so)
{
    if (!begin(&kinds)) return;
    build b = built(&forbidden);
    ck_assert(!b.ok);
    ck_assert_msg(strstr(b.log, "undefined reference to `cublas"), "%s", b.log);
    free(b.log);
}
END_TEST

/* ---- devices --------------------------------------------------------------------------------- */

/* shape: n, how */
static void reduce(const char *function, const long *shape)
{
    const size_t n = (size_t)shape[0];
    const unsigned long long numbers[] = {5, 6};
    float *x[2] = {random_f32(n), random_f32(n)};
    double *want = f64_array(n);
    for (size_t i = 0; i < n; i++) want[i] = (double)x[0][i] + x[1][i];
    call_cuda(function,
              ARGS(host(addresses("buffers", numbers, 2)), i32((int)n), i32((int)shape[1]),
                   stream(), on_device(1, stream()), beside(inout_f32("buffers[0]", x[0], n)),
                   beside(on_device(1, inout_f32("buffers[1]", x[1], n)))));
    for (int d = 0; d < 2; d++)
        expect_close((layout){d ? "buffers[1]" : "buffers[0]", 1, n}, x[d], want, NULL, 1e-6);
}

START_TEST(two_devices_sum_what_they_have)
{
    if (!begin(&pair)) return;
    expect_told(&pair, reduce, "sum_of_two", (long[]){1000, BY_PEERS}, NULL);
    if (where != ON_SOFTGPU) return;
    expect_told(&pair, reduce, "sum_of_two", (long[]){1000, BY_HOST}, "data went to the host");
    expect_told(&pair, reduce, "sum_of_two", (long[]){1000, WITHOUT_WAITING}, "stream race");
}
END_TEST

START_TEST(fewer_gpus_are_said)
{
    const options none = {.build = "/no/such/build"};
    const exercise one = {.name = "one", .file = "kinds.cu"};
    begin(&kinds);
    setenv("NVCC", "/usr/bin/true", 0);
    if (exercise_needs(&course, &one, ON_GPU)) return; /* without a worker for GPUs */
    const exercise many = {.name = "many", .file = "kinds.cu", .devices = 99};
    ck_assert_str_eq(exercise_needs(&course, &many, ON_GPU), "99 GPUs");
    ck_assert_int_eq(gpu_count(&none), 0);
}
END_TEST

static void add_tests(Suite *suite, const char *name, void (*choose)(void))
{
    TCase *tcase = tcase_create(name);
    tcase_add_checked_fixture(tcase, choose, NULL);
    tcase_add_loop_test(tcase, every_type_goes_there_and_back, 0, sizeof types / sizeof *types);
    tcase_add_test(tcase, what_is_left_out_of_a_short_type_was_never_written);
    tcase_add_test(tcase, pointers_lead_to_other_buffers);
    tcase_add_loop_test(tcase, a_call_is_refused_and_the_next_is_not, 0,
                        sizeof refusals / sizeof *refusals);
    tcase_add_test(tcase, cublas_works_on_the_device);
    tcase_add_test(tcase, cublas_is_for_exercises_that_say_so);
    tcase_add_test(tcase, two_devices_sum_what_they_have);
    tcase_add_test(tcase, fewer_gpus_are_said);
    suite_add_tcase(suite, tcase);
}

Suite *suite_kinds(void)
{
    const char *backend = getenv("BACKEND");
    Suite *suite = suite_create("kinds");
    add_tests(suite, "softgpu", on_softgpu);
    if (backend && strcmp(backend, "cuda") == 0) add_tests(suite, "gpu", on_gpu);
    return suite;
}

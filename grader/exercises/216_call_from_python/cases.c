/* 216_call_from_python: cases of the product that Python calls. worker.py beside this is what
 * they do in Python. */
#include "correctness/case.h"

#include <math.h>

enum { C_ORDER, F_ORDER, EACH_SECOND, BACKWARDS, READ_ONLY, SAME_ROW, WORDS = 512, NO_MEMORY = 2 };

/* shape: m, n, k, order */
static void multiply(const char *function, const long *shape)
{
    const long m = shape[0], n = shape[1], k = shape[2];
    float *c = f32_array((size_t)(m * n));
    float *a = random_f32((size_t)(m * k)), *b = random_f32((size_t)(k * n));
    for (long i = k; shape[3] == SAME_ROW && i < m * k; i++) a[i] = a[i % k];
    for (long i = n; shape[3] == SAME_ROW && i < k * n; i++) b[i] = b[i % n];
    call_counted(function,
                 ARGS(host(out_f32("c", c, (size_t)(m * n))), host(in_f32("a", a, (size_t)(m * k))),
                      host(in_f32("b", b, (size_t)(k * n))), i32((int)m), i32((int)n), i32((int)k),
                      i32((int)shape[3])));
    expect_operations(function, 2.0 * (double)m * (double)n * (double)k);
    expect_matmul(c, a, b, m, n, k);
}

static void run_matmul(const long *shape)
{
    multiply("matmul", shape);
}

static void expect_no_words(const unsigned char *told)
{
    expect(!told[0], "%s", (const char *)told);
}

static argument words_of(unsigned char *told)
{
    return host(inout_of(ELEMENT_BYTE, "told", told, WORDS));
}

static void run_refusals(const long *shape)
{
    (void)shape;
    unsigned char told[WORDS] = UNTOLD;
    call_void("refusals", ARGS(words_of(told)));
    expect_no_words(told);
}

/* shape: rows, cols */
static void run_two_alive(const long *shape)
{
    const size_t n = (size_t)(shape[0] * shape[1]);
    unsigned char told[WORDS] = UNTOLD;
    call_void("two_alive",
              ARGS(words_of(told), host(in_f32("x", random_f32(n), n)),
                   host(in_f32("y", random_f32(n), n)), i32((int)shape[0]), i32((int)shape[1])));
    expect_no_words(told);
}

/* shape: n */
static void run_rate(const long *shape)
{
    unsigned char told[WORDS] = UNTOLD;
    call_void("rate", ARGS(words_of(told), i32((int)shape[0])));
    expect_no_words(told);
}

/* shape: the error of each call in turn; 0: Ctrl-C after it */
static void run_breaking_off(const long *shape)
{
    unsigned char told[WORDS] = UNTOLD;
    call_void("breaking_off", ARGS(words_of(told), i32((int)shape[0])));
    expect_no_words(told);
}

static const grading_case cases[] = {
    {.name = "1x1x1", .run = run_matmul, .shape = {1, 1, 1}},
    {.name = "17x33x65", .run = run_matmul, .shape = {17, 33, 65}},
    {.name = "any_shape", .run = run_matmul, .shape = {1, 1, 1}, .most = {90, 300, 90}},
    {.name = "F order", .run = run_matmul, .shape = {33, 18, 70, F_ORDER}},
    {.name = "each second column", .run = run_matmul, .shape = {20, 31, 12, EACH_SECOND}},
    {.name = "backwards", .run = run_matmul, .shape = {13, 7, 40, BACKWARDS}},
    {.name = "read-only", .run = run_matmul, .shape = {5, 6, 7, READ_ONLY}},
    {.name = "one row in memory", .run = run_matmul, .shape = {9, 8, 7, SAME_ROW}},
    {.name = "0x5x3", .run = run_matmul, .shape = {0, 5, 3}},
    {.name = "5x0x3", .run = run_matmul, .shape = {5, 0, 3}},
    {.name = "k=0", .run = run_matmul, .shape = {5, 6, 0}},
    {.name = "refused", .run = run_refusals},
    {.name = "two alive", .run = run_two_alive, .shape = {40, 23}},
    {.name = "rate", .run = run_rate, .shape = {64}},
    {.name = "rate, 1x1x1", .run = run_rate, .shape = {1}}, /* a factor that is off by 1 doubles it */
    {.name = "error", .run = run_breaking_off, .shape = {NO_MEMORY}},
    {.name = "Ctrl-C", .run = run_breaking_off},
    LONG_ROW("70001x1x2", run_matmul, 70001, 1, 2),
    LONG_ROW("2x70001x1", run_matmul, 2, 70001, 1),
    LONG_ROW("3x2x5003", run_matmul, 3, 2, 5003),
    {0},
};

EXERCISE(216) = {
    .id = 216,
    .name = "call_from_python",
    .file = "phase2_cuda_basics/216_call_from_python/216_call_from_python.py",
    .functions = {"matmul"},
    .prerequisites = {211},
    .own_prerequisites = true,
    .points = 10,
    .cases = cases,
};

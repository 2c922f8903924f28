/* test_compare.c: a checker is a program with bugs of its own: NaN, infinities, one bad element. */
#include "grader/tests.h"

#include "correctness/correctness.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MANY 100000

static const exercise nothing = {.id = 1, .name = "test"};
static case_state state = {.exercise = &nothing};
static float got[MANY];
static double want[MANY];
static size_t count;
static double tolerance;

static void compare(const char *function, const long *shape)
{
    (void)function;
    (void)shape;
    expect_close((layout){"x", 1, count}, got, want, NULL, tolerance);
}

static char *compare_message(size_t n, double bound)
{
    count = n;
    tolerance = bound;
    return run_guarded(&state, compare, NULL, NULL);
}

static void expect_accepted(size_t n, double bound)
{
    char *message = compare_message(n, bound);
    ck_assert_msg(message == NULL, "refused: %s", message);
}

static void expect_refused(size_t n, double bound, const char *text)
{
    char *message = compare_message(n, bound);
    ck_assert_msg(message != NULL, "accepted");
    ck_assert_msg(strstr(message, text) != NULL, "said: %s", message);
    free(message);
}

static bool refused(char *message)
{
    free(message);
    return message != NULL;
}

START_TEST(equal_is_close)
{
    got[0] = 1.0f, want[0] = 1.0;
    expect_accepted(1, 0.0);
}
END_TEST

START_TEST(nothing_is_close)
{
    expect_accepted(0, 0.0);
}
END_TEST

START_TEST(nan_is_not_close_to_a_number)
{
    got[0] = NAN, want[0] = 1.0;
    expect_refused(1, 1e30, "NaN");
    got[0] = -NAN;
    expect_refused(1, 1e30, "x[0] is nan, should");
}
END_TEST

START_TEST(nan_is_close_to_nan)
{
    got[0] = NAN, want[0] = NAN;
    expect_accepted(1, 0.0);
}
END_TEST

START_TEST(a_number_is_not_close_to_nan)
{
    got[0] = 1.0f, want[0] = NAN;
    expect_refused(1, 1e30, "1 of 1 wrong");
}
END_TEST

START_TEST(infinities_must_be_equal)
{
    got[0] = INFINITY, want[0] = INFINITY;
    expect_accepted(1, 0.0);
    want[0] = -INFINITY;
    expect_refused(1, 1e30, "wrong");
    want[0] = 1e30;
    expect_refused(1, 1e-3, "wrong");
}
END_TEST

START_TEST(zeros_of_both_signs_are_equal)
{
    got[0] = -0.0f, want[0] = 0.0;
    expect_accepted(1, 0.0);
}
END_TEST

START_TEST(one_bad_element_of_many_is_found)
{
    got[77777] = 0.5f;
    expect_refused(MANY, 1e-3, "x[77777]");
    expect_refused(MANY, 1e-3, "1 of 100000 wrong");
}
END_TEST

static void compare_norm(const char *function, const long *shape)
{
    (void)function;
    (void)shape;
    expect_norm_close((layout){"x", 1, count}, got, want, NULL, 0, tolerance);
}

START_TEST(norm_refuses_nan)
{
    got[0] = NAN, want[0] = 1.0;
    count = 1, tolerance = 1e30;
    ck_assert(refused(run_guarded(&state, compare_norm, NULL, NULL)));
}
END_TEST

/* One dropped term, or TF32 inputs, must not pass where honest fp32 does (grading rules). */
static float *mm_a, *mm_b, *mm_c;

static void compare_matmul(const char *function, const long *shape)
{
    (void)function;
    expect_matmul(mm_c, mm_a, mm_b, shape[0], shape[1], shape[2]);
}

/* One element whose terms cancel to a thousandth of their usual sum. */
START_TEST(cancelled_sums_are_held_against_usual_ones)
{
    static float a[1000], b[1000], c[1];
    const long shape[] = {1, 1, 1000};
    for (int i = 0; i < 1000; i++) a[i] = 1.0f, b[i] = i % 2 ? 0.7f : -0.7f;
    b[0] += 0.02f;
    mm_a = a, mm_b = b, mm_c = c;
    c[0] = b[0] + 0.7f + 4e-6f; /* rounding of a sum that is 22 where its terms do not cancel */
    ck_assert_ptr_null(run_guarded(&state, compare_matmul, NULL, shape));
    c[0] += 1e-3f;
    ck_assert(refused(run_guarded(&state, compare_matmul, NULL, shape)));
}
END_TEST

static float rounded_to_tf32(float x)
{
    unsigned bits;
    memcpy(&bits, &x, 4);
    bits = (bits + 0x1000u) & ~0x1fffu;
    memcpy(&x, &bits, 4);
    return x;
}

static char *matmul_message(long k, bool tf32, long dropped)
{
    const long shape[] = {48, 40, k};
    random_state rng = random_seed(7);
    mm_a = calloc((size_t)(48 * k), 4), mm_b = calloc((size_t)(k * 40), 4),
    mm_c = calloc(48 * 40, 4);
    random_fill_uniform(&rng, mm_a, (size_t)(48 * k), -1, 1);
    random_fill_uniform(&rng, mm_b, (size_t)(k * 40), -1, 1);
    for (long i = 0; i < 48; i++) {
        for (long j = 0; j < 40; j++) {
            float sum = 0.0f;
            for (long p = 0; p < k - dropped; p++) {
                float x = mm_a[i * k + p], y = mm_b[p * 40 + j];
                sum += tf32 ? rounded_to_tf32(x) * rounded_to_tf32(y) : x * y;
            }
            mm_c[i * 40 + j] = sum;
        }
    }
    char *message = run_guarded(&state, compare_matmul, NULL, shape);
    free(mm_a);
    free(mm_b);
    free(mm_c);
    return message;
}

START_TEST(matmul_bound_accepts_fp32_only)
{
    const long k = _i == 0 ? 64 : _i == 1 ? 1024 : 4096;
    ck_assert_ptr_null(matmul_message(k, false, 0));
    ck_assert(refused(matmul_message(k, true, 0)));
    ck_assert(refused(matmul_message(k, false, 1)));
}
END_TEST

/* ---- other types ----------------------------------------------------------------------------- */

static unsigned short halves[4];
static double doubles[4];

static void compare_type(const char *function, const long *shape)
{
    const bool half = shape[0] == ELEMENT_F16;
    (void)function;
    expect_close_of((layout){"x", 2, 2}, (element_type)shape[0], half ? (void *)halves : doubles,
                    want, NULL, 1e-12);
}

static char *type_message(element_type e)
{
    return run_guarded(&state, compare_type, NULL, (long[]){e});
}

START_TEST(a_half_may_be_rounded_once)
{
    for (int i = 0; i < 4; i++) {
        want[i] = 1 + i / 3.0;
        element_store(ELEMENT_F16, halves, (size_t)i, want[i]);
    }
    ck_assert_ptr_null(type_message(ELEMENT_F16));
    halves[2]++;
    char *message = type_message(ELEMENT_F16);
    ck_assert_msg(message && strstr(message, "x[1][0] is 1.66"), "%s", message);
    free(message);
    halves[2] = (unsigned short)element_poison(ELEMENT_F16);
    message = type_message(ELEMENT_F16);
    ck_assert_msg(message && strstr(message, "never written"), "%s", message);
    free(message);
}
END_TEST

START_TEST(doubles_are_held_against_doubles)
{
    for (int i = 0; i < 4; i++) want[i] = doubles[i] = 1 + i / 3.0;
    ck_assert_ptr_null(type_message(ELEMENT_F64));
    doubles[1] += 1e-10;
    char *message = type_message(ELEMENT_F64);
    ck_assert_msg(message && strstr(message, "x[0][1] is 1.3333333334"), "%s", message);
    free(message);
    doubles[3] = 5;
    message = type_message(ELEMENT_F64);
    ck_assert_msg(message && strstr(message, "x[1][1] is 5, should be 2"), "%s", message);
    free(message);
}
END_TEST

Suite *suite_compare(void)
{
    Suite *suite = suite_create("compare");
    TCase *tcase = tcase_create("compare");
    tcase_add_test(tcase, equal_is_close);
    tcase_add_test(tcase, a_half_may_be_rounded_once);
    tcase_add_test(tcase, doubles_are_held_against_doubles);
    tcase_add_test(tcase, nothing_is_close);
    tcase_add_test(tcase, nan_is_not_close_to_a_number);
    tcase_add_test(tcase, nan_is_close_to_nan);
    tcase_add_test(tcase, a_number_is_not_close_to_nan);
    tcase_add_test(tcase, infinities_must_be_equal);
    tcase_add_test(tcase, zeros_of_both_signs_are_equal);
    tcase_add_test(tcase, one_bad_element_of_many_is_found);
    tcase_add_test(tcase, cancelled_sums_are_held_against_usual_ones);
    tcase_add_test(tcase, norm_refuses_nan);
    tcase_add_loop_test(tcase, matmul_bound_accepts_fp32_only, 0, 3);
    suite_add_tcase(suite, tcase);
    return suite;
}

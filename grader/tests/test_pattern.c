/* test_pattern.c: each known mistake gets its name, and random errors get none. */
#include "tests.h"

#include "grader.h"
#include <math.h>
#include <string.h>

#define ROWS 12
#define COLS 20

static float got[ROWS * COLS];
static double want[ROWS * COLS];
static bool bad[ROWS * COLS];

static void setup(void)
{
    for (int i = 0; i < ROWS * COLS; i++) {
        want[i] = sin(i * 1.7 + 1.0) + 1.5;
        got[i] = (float)want[i];
    }
}

static const char *name_of_errors(void)
{
    mismatch m = {.where = {"x", ROWS, COLS}, .got = got, .want = want, .bad = bad};
    for (size_t i = 0; i < ROWS * COLS; i++) {
        bad[i] = !(fabs(got[i] - want[i]) <= 1e-5);
        if (bad[i] && m.count++ == 0) m.first = i;
    }
    return pattern_name(&m);
}

static void expect_pattern(const char *text)
{
    const char *name = name_of_errors();
    ck_assert_msg(strstr(name, text) != NULL, "named \"%s\", not \"%s\"", name, text);
}

START_TEST(unwritten)
{
    const unsigned poison = POISON_F32;
    memcpy(&got[100], &poison, 4);
    expect_pattern("never written");
}
END_TEST

START_TEST(not_a_number)
{
    got[3] = NAN;
    expect_pattern("NaN");
}
END_TEST

START_TEST(exchanged)
{
    for (int r = 0; r < ROWS; r++) {
        for (int c = 0; c < COLS; c++) got[c * ROWS + r] = (float)want[r * COLS + c];
    }
    expect_pattern("transposed");
}
END_TEST

START_TEST(shifted_by_a_row)
{
    for (int i = COLS; i < ROWS * COLS; i++) got[i] = (float)want[i - COLS];
    expect_pattern("shifted by one row");
}
END_TEST

START_TEST(negated)
{
    for (int i = 0; i < ROWS * COLS; i++) got[i] = -got[i];
    expect_pattern("sign");
}
END_TEST

START_TEST(scaled)
{
    for (int i = 0; i < ROWS * COLS; i++) got[i] *= ROWS;
    expect_pattern("one factor");
}
END_TEST

START_TEST(right_edge)
{
    for (int r = 0; r < ROWS; r++) got[r * COLS + COLS - 1] += 1 + (float)r;
    expect_pattern("last columns");
}
END_TEST

START_TEST(lower_edge)
{
    for (int c = 0; c < COLS; c++) got[(ROWS - 1) * COLS + c] += 1 + (float)c;
    expect_pattern("last rows");
}
END_TEST

START_TEST(first_row)
{
    for (int i = COLS; i < ROWS * COLS; i++) got[i] += 1 + (float)i;
    expect_pattern("only the first row");
}
END_TEST

START_TEST(no_pattern)
{
    got[5] += 1;
    got[77] -= 2;
    ck_assert_str_eq(name_of_errors(), "");
}
END_TEST

Suite *suite_pattern(void)
{
    Suite *suite = suite_create("pattern");
    TCase *tcase = tcase_create("pattern");
    tcase_add_checked_fixture(tcase, setup, NULL);
    tcase_add_test(tcase, unwritten);
    tcase_add_test(tcase, not_a_number);
    tcase_add_test(tcase, exchanged);
    tcase_add_test(tcase, shifted_by_a_row);
    tcase_add_test(tcase, negated);
    tcase_add_test(tcase, scaled);
    tcase_add_test(tcase, right_edge);
    tcase_add_test(tcase, lower_edge);
    tcase_add_test(tcase, first_row);
    tcase_add_test(tcase, no_pattern);
    suite_add_tcase(suite, tcase);
    return suite;
}

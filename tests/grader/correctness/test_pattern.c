/* test_pattern.c: each known mistake gets its name, random errors get none, and each name is
 * demanded by a wrong submission of the corpus. */
#include "grader/tests.h"

#include "correctness/correctness.h"
#include "correctness/mistakes/mistakes.h"
#include "selftest/selftest.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 20
#define COLS 36
#define SIZE (ROWS * COLS)

static float got[SIZE];
static double want[SIZE], allowed[SIZE];
static bool bad[SIZE];
static const long sizes[] = {1, 7, 5};
static layout where;
static bool exponentials, masks, on_cpu;
static double widened;

static float right(int i)
{
    return (float)(sin(i * i * 0.7 + 1.0) + 1.5);
}

static void setup(void)
{
    where = (layout){"x", ROWS, COLS};
    exponentials = masks = on_cpu = false;
    widened = 1;
    for (int i = 0; i < SIZE; i++) {
        got[i] = right(i);
        want[i] = got[i];
    }
}

static const char *name_of_errors(void)
{
    mismatch m = {.where = where, .got = got, .want = want, .bound = allowed, .bad = bad};
    m.before = result_of_call_before(where, &m.want_before);
    m.sizes = sizes, m.size_count = 3;
    m.exponentials = exponentials, m.masks = masks, m.on_cpu = on_cpu;
    for (size_t i = 0; i < where.rows * where.cols; i++) {
        allowed[i] = widened * 1e-6 * fmax(1.0, fabs(want[i]));
        bad[i] = isnan(want[i]) ? !isnan(got[i]) : !(fabs(got[i] - want[i]) <= allowed[i]);
        if (bad[i] && m.count++ == 0) m.first = i;
    }
    return pattern_name(&m);
}

/* ---- what each mistake makes of a right result ------------------------------------------------
 */

/* Each is called with every index, and says what is there instead; PASS leaves it as it is. */
#define PASS right(i)

static float unset(void)
{
    const unsigned poison = POISON_F32;
    float x;
    memcpy(&x, &poison, sizeof x);
    return x;
}

/* clang-format off */
static float scaled_by_7(int i) { return 7 * right(i); }
static float divided_by_5(int i) { return right(i) / 5; }
static float negated(int i) { return -right(i); }
static float twice(int i) { return 2 * right(i); }
static float one_factor(int i) { return 0.3f * right(i); }
static float exchanged(int i) { return right(i % ROWS * COLS + i / ROWS); }
static float row_late(int i) { return i < COLS ? 0 : right(i - COLS); }
static float row_early(int i) { return i + COLS < SIZE ? right(i + COLS) : 0; }
static float element_early(int i) { return (i + 1) % COLS ? right(i + 1) : 0; }
static float element_late(int i) { return i ? right(i - 1) : 0; }
static float first_row(int i) { return right(i % COLS); }
static float first_column(int i) { return right(i - i % COLS); }
static float first_block(int i) { return right(i % 64); }
static float second_as_first(int i) { return right(i % COLS / 8 % 2 ? i - 8 : i); }
static float not_a_number(int i) { return i % 5 == 1 ? NAN : PASS; }
static float infinite(int i) { return i % 5 == 1 ? INFINITY : PASS; }
static float zero(int i) { return i % 5 == 1 ? 0 : PASS; }
static float at_most_2(int i) { return fminf(right(i), 2); }
static float less_precise(int i) { return right(i) * (1 + 1e-4f * sinf((float)i)); }
static float other(int i) { return right(i) + 1 + (float)(i * i % 17) / 16; }
static float row_0(int i) { return i < COLS ? PASS : other(i); }
static float no_last_rows(int i) { return i < 16 * COLS ? PASS : other(i); }
static float no_last_columns(int i) { return i % COLS < 32 ? PASS : other(i); }
static float no_edges(int i) { return i < 16 * COLS && i % COLS < 32 ? PASS : other(i); }
static float first_96(int i) { return i < 96 ? PASS : other(i); }
static float first_96_written(int i) { return i < 96 ? PASS : unset(); }
static float diagonal(int i) { return i / COLS == i % COLS ? PASS : other(i); }
static float every_4th(int i) { return i % COLS % 4 == 0 ? PASS : other(i); }
static float not_every_8th(int i) { return i % COLS % 8 == 5 ? other(i) : PASS; }
static float middle_rows_on(int i) { return i / COLS < 13 || i % 7 == 0 ? PASS : other(i); }
static float one_for_all(int i) { return i % 5 == 1 || i % 5 == 3 ? 0.25f : PASS; }
static float poison(int i) { return i % 3 ? unset() : PASS; }
static float row_shifted(int i) { return right(i) + sinf((float)(i / COLS)); }
static float row_scaled(int i) { return right(i) * (1.2f + sinf((float)(i / COLS))); }
static float column_0(int i) { return i % COLS ? other(i) : PASS; }
static float columns_24(int i) { return i % COLS < 24 ? PASS : other(i); }
static float poison_and_tail(int i) { return i % COLS < 32 ? PASS : unset(); }
/* clang-format on */

/* The sum of a signalling NaN and anything, as the processor has it. */
static float added_to_poison(int i)
{
    volatile float x = unset();
    return i % 3 ? x + 1.0f : PASS;
}

static float rows_7_apart(int i)
{
    return i / 7 < ROWS ? right(i / 7 * COLS + i % 7) : unset();
}

static const struct {
    float (*spoil)(int i);
    const char *words;
} known[] = {
    {scaled_by_7, "; 7 times too large (a size of this call): a sum instead of a mean"},
    {divided_by_5, "; 5 times too small (a size of this call): divided once too often"},
    {negated, "; the sign is wrong"},
    {twice, "; twice as large: counted twice, or a missing 1/2"},
    {one_factor, "; all are wrong by the same factor"},
    {exchanged, "; the result is transposed: rows and columns are mixed up"},
    {row_late, "; the result is shifted by one row"},
    {row_early, "; the result is shifted by one row"},
    {element_early, "; the result is shifted by one element"},
    {element_late, "; the result is shifted by one element"},
    {rows_7_apart, "; rows are stored 7 elements apart: a wrong stride"},
    {first_row, "; every row repeats the first: the row's index is not used"},
    {first_column, "; every column repeats the first: the column's index is not used"},
    {first_block,
     "; the first 64 elements are repeated: the index of the block, or of the part, is not "
     "used"},
    {second_as_first, "; every second vector of 8 columns repeats the one before: its own "
                      "offset is missing"},
    {not_a_number, "; they are NaN: inf - inf, inf / inf, 0 / 0, or unwritten memory was read"},
    {infinite, "; they are infinite: divided by 0, too large for a float, or a start value that "
               "nothing replaced"},
    {zero, "; they are 0"},
    {at_most_2, "; all stop at the same value: a clamp or a constant cuts them off"},
    {less_precise, "; small errors nearly everywhere: less precise than fp32 (TF32, fp16, "
                   "approximations), or summed in an order that loses digits"},
    {row_0, "; only the first row is right"},
    {no_last_rows, "; only the last rows: the last partial tile"},
    {no_last_columns, "; only the last columns or elements: the last partial tile, or a loop that "
                      "ends too early"},
    {no_edges, "; only the last rows and columns: partial tiles on both sides"},
    {first_96, "; only the first 96 elements are right: nothing after them is"},
    {first_96_written,
     "; never written: they hold what was there before the call; only the first 96 "
     "elements are right: the grid has too few blocks, or too few in x or y"},
    {diagonal, "; only the diagonal is right: row and column come from the same index"},
    {every_4th, "; only every 4th is right: one thread of each group did its work"},
    {not_every_8th, "; every 8th is wrong: one thread of each group did not do its work"},
    {middle_rows_on, "; only from row 13 on"},
    {one_for_all, "; all hold the same value: a constant, or = instead of +="},
    {poison, "; never written: they hold what was there before the call"},
    {poison_and_tail, "; never written: they hold what was there before the call; only the last "
                      "columns or elements: the last partial tile, or a loop that ends too early"},
    {row_shifted, "; each row is off by a different number: a term that is added to the whole row, "
                  "such as a bias, is missing or belongs to another row"},
    {row_scaled,
     "; each row is off by a different factor: a factor or divisor of the whole row is wrong"},
    {column_0, "; only the first column or element is right: the stride to the next is wrong, or "
               "something is not set to 0 for it"},
    {columns_24, "; only from column or element 24 on"},
    {added_to_poison,
     "; added (+=) to an output that nothing has set to 0, or computed from memory "
     "that nothing has written"},
};

START_TEST(a_known_mistake_has_a_name)
{
    for (int i = 0; i < SIZE; i++) got[i] = known[_i].spoil(i);
    ck_assert_str_eq(name_of_errors(), known[_i].words);
}
END_TEST

/* Six percent are no matter of digits, however wide the bound is. */
START_TEST(errors_beyond_a_precision_are_no_rounding)
{
    widened = 1e4;
    for (int i = 0; i < SIZE; i++) got[i] = less_precise(i) + 0.06f * sinf((float)(i * i));
    ck_assert_str_eq(name_of_errors(), "");
}
END_TEST

START_TEST(a_nan_is_passed_over)
{
    for (int i = 0; i < SIZE; i++) want[i] = i % 9 == 2 ? NAN : want[i];
    ck_assert_str_eq(
        name_of_errors(),
        "; they should be NaN: fmaxf, fminf and comparisons ignore a NaN, or it was not read");
}
END_TEST

START_TEST(a_tile_begins_with_the_first_wrong_one)
{
    where = (layout){"x", 1, SIZE};
    for (int i = 128; i < SIZE; i++) got[i] = i % 64 < 40 ? other(i) : right(i);
    ck_assert_str_eq(name_of_errors(), "; the first wrong one is element 128: where a warp, a "
                                       "block or a tile ends");
}
END_TEST

START_TEST(a_cpu_has_no_grid)
{
    on_cpu = true;
    for (int i = 0; i < SIZE; i++) got[i] = first_96_written(i);
    ck_assert_str_eq(name_of_errors(),
                     "; never written: they hold what was there before the call; only the first 96 "
                     "elements are right: nothing after them is");
}
END_TEST

START_TEST(zeros_alone_are_no_mask)
{
    masks = true;
    for (int i = 0; i < SIZE; i++) want[i] = 0;
    ck_assert_str_eq(name_of_errors(), "");
}
END_TEST

/* A count that stops at 1 is no clamp: what is right has no values below it. */
START_TEST(few_values_are_no_clamp)
{
    for (int i = 0; i < SIZE; i++) {
        want[i] = i % 4;
        got[i] = (float)(i % 4 > 0);
    }
    ck_assert_str_eq(name_of_errors(), "; all hold the same value: a constant, or = instead of +=");
}
END_TEST

/* ---- mistakes that other results show ---------------------------------------------------------
 */

START_TEST(negative_ones_became_0)
{
    for (int i = 0; i < SIZE; i++) {
        want[i] -= 1.5;
        got[i] = fmaxf(0, (float)want[i]);
    }
    ck_assert_str_eq(name_of_errors(), "; negative values became 0: a ReLU where none belongs");
}
END_TEST

START_TEST(masked_ones_were_computed)
{
    for (int i = 0; i < SIZE; i++) want[i] = i * i % 7 ? want[i] : 0;
    ck_assert_str_eq(name_of_errors(), "; exactly the elements that should be 0 are wrong");
    masks = true;
    ck_assert_str_eq(name_of_errors(),
                     "; they should be 0: masked or ignored elements were computed");
}
END_TEST

START_TEST(exponentials_are_suspected_where_there_are_some)
{
    exponentials = true;
    for (int i = 0; i < SIZE; i++) got[i] = infinite(i);
    ck_assert_str_eq(name_of_errors(),
                     "; they are infinite: exp overflowed, or a logarithm or a division got a 0");
    for (int i = 0; i < SIZE; i++) got[i] = at_most_2(i);
    ck_assert_str_eq(name_of_errors(),
                     "; all stop at the same value: a clamp, or log(p + eps), cuts them off");
}
END_TEST

START_TEST(kinds_have_no_numbers)
{
    static const char *const rows[][2] = {
        {"; 17 times too large (a size of this call): a sum instead of a mean",
         "N times too large (a size of this call): a sum instead of a mean"},
        {"; they are 0; only the first 256 elements are right: nothing after them is",
         "they are 0; only the first N elements are right: nothing after them is"},
        {"; only every 32th is right: one thread of each group did its work",
         "only every Nth is right: one thread of each group did its work"},
        {"; only from element 2^31 on: an index is an int",
         "only from element 2^31 on: an index is an int"},
        {"; twice as large: counted twice, or a missing 1/2",
         "twice as large: counted twice, or a missing 1/2"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *kind = mistake_kind(rows[i][0]);
        ck_assert_str_eq(kind, rows[i][1]);
        free(kind);
    }
}
END_TEST

START_TEST(left_over)
{
    float before[SIZE];
    double wanted[SIZE];
    for (int i = 0; i < SIZE; i++)
        before[i] = got[i] = right(i + 1000), wanted[i] = right(i + 2000);
    result_keep(where, before, wanted);
    ck_assert_str_eq(name_of_errors(), "; left over: this is the result of the previous call");
    result_keep(where, before, want); /* which should have been the same */
    ck_assert_str_eq(name_of_errors(), "");
}
END_TEST

START_TEST(added_to_what_was_left_over)
{
    float before[SIZE];
    double wanted[SIZE];
    for (int i = 0; i < SIZE; i++) before[i] = right(i + 1000), wanted[i] = right(i + 2000);
    for (int i = 0; i < SIZE; i++) got[i] += before[i];
    result_keep(where, before, wanted);
    ck_assert_str_eq(
        name_of_errors(),
        "; the result of the previous call is still in the output: it was not set to 0");
}
END_TEST

START_TEST(results_of_other_arrays_are_not_left_over)
{
    float before[SIZE];
    double wanted[SIZE];
    for (int i = 0; i < SIZE; i++)
        before[i] = got[i] = right(i + 1000), wanted[i] = right(i + 2000);
    result_keep((layout){"y", ROWS, COLS}, before, wanted);
    result_keep((layout){"x", ROWS - 1, COLS}, before, wanted);
    ck_assert_str_eq(name_of_errors(), "");
}
END_TEST

START_TEST(beyond_two_to_the_31)
{
    const char *name = place_of((layout){"c", 1, 5000000000}, 2147483648);
    ck_assert_str_eq(name, "; only from element 2^31 on: an index is an int");
    ck_assert_str_eq(place_of((layout){"c", 1, 5000000000}, 77), "");
}
END_TEST

static double wrong_formula[SIZE], wrong_too[SIZE];

START_TEST(a_stated_formula_is_recognised)
{
    for (int i = 0; i < SIZE; i++) {
        wrong_formula[i] = right(i + 3000);
        wrong_too[i] = right(i + 4000);
        got[i] = (float)wrong_formula[i];
    }
    suspect("another formula", wrong_too);
    suspect("the formula", wrong_formula);
    ck_assert_str_eq(name_of_errors(), "; the formula");
    suspect("the same formula", wrong_formula);
    ck_assert_str_eq(name_of_errors(), "; the formula, or the same formula");
    suspects_forget();
    ck_assert_str_eq(name_of_errors(), "");
}
END_TEST

/* NaN and 0 everywhere are met by many formulas, and by one stride or another. */
START_TEST(what_says_nothing_proves_no_formula)
{
    for (int i = 0; i < SIZE; i++) wrong_formula[i] = got[i] = NAN;
    suspect("the formula", wrong_formula);
    ck_assert_str_eq(name_of_errors(),
                     "; they are NaN: inf - inf, inf / inf, 0 / 0, or unwritten memory was read");
    for (int i = 0; i < SIZE; i++) wrong_formula[i] = got[i] = 0;
    ck_assert_str_eq(name_of_errors(), "; they are 0");
    for (int i = 0; i < SIZE; i++) want[i] = i % COLS < 7 ? 1 : 0;
    ck_assert_ptr_null(strstr(name_of_errors(), "stride"));
    suspects_forget();
}
END_TEST

START_TEST(a_formula_tells_which_are_not_finite)
{
    for (int i = 0; i < SIZE; i++) wrong_formula[i] = got[i] = i % 5 == 1 ? NAN : right(i);
    suspect("the formula", wrong_formula);
    ck_assert_str_eq(name_of_errors(), "; the formula");
    suspects_forget();
}
END_TEST

/* Of a term each factor has its words. */
START_TEST(a_term_is_off)
{
    static const struct {
        float factor;
        const char *words;
    } rows[] = {
        {0, "; the term is off: left out"},
        {-1, "; the term is off: the sign is wrong"},
        {2, "; the term is off: twice as large"},
        {7, "; the term is off: 7 times too large (a size of this call)"},
        {0.2f, "; the term is off: 5 times too small (a size of this call)"},
        {1.3f, "; the term is off"},
    };
    for (int i = 0; i < SIZE; i++) wrong_formula[i] = right(i + 3000);
    for (int i = 0; i < SIZE; i++)
        got[i] = right(i) + (rows[_i].factor - 1) * (float)wrong_formula[i];
    suspect_term("the term is off", wrong_formula);
    ck_assert_str_eq(name_of_errors(), rows[_i].words);
    got[SIZE / 2] = 77;
    ck_assert_str_eq(name_of_errors(), "");
    suspects_forget();
}
END_TEST

START_TEST(one_element_that_does_not_fit_spoils_the_name)
{
    for (int i = 0; i < SIZE; i++) got[i] = exchanged(i);
    got[SIZE / 2] = 77;
    ck_assert_str_eq(name_of_errors(), "");
}
END_TEST

/* ---- random errors ----------------------------------------------------------------------------
 */

/* Anything from two errors to errors everywhere. */
START_TEST(random_errors_have_no_name)
{
    static const layout shapes[] = {{"r", 1, 257}, {"r", 17, 33}, {"r", 20, 36}, {"r", 1, 720},
                                    {"r", 64, 10}, {"r", 3, 100}, {"r", 10, 10}};
    random_state rng = random_seed(20 + (unsigned)_i);
    where = shapes[_i % 7];
    const int size = (int)(where.rows * where.cols);
    const int errors = _i % 5 ? 2 + (int)random_below(&rng, 30) : size;
    for (int e = 0; e < errors; e++) {
        const int i = errors == size ? e : (int)random_below(&rng, (unsigned)size);
        random_fill_uniform(&rng, &got[i], 1, -3.0f, 3.0f);
    }
    ck_assert_str_eq(name_of_errors(), "");
}
END_TEST

/* ---- each name has its wrong submission -------------------------------------------------------
 */

START_TEST(every_name_is_demanded)
{
    const char *root = getenv("COURSE_ROOT");
    const options o = {.root = root ? root : ".", .build = "."};
    int count = 0;
    for (const message *m = messages_list(&o); m->from; m++, count++) {
        ck_assert_msg(*m->example, "no wrong submission demands \"%s\"", m->words);
    }
    ck_assert_int_ge(count, 24);
}
END_TEST

START_TEST(each_cause_has_words)
{
    ck_assert_msg(strncmp(symptom_name((unsigned)_i), "; ", 2) == 0, "cause %d", _i);
    ck_assert_str_eq(symptom_name(ALL_CAUSES), "");
}
END_TEST

Suite *suite_pattern(void)
{
    Suite *suite = suite_create("pattern");
    TCase *tcase = tcase_create("pattern");
    tcase_add_checked_fixture(tcase, setup, NULL);
    tcase_add_loop_test(tcase, a_known_mistake_has_a_name, 0, sizeof known / sizeof *known);
    tcase_add_test(tcase, negative_ones_became_0);
    tcase_add_test(tcase, masked_ones_were_computed);
    tcase_add_test(tcase, exponentials_are_suspected_where_there_are_some);
    tcase_add_test(tcase, kinds_have_no_numbers);
    tcase_add_test(tcase, left_over);
    tcase_add_test(tcase, added_to_what_was_left_over);
    tcase_add_test(tcase, results_of_other_arrays_are_not_left_over);
    tcase_add_test(tcase, beyond_two_to_the_31);
    tcase_add_test(tcase, a_stated_formula_is_recognised);
    tcase_add_test(tcase, errors_beyond_a_precision_are_no_rounding);
    tcase_add_test(tcase, a_nan_is_passed_over);
    tcase_add_test(tcase, a_tile_begins_with_the_first_wrong_one);
    tcase_add_test(tcase, a_cpu_has_no_grid);
    tcase_add_test(tcase, zeros_alone_are_no_mask);
    tcase_add_test(tcase, few_values_are_no_clamp);
    tcase_add_test(tcase, what_says_nothing_proves_no_formula);
    tcase_add_test(tcase, a_formula_tells_which_are_not_finite);
    tcase_add_loop_test(tcase, a_term_is_off, 0, 6);
    tcase_add_test(tcase, one_element_that_does_not_fit_spoils_the_name);
    tcase_add_loop_test(tcase, random_errors_have_no_name, 0, 200);
    tcase_add_test(tcase, every_name_is_demanded);
    tcase_add_loop_test(tcase, each_cause_has_words, CAUSE_NONE + 1, ALL_CAUSES);
    suite_add_tcase(suite, tcase);
    return suite;
}

/*
 * pattern.c: the table of mistakes, and the sentence that names one. If one mistake explains every
 * element, only that is said: a formula that the case stated, or the first of `mistakes` that fits.
 * Otherwise the sentence says what the wrong elements hold, and where they are.
 */
#include "mistakes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct pattern {
    pattern_function *fits;
    const char *words; /* %zu: the number that the function returned */
} pattern;

static const pattern mistakes[] = {
    {result_before, "left over: this is the result of the previous call"},
    {added_to_result_before,
     "the result of the previous call is still in the output: it was not set to 0"},
    {sum_not_mean, "%zu times too large (a size of this call): a sum instead of a mean"},
    {mean_not_sum, "%zu times too small (a size of this call): divided once too often"},
    {sign_flipped, "the sign is wrong"},
    {doubled, "twice as large: counted twice, or a missing 1/2"},
    {is_transposed, "the result is transposed: rows and columns are mixed up"},
    {one_row_off, "the result is shifted by one row"},
    {one_element_off, "the result is shifted by one element"},
    {wrong_stride, "rows are stored %zu elements apart: a wrong stride"},
    {row_repeated, "every row repeats the first: the row's index is not used"},
    {column_repeated, "every column repeats the first: the column's index is not used"},
    {block_repeated, "the first %zu elements are repeated: the index of the block, or of the part, "
                     "is not used"},
    {vector_repeated, "every second vector of %zu columns repeats the one before: its own "
                      "offset is missing"},
    {constant_factor, "all are wrong by the same factor"},
    {rows_off,
     "each row is off by a different number: a term that is added to the whole row, such as "
     "a bias, is missing or belongs to another row"},
    {rows_scaled,
     "each row is off by a different factor: a factor or divisor of the whole row is wrong"},
};

static const pattern contents[] = {
    {never_written, "never written: they hold what was there before the call"},
    {added_to_unset, "added (+=) to an output that nothing has set to 0, or computed from memory "
                     "that nothing has written"},
    {nan_passed_over, "they should be NaN: fmaxf, fminf and comparisons ignore a NaN, or it "
                      "was not read"},
    {all_zero, "they are 0"},
    {became_nan, "they are NaN: inf - inf, inf / inf, 0 / 0, or unwritten memory was read"},
    {exp_became_infinite,
     "they are infinite: exp overflowed, or a logarithm or a division got a 0"},
    {became_infinite, "they are infinite: divided by 0, too large for a float, or a start "
                      "value that nothing replaced"},
    {cut_at_zero, "negative values became 0: a ReLU where none belongs"},
    {mask_ignored, "they should be 0: masked or ignored elements were computed"},
    {should_be_zero, "exactly the elements that should be 0 are wrong"},
    {log_saturated, "all stop at the same value: a clamp, or log(p + eps), cuts them off"},
    {saturated, "all stop at the same value: a clamp or a constant cuts them off"},
    {one_value, "all hold the same value: a constant, or = instead of +="},
    {small_errors, "small errors nearly everywhere: less precise than fp32 (TF32, fp16, "
                   "approximations), or summed in an order that loses digits"},
};

static const pattern places[] = {
    {beyond_int, "only from element 2^31 on: an index is an int"},
    {first_row_only, "only the first row is right"},
    {first_column_only, "only the first column or element is right: the stride to the next is "
                        "wrong, or something is not set to 0 for it"},
    {last_partial_rows, "only the last rows: the last partial tile"},
    {last_partial_columns, "only the last columns or elements: the last partial tile, or a loop "
                           "that ends too early"},
    {last_rows_and_columns, "only the last rows and columns: partial tiles on both sides"},
    {grid_too_small, "only the first %zu elements are right: the grid has too few blocks, or "
                     "too few in x or y"},
    {first_ones_right, "only the first %zu elements are right: nothing after them is"},
    {diagonal_only, "only the diagonal is right: row and column come from the same index"},
    {every_nth_right, "only every %zuth is right: one thread of each group did its work"},
    {every_nth_wrong, "every %zuth is wrong: one thread of each group did not do its work"},
    {from_block, "the first wrong one is element %zu: where a warp, a block or a tile ends"},
    {from_row, "only from row %zu on"},
    {from_column, "only from column or element %zu on"},
};

#define ROWS(table) (sizeof(table) / sizeof *(table))
#define WORDS_MAX   256

static void append_first(const pattern *table, size_t rows, const mismatch *m, char *text)
{
    char words[WORDS_MAX];
    for (size_t i = 0; i < rows; i++) {
        const size_t number = table[i].fits(m);
        if (!number) continue;
        snprintf(words, sizeof words, table[i].words, number);
        strcat(strcat(text, "; "), words);
        return;
    }
}

const char *pattern_name(const mismatch *m)
{
    static char text[4 * WORDS_MAX];
    text[0] = '\0';
    if (!m->bound) { /* only the place of the first is known */
        append_first(places, beyond_int(m), m, text);
        return text;
    }
    name_suspects(m, text, sizeof text);
    if (!*text) append_first(mistakes, ROWS(mistakes), m, text);
    if (*text) return text;
    append_first(contents, ROWS(contents), m, text);
    append_first(places, ROWS(places), m, text);
    return text;
}

const char *pattern_words(size_t i)
{
    if (i < ROWS(mistakes)) return mistakes[i].words;
    i -= ROWS(mistakes);
    if (i < ROWS(contents)) return contents[i].words;
    i -= ROWS(contents);
    return i < ROWS(places) ? places[i].words : NULL;
}

/* Where the text has these words with a number for %zu, the number becomes N. */
static void forget_number(char *text, const char *words)
{
    const char *hole = strstr(words, "%zu");
    const size_t before = hole ? (size_t)(hole - words) : 0;
    char *after = hole ? strstr(text, hole + 3) : NULL, *number = after;
    while (number > text && number[-1] >= '0' && number[-1] <= '9') number--;
    if (number == after || (size_t)(number - text) < before) return;
    if (strncmp(number - before, words, before) != 0) return;
    *number = 'N';
    memmove(number + 1, after, strlen(after) + 1);
}

char *mistake_kind(const char *mistake)
{
    char *kind = strdup(mistake + strspn(mistake, "; "));
    for (size_t i = 0; kind && pattern_words(i); i++) forget_number(kind, pattern_words(i));
    return kind;
}

/* As close as two right results are to each other, whichever is called right. */
static bool agrees(double got, double expected, double bound)
{
    if (isnan(expected)) return isnan(got);
    if (isinf(expected)) return got == expected;
    return fabs(got - expected) <= 4 * bound + 1e-6 * fabs(expected);
}

/* A wrong element must be much nearer to the guess than to what it should be. */
static bool nearer(const mismatch *m, size_t i, double expected)
{
    const double error = fabs(m->got[i] - m->want[i]);
    return !isfinite(error) || fabs(m->got[i] - expected) <= 0.25 * error;
}

/* What is 0 or not finite has many causes. Such ones prove a guess only where it tells them from
 * others that are right. */
bool explains(const mismatch *m, guess_function *of, size_t parameter, size_t least)
{
    size_t explained = 0, weak = 0;
    for (size_t i = 0; i < size_of(m); i++) {
        const guess g = of(m, i, parameter);
        if (g.open) continue;
        if (!agrees(m->got[i], g.value, g.bound)) return false;
        if (m->bad[i] && !nearer(m, i, g.value)) return false;
        explained += m->bad[i] && isfinite(g.value) && m->got[i] != 0.0f;
        weak += m->bad[i];
    }
    const bool tells = m->count < size_of(m) || (size_of(m) == 1 && isfinite(m->got[0]));
    return explained >= least || (least == 1 && weak > 0 && tells);
}

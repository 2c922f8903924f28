/*
 * mistakes.h: what the wrong elements of an array have in common, in one index. Each pattern is one
 * function over the mismatch that says whether all errors fit it; a pattern that leaves one wrong
 * element unexplained is not named. docs/messages.md lists them for students.
 *
 *   pattern.c    the table, most specific first, and the sentence that is made of it
 *   values.c     right places, wrong values: NaN, a factor, what was there before
 *   moved.c      right values, wrong places: transposed, shifted, repeated
 *   places.c     where the wrong ones are: tails, rows, lanes
 *   suspects.c   wrong formulas that a case states by name (case.h), and the results before
 *   products.c   those of a product of matrices
 *   symptoms.c   what softgpu's findings are symptoms of
 *
 * A function returns 0 when it does not fit, else a number for its words (1 when they have none).
 */
#ifndef GRADER_MISTAKES_H
#define GRADER_MISTAKES_H

#include "correctness/case.h"

typedef struct mismatch {
    layout where;
    const float *got;
    const double *want, *bound; /* how far off is still right; NULL: nothing is known but places */
    const bool *bad;
    size_t count, first;       /* of bad elements */
    const float *before;       /* what the call before gave for the array, or NULL */
    const double *want_before; /* and should have given */
    const long *sizes;         /* numbers that the call was given */
    int size_count;
    bool exponentials, masks; /* as the exercise has them (exercise.h) */
    bool on_cpu;              /* without grids */
} mismatch;

/** The likely mistake, as "; ..." in words, or "" when the errors form no known pattern. */
const char *pattern_name(const mismatch *);
/** The likely mistake behind a cause (call.h has those beyond device_cause), as "; ..." or "". */
const char *symptom_name(unsigned cause);
/** The same without "; " in front, and with N for a number that it names. The caller frees. */
char *mistake_kind(const char *mistake);
/** All words that patterns can say, for the tests; NULL ends. */
const char *pattern_words(size_t i);
/** The formulas of suspect() are those of one comparison. */
void suspects_forget(void);
/** What the last comparison of an array of this name and size had, or NULL. @param want what it
 *  should have had */
const float *result_of_call_before(layout, const double **want);
void result_keep(layout, const float *got, const double *want);

typedef size_t pattern_function(const mismatch *);

/* ---- guesses: what an element would be if one mistake explained them all ----------------------
 */

typedef struct guess {
    double value, bound; /* how far off the right element may be */
    bool open;           /* the mistake says nothing of this element */
} guess;

typedef guess guess_function(const mismatch *, size_t i, size_t parameter);

/** Does the guess explain the array: every wrong element of which it says something, and no right
 *  one would be wrong? @param least so many wrong elements must be explained */
bool explains(const mismatch *, guess_function *, size_t parameter, size_t least);

static inline size_t size_of(const mismatch *m)
{
    return m->where.rows * m->where.cols;
}

/* ---- values.c, moved.c, places.c --------------------------------------------------------------
 */

pattern_function never_written, added_to_unset, result_before, added_to_result_before, became_nan,
    nan_passed_over, became_infinite, exp_became_infinite, cut_at_zero, all_zero, should_be_zero,
    mask_ignored, sign_flipped, sum_not_mean, mean_not_sum, doubled, constant_factor, saturated,
    log_saturated, one_value, small_errors, rows_off, rows_scaled;
pattern_function is_transposed, one_row_off, one_element_off, wrong_stride, row_repeated,
    column_repeated, block_repeated, vector_repeated;
pattern_function beyond_int, first_row_only, last_partial_rows, last_partial_columns,
    last_rows_and_columns, grid_too_small, first_ones_right, from_block, from_row, every_nth_right,
    every_nth_wrong, diagonal_only, first_column_only, from_column;

/* ---- suspects.c ------------------------------------------------------------------------------ */

/** The stated formulas that explain all of it, as "; ...", or "". */
void name_suspects(const mismatch *, char *text, size_t bytes);

#endif

/* values.c: patterns of wrong values at their right places. */
#include "mistakes.h"

#include <math.h>
#include <string.h>

#define ROUNDING                                                                                   \
    500 /* times the bound: what TF32 and fp16 can be off by; a dropped term is more               \
         */
#define ROUNDED   0.01 /* of the norm: twice what bf16 is off by */
#define DIFFERENT 3    /* right values below a clamp: with fewer, it may be a count */

static bool all_bad(const mismatch *m, bool (*is)(const mismatch *, size_t i))
{
    for (size_t i = 0; i < size_of(m); i++) {
        if (m->bad[i] && !is(m, i)) return false;
    }
    return m->count > 0;
}

static bool is_zero(const mismatch *m, size_t i)
{
    return m->got[i] == 0.0f;
}

/* ---- what was there before ------------------------------------------------------------------- */

static bool has_bits(const mismatch *m, size_t i, unsigned bits)
{
    return memcmp(&m->got[i], &bits, sizeof bits) == 0;
}

static bool is_poison(const mismatch *m, size_t i)
{
    return has_bits(m, i, POISON_F32);
}

/* Arithmetic makes the signalling NaN a quiet one. */
static bool is_quiet_poison(const mismatch *m, size_t i)
{
    return has_bits(m, i, POISON_F32 | 0x400000u);
}

size_t never_written(const mismatch *m)
{
    return all_bad(m, is_poison);
}

size_t added_to_unset(const mismatch *m)
{
    return all_bad(m, is_quiet_poison);
}

static guess before(const mismatch *m, size_t i, size_t unused)
{
    (void)unused;
    return (guess){m->before[i], m->bound[i], false};
}

/* Where the call before should have given the same, it is no wonder that it did. */
static bool should_differ(const mismatch *m)
{
    for (size_t i = 0; i < size_of(m); i++) {
        if (m->bad[i] && !(fabs(m->want[i] - m->want_before[i]) <= m->bound[i])) return true;
    }
    return false;
}

static guess before_and_want(const mismatch *m, size_t i, size_t unused)
{
    (void)unused;
    return (guess){m->before[i] + m->want[i], m->bound[i], false};
}

/* A NaN of the call before says nothing about where this one's comes from. */
static bool finite_before(const mismatch *m, size_t i)
{
    return isfinite(m->before[i]);
}

size_t result_before(const mismatch *m)
{
    return m->before && !all_bad(m, is_zero) && all_bad(m, finite_before) && should_differ(m) &&
           explains(m, before, 0, 1);
}

size_t added_to_result_before(const mismatch *m)
{
    return m->before && all_bad(m, finite_before) && explains(m, before_and_want, 0, 1);
}

/* ---- one value ------------------------------------------------------------------------------- */

static bool is_nan(const mismatch *m, size_t i)
{
    return isnan(m->got[i]) && !is_poison(m, i);
}

size_t became_nan(const mismatch *m)
{
    return all_bad(m, is_nan);
}

static bool lost_nan(const mismatch *m, size_t i)
{
    return isnan(m->want[i]) && !isnan(m->got[i]);
}

size_t nan_passed_over(const mismatch *m)
{
    return all_bad(m, lost_nan);
}

static bool is_infinite(const mismatch *m, size_t i)
{
    return isinf(m->got[i]) && isfinite(m->want[i]);
}

size_t became_infinite(const mismatch *m)
{
    return all_bad(m, is_infinite);
}

size_t exp_became_infinite(const mismatch *m)
{
    return m->exponentials && became_infinite(m);
}

static bool is_zero_for_negative(const mismatch *m, size_t i)
{
    return m->got[i] == 0.0f && m->want[i] < 0.0;
}

/* All that should be negative and nothing else, where there is something else. */
static size_t is_cut_at_zero(const mismatch *m)
{
    size_t negative = 0;
    for (size_t i = 0; i < size_of(m); i++) negative += m->want[i] < -m->bound[i];
    return m->count >= 2 && m->count >= negative && m->count < size_of(m) &&
           all_bad(m, is_zero_for_negative);
}

size_t cut_at_zero(const mismatch *m)
{
    return is_cut_at_zero(m);
}

size_t all_zero(const mismatch *m)
{
    return !is_cut_at_zero(m) && all_bad(m, is_zero);
}

static bool wants_zero(const mismatch *m, size_t i)
{
    return m->want[i] == 0.0 && isfinite(m->got[i]);
}

/* Where all should be 0, that they are not says nothing. */
size_t should_be_zero(const mismatch *m)
{
    bool others = false;
    for (size_t i = 0; i < size_of(m); i++) others |= m->want[i] != 0.0;
    return others && all_bad(m, wants_zero);
}

size_t mask_ignored(const mismatch *m)
{
    return m->masks && should_be_zero(m);
}

/* ---- one factor ------------------------------------------------------------------------------ */

/* Any factor fits one number: then `least` must differ from the first. */
static bool scaled_by(const mismatch *m, double factor, size_t least)
{
    size_t explained = 0;
    for (size_t i = 0; i < size_of(m); i++) {
        const double expected = factor * m->want[i], error = fabs(m->got[i] - m->want[i]);
        const double bound = 4 * fabs(factor) * m->bound[i] + 1e-6 * fabs(expected);
        if (!(fabs(m->got[i] - expected) <= bound)) return false;
        if (m->bad[i] && !(fabs(m->got[i] - expected) <= 0.25 * error)) return false;
        explained += m->bad[i] && (least == 1 || m->want[i] != m->want[m->first]);
    }
    return explained >= least;
}

size_t sign_flipped(const mismatch *m)
{
    return scaled_by(m, -1.0, 1);
}

size_t doubled(const mismatch *m)
{
    return scaled_by(m, 2.0, 1);
}

static size_t scaled_by_a_size(const mismatch *m, bool inverse)
{
    for (int i = 0; i < m->size_count; i++) {
        const long size = m->sizes[i];
        if (size < 2) continue;
        if (scaled_by(m, inverse ? 1.0 / (double)size : (double)size, 1)) return (size_t)size;
    }
    return 0;
}

size_t sum_not_mean(const mismatch *m)
{
    return scaled_by_a_size(m, false);
}

size_t mean_not_sum(const mismatch *m)
{
    return scaled_by_a_size(m, true);
}

/* The factor is taken where it can be seen best. */
size_t constant_factor(const mismatch *m)
{
    size_t largest = m->first;
    for (size_t i = 0; i < size_of(m); i++) {
        if (m->bad[i] && fabs(m->want[i]) > fabs(m->want[largest])) largest = i;
    }
    const double factor = m->got[largest] / m->want[largest];
    return isfinite(factor) && factor != 0.0 && scaled_by(m, factor, 3);
}

/* ---- a number of its own for each row -------------------------------------------------------- */

/* Where the row's number can be seen best. */
static size_t clearest(const mismatch *m, size_t start)
{
    size_t at = start;
    for (size_t i = start; i < start + m->where.cols; i++) {
        if (m->bad[i] && (!m->bad[at] || fabs(m->want[i]) > fabs(m->want[at]))) at = i;
    }
    return at;
}

/* Of what is added, or a factor. @return how many wrong ones it explains that should be others than
 * the one that it is taken from; or -1 */
static long explained_in(const mismatch *m, size_t start, bool factor)
{
    const size_t at = clearest(m, start);
    const double number = factor ? m->got[at] / m->want[at] : m->got[at] - m->want[at];
    const double reach = fmax(1.0, factor ? fabs(number) : 1.0);
    long explained = 0;
    if (m->bad[at] && m->got[at] == 0.0f) return -1;
    for (size_t i = start; i < start + m->where.cols && m->bad[at]; i++) {
        const double value = factor ? number * m->want[i] : number + m->want[i];
        const double off = fabs(m->got[i] - value), error = fabs(m->got[i] - m->want[i]);
        if (!(off <= 4 * reach * m->bound[i] + 1e-6 * fabs(value))) return -1;
        if (m->bad[i] && !(off <= 0.25 * error)) return -1;
        explained += m->bad[i] && m->want[i] != m->want[at];
    }
    return explained;
}

static size_t are_off_by_own_numbers(const mismatch *m, bool factor)
{
    long explained = 0;
    for (size_t r = 0; r < m->where.rows; r++) {
        const long more = explained_in(m, r * m->where.cols, factor);
        if (more < 0) return 0;
        explained += more;
    }
    return m->where.rows > 1 && m->where.cols > 2 && explained >= 3;
}

size_t rows_off(const mismatch *m)
{
    return are_off_by_own_numbers(m, false);
}

size_t rows_scaled(const mismatch *m)
{
    return are_off_by_own_numbers(m, true);
}

/* ---- many values ----------------------------------------------------------------------------- */

/* Right values that are neither 0 nor the limit show that it is none of the array's few values. */
static bool has_others(const mismatch *m, double limit)
{
    size_t others = 0;
    for (size_t i = 0; i < size_of(m); i++)
        others += !m->bad[i] && m->got[i] != 0.0f && m->got[i] != limit;
    return others >= DIFFERENT;
}

/* They are all alike and should not be. */
static bool all_alike(const mismatch *m)
{
    const double value = m->got[m->first];
    bool differ = false;
    if (!isfinite(value) || value == 0.0 || m->count < 3) return false;
    for (size_t i = 0; i < size_of(m); i++) {
        if (m->bad[i] && !(fabs(m->got[i] - value) <= 1e-5 * fabs(value))) return false;
        differ |= m->bad[i] && m->want[i] != m->want[m->first];
    }
    return differ;
}

/* The wrong ones are all alike and should lie beyond, the right ones do not. */
static size_t is_cut_off(const mismatch *m)
{
    const double limit = m->got[m->first], side = m->want[m->first] > limit ? 1 : -1;
    if (!all_alike(m)) return 0;
    for (size_t i = 0; i < size_of(m); i++) {
        const double beyond = side * (m->want[i] - limit);
        if (m->bad[i] ? !(beyond > 0) : beyond > m->bound[i]) return 0;
    }
    return 1;
}

size_t saturated(const mismatch *m)
{
    return has_others(m, m->got[m->first]) && is_cut_off(m);
}

size_t one_value(const mismatch *m)
{
    return all_alike(m);
}

size_t log_saturated(const mismatch *m)
{
    return m->exponentials && is_cut_off(m);
}

static bool is_nearly_right(const mismatch *m, size_t i)
{
    return fabs(m->got[i] - m->want[i]) <= ROUNDING * m->bound[i];
}

static double relative_error(const mismatch *m)
{
    double off = 0.0, norm = 0.0;
    for (size_t i = 0; i < size_of(m); i++) {
        if (!isfinite(m->want[i])) continue;
        off += (m->got[i] - m->want[i]) * (m->got[i] - m->want[i]);
        norm += m->want[i] * m->want[i];
    }
    return norm > 0.0 ? sqrt(off / norm) : INFINITY;
}

size_t small_errors(const mismatch *m)
{
    return size_of(m) >= 16 && 2 * m->count >= size_of(m) && relative_error(m) <= ROUNDED &&
           all_bad(m, is_nearly_right);
}

/*
 * pattern.c: what the wrong elements of an array have in common. Each pattern is one function that
 * says whether all errors fit it; the first that does names the mistake.
 */
#include "grader.h"

#include <math.h>
#include <string.h>

static double slack; /* how close two values of this array are the same: 1e-4 of the largest */

static bool same(double a, double b)
{
    return fabs(a - b) <= slack;
}

static double largest(const mismatch *m)
{
    double top = 0.0;
    for (size_t i = 0; i < m->where.rows * m->where.cols; i++) {
        if (isfinite(m->want[i])) top = fmax(top, fabs(m->want[i]));
    }
    return top;
}

static size_t size_of(const mismatch *m)
{
    return m->where.rows * m->where.cols;
}

static bool never_written(const mismatch *m)
{
    const unsigned poison = POISON_F32;
    for (size_t i = 0; i < size_of(m); i++) {
        if (m->bad[i] && memcmp(&m->got[i], &poison, 4) != 0) return false;
    }
    return true;
}

static bool became_nan(const mismatch *m)
{
    for (size_t i = 0; i < size_of(m); i++) {
        if (m->bad[i] && !isnan(m->got[i])) return false;
    }
    return true;
}

static bool all_zero(const mismatch *m)
{
    for (size_t i = 0; i < size_of(m); i++) {
        if (m->bad[i] && m->got[i] != 0.0f) return false;
    }
    return true;
}

/* Got at (r, c) is what should be at (c, r), read as rows x cols or as cols x rows. */
static bool transposed(const mismatch *m)
{
    const size_t rows = m->where.rows, cols = m->where.cols;
    if (rows < 2 || cols < 2) return false;
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < cols; c++) {
            if (!same(m->got[c * rows + r], m->want[r * cols + c])) return false;
        }
    }
    return true;
}

static bool one_row_off(const mismatch *m)
{
    const size_t cols = m->where.cols;
    bool up = m->where.rows > 2, down = up;
    for (size_t i = 0; i + cols < size_of(m) && (up || down); i++) {
        down = down && same(m->got[i + cols], m->want[i]);
        up = up && same(m->got[i], m->want[i + cols]);
    }
    return up || down;
}

static bool sign_flipped(const mismatch *m)
{
    for (size_t i = 0; i < size_of(m); i++) {
        if (m->bad[i] && !same(m->got[i], -m->want[i])) return false;
    }
    return true;
}

/* got = factor * want everywhere: a sum for a mean, a scale twice or not at all. */
static bool constant_factor(const mismatch *m)
{
    const double factor = m->got[m->first] / m->want[m->first];
    if (!isfinite(factor) || m->count < 2) return false;
    for (size_t i = 0; i < size_of(m); i++) {
        if (!same(m->got[i], factor * m->want[i])) return false;
    }
    return true;
}

/* Only the right edge, or only the lower one, less than a tile of 64 wide. */
static bool last_columns(const mismatch *m)
{
    const size_t cols = m->where.cols;
    size_t left = cols;
    for (size_t i = 0; i < size_of(m); i++) {
        if (m->bad[i] && i % cols < left) left = i % cols;
    }
    return left > 0 && cols - left < 64 && left * 2 > cols;
}

static bool last_rows(const mismatch *m)
{
    const size_t top = m->first / m->where.cols;
    return top > 0 && m->where.rows - top < 64 && top * 2 > m->where.rows;
}

static bool first_row_only_right(const mismatch *m)
{
    return m->where.rows > 1 && m->first == m->where.cols &&
           m->count == (m->where.rows - 1) * m->where.cols;
}

static const struct {
    bool (*fits)(const mismatch *);
    const char *name;
} patterns[] = {
    {never_written, "; these elements were never written"},
    {became_nan, "; they are NaN: an unwritten output was read, or inf - inf, or 0 / 0"},
    {transposed, "; the result is transposed: rows and columns are mixed up"},
    {one_row_off, "; the result is shifted by one row"},
    {sign_flipped, "; the sign is wrong"},
    {all_zero, "; they are 0"},
    {constant_factor, "; all are wrong by one factor: a sum instead of a mean, or a scale"},
    {first_row_only_right, "; only the first row is right"},
    {last_columns, "; only the last columns are wrong: the tail, or the last partial tile"},
    {last_rows, "; only the last rows are wrong: the tail, or the last partial tile"},
};

const char *pattern_name(const mismatch *m)
{
    slack = 1e-4 * largest(m);
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        if (patterns[i].fits(m)) return patterns[i].name;
    }
    return "";
}

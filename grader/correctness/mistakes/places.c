/* places.c: patterns of the places of the wrong elements, whatever these hold. A pattern is the
 * whole set: every element that it names is wrong, and no other is. */
#include "mistakes.h"

#define TILE_LEAST 4    /* a vector of floats */
#define TILE_MOST  1024 /* threads of a block */
#define LEAST      3    /* wrong elements of a part that is named */

static size_t cols_of(const mismatch *m)
{
    return m->where.cols;
}

/* The first one says it: so large an array is not looked at element by element. */
size_t beyond_int(const mismatch *m)
{
    return m->first > INT_MAX;
}

typedef bool place_function(const mismatch *, size_t row, size_t col, size_t parameter);

static bool wrong_exactly(const mismatch *m, place_function *is_wrong, size_t parameter)
{
    if (m->count == size_of(m)) return false;
    for (size_t i = 0; i < size_of(m); i++) {
        if (m->bad[i] != is_wrong(m, i / cols_of(m), i % cols_of(m), parameter)) return false;
    }
    return true;
}

static bool after_row(const mismatch *m, size_t row, size_t col, size_t first)
{
    (void)m, (void)col;
    return row >= first;
}

static bool after_column(const mismatch *m, size_t row, size_t col, size_t first)
{
    (void)m, (void)row;
    return col >= first;
}

size_t first_row_only(const mismatch *m)
{
    return m->where.rows > 2 && cols_of(m) > 1 && wrong_exactly(m, after_row, 1);
}

size_t first_column_only(const mismatch *m)
{
    return cols_of(m) > 5 && wrong_exactly(m, after_column, 1);
}

/* ---- tails ----------------------------------------------------------------------------------- */

/* The largest tile of which `whole` elements are whole tiles, when the rest is less than one.
 * @return 0 when there is none */
static size_t tile_before(size_t whole, size_t all)
{
    size_t tile = TILE_MOST;
    while (tile > 1 && whole % tile) tile /= 2;
    return whole > 0 && tile >= TILE_LEAST && all - whole < tile ? tile : 0;
}

static size_t first_wrong_row(const mismatch *m)
{
    return m->first / cols_of(m);
}

static size_t first_wrong_column(const mismatch *m)
{
    size_t left = cols_of(m);
    for (size_t i = 0; i < size_of(m); i++) {
        if (m->bad[i] && i % cols_of(m) < left) left = i % cols_of(m);
    }
    return left;
}

size_t last_partial_rows(const mismatch *m)
{
    const size_t whole = first_wrong_row(m), tile = tile_before(whole, m->where.rows);
    return tile && wrong_exactly(m, after_row, whole) ? tile : 0;
}

size_t last_partial_columns(const mismatch *m)
{
    const size_t whole = first_wrong_column(m), tile = tile_before(whole, cols_of(m));
    return tile && wrong_exactly(m, after_column, whole) ? tile : 0;
}

static bool outside_whole_tiles(const mismatch *m, size_t row, size_t col, size_t tile)
{
    return row >= m->where.rows / tile * tile || col >= cols_of(m) / tile * tile;
}

size_t last_rows_and_columns(const mismatch *m)
{
    for (size_t tile = TILE_MOST; tile >= TILE_LEAST; tile /= 2) {
        if (m->where.rows <= tile || cols_of(m) <= tile) continue;
        if (m->where.rows % tile == 0 || cols_of(m) % tile == 0) continue;
        if (wrong_exactly(m, outside_whole_tiles, tile)) return tile;
    }
    return 0;
}

static bool after_element(const mismatch *m, size_t row, size_t col, size_t first)
{
    return row * cols_of(m) + col >= first;
}

/* Whole warps at the beginning, and more than a tail is wrong. */
size_t first_ones_right(const mismatch *m)
{
    const bool whole = m->first > 0 && m->first % 32 == 0;
    return whole && wrong_exactly(m, after_element, m->first) ? m->first : 0;
}

/* No thread was there for the rest: something else in it is no matter of the grid. */
size_t grid_too_small(const mismatch *m)
{
    return !m->on_cpu && never_written(m) ? first_ones_right(m) : 0;
}

/* ---- one of many ----------------------------------------------------------------------------- */

static bool off_the_diagonal(const mismatch *m, size_t row, size_t col, size_t unused)
{
    (void)m, (void)unused;
    return row != col;
}

size_t diagonal_only(const mismatch *m)
{
    return m->where.rows > 2 && cols_of(m) > 2 && wrong_exactly(m, off_the_diagonal, 0);
}

static bool not_first_of_group(const mismatch *m, size_t row, size_t col, size_t group)
{
    (void)m, (void)row;
    return col % group != 0;
}

static size_t period_of(const mismatch *m, place_function *is_wrong)
{
    for (size_t group = 2; group <= TILE_MOST && 2 * group < cols_of(m); group *= 2) {
        if (wrong_exactly(m, is_wrong, group)) return group;
    }
    return 0;
}

size_t every_nth_right(const mismatch *m)
{
    return period_of(m, not_first_of_group);
}

/* Which of each group it is, the first wrong one says. */
static bool same_of_group(const mismatch *m, size_t row, size_t col, size_t group)
{
    (void)row;
    return col % group == m->first % cols_of(m) % group;
}

size_t every_nth_wrong(const mismatch *m)
{
    return period_of(m, same_of_group);
}

/* More are wrong than by chance, and the first one begins a warp. */
size_t from_block(const mismatch *m)
{
    const bool vector = m->where.rows == 1;
    return vector && m->first % 32 == 0 && m->count >= 2 * 32 ? m->first : 0;
}

/* Where the half of a part is wrong and most of the array lies outside, that is no chance. */
static bool is_part(const mismatch *m, size_t size)
{
    return m->count >= LEAST && 2 * m->count >= size && 4 * size <= 3 * size_of(m);
}

size_t from_row(const mismatch *m)
{
    const size_t first = m->first / cols_of(m), rows = m->where.rows;
    return rows > 1 && is_part(m, (rows - first) * cols_of(m)) ? first : 0;
}

size_t from_column(const mismatch *m)
{
    const size_t first = first_wrong_column(m);
    return first > 1 && first + 1 < cols_of(m) && wrong_exactly(m, after_column, first) ? first : 0;
}

/* moved.c: patterns of right values at wrong places. Each guess says where an element came from. */
#include "mistakes.h"

#define LEAST 3 /* elements that must be explained: fewer may be chance */

static guess from(const mismatch *m, size_t i)
{
    return (guess){m->want[i], m->bound[i], false};
}

static const guess anything = {.open = true};

/* What should be at (r, c) is at (c, r) of an array with as many rows as this one has columns. */
static guess from_transposed(const mismatch *m, size_t i, size_t unused)
{
    (void)unused;
    return from(m, i % m->where.rows * m->where.cols + i / m->where.rows);
}

size_t is_transposed(const mismatch *m)
{
    return m->where.rows > 1 && m->where.cols > 1 && explains(m, from_transposed, 0, LEAST);
}

static guess from_later(const mismatch *m, size_t i, size_t distance)
{
    return i + distance < size_of(m) ? from(m, i + distance) : anything;
}

static guess from_earlier(const mismatch *m, size_t i, size_t distance)
{
    return i >= distance ? from(m, i - distance) : anything;
}

static size_t shifted_by(const mismatch *m, size_t distance)
{
    return explains(m, from_later, distance, LEAST) || explains(m, from_earlier, distance, LEAST);
}

size_t one_row_off(const mismatch *m)
{
    return m->where.rows > 2 && m->where.cols > 1 && shifted_by(m, m->where.cols);
}

static guess from_next_column(const mismatch *m, size_t i, size_t unused)
{
    (void)unused;
    return (i + 1) % m->where.cols ? from(m, i + 1) : anything;
}

static guess from_last_column(const mismatch *m, size_t i, size_t unused)
{
    (void)unused;
    return i % m->where.cols ? from(m, i - 1) : anything;
}

size_t one_element_off(const mismatch *m)
{
    if (explains(m, from_next_column, 0, LEAST) || explains(m, from_last_column, 0, LEAST)) {
        return 1;
    }
    return shifted_by(m, 1);
}

/* Rows lie `stride` apart; where they overlap, the later row is the one that is there. */
static guess from_stride(const mismatch *m, size_t i, size_t stride)
{
    const size_t row = i / stride, col = i % stride;
    return row < m->where.rows && col < m->where.cols ? from(m, row * m->where.cols + col)
                                                      : anything;
}

size_t wrong_stride(const mismatch *m)
{
    for (int i = 0; i < m->size_count && m->where.rows > 2; i++) {
        const size_t stride = (size_t)m->sizes[i];
        if (m->sizes[i] < 2 || stride == m->where.cols) continue;
        if (explains(m, from_stride, stride, LEAST)) return stride;
    }
    return 0;
}

static guess from_first_row(const mismatch *m, size_t i, size_t unused)
{
    (void)unused;
    return from(m, i % m->where.cols);
}

size_t row_repeated(const mismatch *m)
{
    return m->where.rows > 1 && explains(m, from_first_row, 0, LEAST);
}

static guess from_first_column(const mismatch *m, size_t i, size_t unused)
{
    (void)unused;
    return from(m, i - i % m->where.cols);
}

size_t column_repeated(const mismatch *m)
{
    return m->where.cols > 1 && explains(m, from_first_column, 0, LEAST);
}

static guess from_first_block(const mismatch *m, size_t i, size_t block)
{
    return from(m, i % block);
}

size_t block_repeated(const mismatch *m)
{
    for (size_t block = 32; block <= 1024 && block < size_of(m); block *= 2) {
        if (explains(m, from_first_block, block, LEAST)) return block;
    }
    return 0;
}

/* Of two groups of columns both are the first. */
static guess from_first_of_two(const mismatch *m, size_t i, size_t group)
{
    return from(m, i % m->where.cols / group % 2 ? i - group : i);
}

size_t vector_repeated(const mismatch *m)
{
    for (size_t group = 4; group <= 64 && group < m->where.cols; group *= 2) {
        if (explains(m, from_first_of_two, group, LEAST)) return group;
    }
    return 0;
}

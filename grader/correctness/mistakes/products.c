/* products.c: the mistakes of c = a * b, and of all sums that can be written so. */
#include "mistakes.h"

#include <math.h>

#define TERMS_MOST 50000000L /* of a larger product no formulas are tried */
#define TRIES      4         /* parts of a sum that the first element could be */

typedef struct product {
    const float *c, *a, *b; /* [m x n] [m x k] [k x n] */
    long m, n, k;
} product;

/* Where a product takes its elements to lie, and which terms it sums. */
typedef struct reading {
    long a_row, a_col, b_row, b_col, from, to;
    bool a_turned, b_turned; /* it lies in memory as its transpose */
    bool row_of_c;           /* of b is read, not that of the term */
    long tile;               /* terms of a tile, of which: */
    bool no_first, no_last;  /* one is left out, */
    bool along;              /* or b moves on by so many columns, not rows */
} reading;

static reading right_reading(const product *p)
{
    return (reading){.a_row = p->k, .a_col = 1, .b_row = p->n, .b_col = 1, .to = p->k};
}

static long a_at(const product *p, const reading *how, long i, long t)
{
    const long at = i * how->a_row + t * how->a_col;
    return how->a_turned ? at % p->m * p->k + at / p->m : at;
}

static long b_at(const product *p, const reading *how, long i, long t, long j)
{
    if (how->along) return t % how->tile * p->n + t / how->tile * how->tile + j;
    const long at = (how->row_of_c ? i : t) * how->b_row + j * how->b_col;
    return how->b_turned ? at % p->k * p->n + at / p->k : at;
}

static bool is_summed(const reading *how, long t)
{
    if (how->no_first && t % how->tile == 0) return false;
    return !how->no_last || t % how->tile != how->tile - 1;
}

static bool stays_inside(const product *p, const reading *how)
{
    const long last_a = (p->m - 1) * how->a_row + (p->k - 1) * how->a_col;
    const long last_b = (p->k - 1) * how->b_row + (p->n - 1) * how->b_col;
    if (how->row_of_c && p->m > p->k) return false;
    return last_a < p->m * p->k && last_b < p->k * p->n && (!how->along || p->k <= p->n);
}

static double sum_of(const product *p, const reading *how, long i, long j, double *absolute)
{
    double sum = *absolute = 0.0;
    for (long t = how->from; t < how->to; t++) {
        if (!is_summed(how, t)) continue;
        const double term = (double)p->a[a_at(p, how, i, t)] * p->b[b_at(p, how, i, t, j)];
        sum += term;
        *absolute += fabs(term);
    }
    return sum;
}

/* All of it is computed only where the first element agrees. */
static void suspect_reading(const char *words, const product *p, const reading *how)
{
    double absolute;
    if (!stays_inside(p, how)) return;
    if (!(fabs(p->c[0] - sum_of(p, how, 0, 0, &absolute)) <= 1e-5 * absolute)) return;
    double *wrong = f64_array((size_t)(p->m * p->n));
    for (long i = 0; i < p->m; i++) {
        for (long j = 0; j < p->n; j++) wrong[i * p->n + j] = sum_of(p, how, i, j, &absolute);
    }
    suspect(words, wrong);
}

/* A vector is read the same either way: then there is but one matrix. */
static void suspect_layouts(const product *p)
{
    const bool vector = p->m == 1 || p->n == 1;
    reading a = right_reading(p), b = a, stride = a, a_stride = a;
    a.a_row = 1, a.a_col = p->m;
    b.b_row = 1, b.b_col = p->k;
    stride.b_row = p->k;
    a_stride.a_row = p->n;
    if (p->m > 1) {
        suspect_reading(vector ? "the matrix is read as if it were transposed"
                               : "the first operand is read as if it were transposed",
                        p, &a);
    }
    if (p->n > 1) {
        suspect_reading(vector ? "the matrix is read as if it were transposed"
                               : "the second operand is read as if it were transposed",
                        p, &b);
    }
    if (p->m > 1 && p->k != p->n) {
        suspect_reading("the rows of the first operand are read with a wrong stride", p, &a_stride);
    }
    if (p->n > 1 && p->k != p->n) {
        suspect_reading("the rows of the second operand are read with a wrong stride", p, &stride);
    }
}

/* Of an operand that is handed over as its transpose, and of one whose row is another index's. */
static void suspect_rows(const product *p)
{
    reading a = right_reading(p), b = a, row = a;
    a.a_row = 1, a.a_col = p->k, a.a_turned = true;
    b.b_row = 1, b.b_col = p->n, b.b_turned = true;
    row.row_of_c = true;
    if (p->k != p->m)
        suspect_reading("the rows of the first operand are read with a wrong stride", p, &a);
    if (p->k != p->n)
        suspect_reading("the rows of the second operand are read with a wrong stride", p, &b);
    if (p->m > 1)
        suspect_reading("the row of the second operand is that of the result, not of the term", p,
                        &row);
}

static void suspect_tiles(const product *p)
{
    reading first = right_reading(p), last = first, along = first;
    first.no_first = last.no_last = along.along = true;
    for (long tile = 4; tile <= 256 && tile < p->k; tile *= 2) {
        first.tile = last.tile = along.tile = tile;
        suspect_reading("the first term of each tile of the sums is left out", p, &first);
        suspect_reading("the last term of each tile of the sums is left out", p, &last);
        suspect_reading("from tile to tile the second operand moves on by columns, not by rows", p,
                        &along);
    }
}

static void suspect_prefix(const product *p, long terms)
{
    reading how = right_reading(p);
    long tile = 1024;
    how.to = terms;
    while (tile > 1 && terms % tile) tile /= 2;
    const bool tail = tile >= 4 && p->k - terms < tile;
    if (tail) suspect_reading("the last partial tile of each sum is left out", p, &how);
    if (terms == p->k - 1) suspect_reading("the last term of each sum is left out", p, &how);
    if (!tail && terms < p->k - 1) {
        suspect_reading("each sum ends early: only its first terms are there", p, &how);
    }
}

static void suspect_suffix(const product *p, long from)
{
    reading how = right_reading(p);
    how.from = from;
    if (from == 1) suspect_reading("the first term of each sum is left out", p, &how);
    if (from > 1)
        suspect_reading("only the last terms of each sum are there: = instead of +=", p, &how);
}

/* Which terms there are, the first element says. */
static void suspect_parts(const product *p)
{
    double sum = 0.0, absolute = 0.0, whole = 0.0, whole_absolute = 0.0;
    int tried = 0;
    for (long t = 0; t < p->k; t++) {
        const double term = (double)p->a[t] * p->b[t * p->n];
        whole += term;
        whole_absolute += fabs(term);
    }
    for (long t = 0; t < p->k - 1 && tried < TRIES; t++) {
        const double term = (double)p->a[t] * p->b[t * p->n];
        sum += term;
        absolute += fabs(term);
        const bool prefix = fabs(p->c[0] - sum) <= 1e-5 * absolute;
        const double rest = whole_absolute - absolute;
        const bool suffix = fabs(p->c[0] - (whole - sum)) <= 1e-5 * rest;
        if (prefix) suspect_prefix(p, t + 1);
        if (suffix) suspect_suffix(p, t + 1);
        tried += prefix || suffix;
    }
}

void suspect_product(const float *c, const float *a, const float *b, long m, long n, long k)
{
    const product p = {c, a, b, m, n, k};
    if (m * n * k > TERMS_MOST || m * n < 2 || k < 2) return; /* one sum is met by chance */
    suspect_layouts(&p);
    suspect_rows(&p);
    suspect_tiles(&p);
    suspect_parts(&p);
}

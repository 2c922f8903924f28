/* 410_paged_attention: decoding against a softmax in double, from rows and from pages: contexts
 * around the ends of pages and of splits, shuffled and shared pages, NaN wherever a context does
 * not reach, groups of any size; bytes of the cache against what is valid, the longest way of a
 * warp; time against reading the cache, and against a block per query head.
 * shape: sequences, query heads a head of the cache, heads of the cache, dim, page, pages that a
 * sequence has room for, contexts. Without pages a sequence has room for one. */
#include "correctness/case.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PAGED         "attention_paged"
#define CONTIGUOUS    "multi_query_attention"

#define INVALID_VALUE 1
#define TOLERANCE     2e-6 /* of the weighted values' sizes, times how large scores are */
#define SAMPLED       6    /* query heads that are checked of a large call */

/* How long contexts are: drawn; around the end of each page in turn; as long as there is room. */
enum { DRAWN, AROUND_PAGES, FULL };

typedef struct decoding {
    long sequences, q_heads, kv_heads, dim, page, max_pages, pages;
    int *lengths, *table;   /* [sequences], [sequences x max_pages] */
    void *q, *k, *v;        /* of bf16 */
    size_t q_size, kv_size; /* elements of q, and of k or v */
    float scale;
    bool pages_are_rows; /* the mistake */
} decoding;

/* ---- inputs ---------------------------------------------------------------------------------- */

static int length_of(const decoding *d, long sequence, long contexts)
{
    const long most = d->page * d->max_pages;
    if (contexts == FULL) return (int)most;
    if (contexts == DRAWN) return (int)random_below(case_random(), (uint64_t)most + 1);
    const long edge = sequence / 3 * d->page, length = edge + sequence % 3 - 1;
    return (int)(length < 0 ? 0 : length > most ? most : length);
}

static long pages_used(const decoding *d, long sequence)
{
    return (d->lengths[sequence] + d->page - 1) / d->page;
}

static void shuffle(int *x, long count)
{
    for (long i = count - 1; i > 0; i--) {
        const long j = (long)random_below(case_random(), (uint64_t)i + 1);
        const int other = x[i];
        x[i] = x[j], x[j] = other;
    }
}

/* Pages in any order, some of them nobody's; behind those of a context, garbage. */
static void lay_out_pages(decoding *d)
{
    static const int garbage[] = {-1, INT_MAX, INT_MIN, 1 << 30};
    long used = 0;
    for (long s = 0; s < d->sequences; s++) used += pages_used(d, s);
    d->pages = used + 2;
    int *order = i32_array((size_t)d->pages);
    for (long i = 0; i < d->pages; i++) order[i] = (int)i;
    shuffle(order, d->pages);
    for (long s = 0; s < d->sequences; s++) {
        int *row = d->table + s * d->max_pages;
        const long own = pages_used(d, s);
        for (long i = 0; i < d->max_pages; i++) row[i] = i < own ? *order++ : garbage[(s + i) % 4];
    }
}

/* All sequences begin with the whole pages of the first: the same prompt. */
static void share_pages(decoding *d)
{
    for (long s = 1; s < d->sequences; s++) {
        const long whole = d->lengths[s] / d->page, first = d->lengths[0] / d->page;
        for (long i = 0; i < whole && i < first; i++) d->table[s * d->max_pages + i] = d->table[i];
    }
}

/* Of the cache, where token t of a sequence lies. */
static size_t row_of(const decoding *d, long sequence, long t)
{
    const size_t page = (size_t)d->table[sequence * d->max_pages + t / d->page];
    return page * (size_t)(d->pages_are_rows ? 1 : d->page) + (size_t)(t % d->page);
}

static size_t row_elements(const decoding *d)
{
    return (size_t)(d->kv_heads * d->dim);
}

/* Rows of no context become NaN. */
static void spoil_the_rest(decoding *d)
{
    const size_t rows = (size_t)(d->pages * d->page), bytes = 2 * row_elements(d);
    char *valid = array_of(ELEMENT_I8, rows);
    for (long s = 0; s < d->sequences; s++)
        for (long t = 0; t < d->lengths[s]; t++) valid[row_of(d, s, t)] = 1;
    for (size_t r = 0; r < rows; r++) {
        if (valid[r]) continue;
        memset((char *)d->k + r * bytes, 0xff, bytes);
        memset((char *)d->v + r * bytes, 0xff, bytes);
    }
}

static decoding sized(const long *shape)
{
    decoding d = {.sequences = shape[0], .q_heads = shape[1] * shape[2], .kv_heads = shape[2]};
    d.dim = shape[3], d.page = shape[4], d.max_pages = shape[5];
    d.lengths = i32_array((size_t)d.sequences);
    d.table = i32_array((size_t)(d.sequences * d.max_pages));
    for (long s = 0; s < d.sequences; s++) d.lengths[s] = length_of(&d, s, shape[6]);
    d.scale = 1.0f / sqrtf((float)d.dim + 0.1f);
    return d;
}

/* Numbers of both signs from 0.5 to 2, quickly where there are many. */
static void *quick_bf16(size_t count)
{
    uint16_t *x = array_of(ELEMENT_BF16, count);
    for (size_t i = 0; i < count; i += 4) {
        uint64_t bits = (random_u64(case_random()) & 0x80ff80ff80ff80ff) | 0x3f003f003f003f00;
        memcpy(x + i, &bits, count - i < 4 ? 2 * (count - i) : sizeof bits);
    }
    return x;
}

static void fill(decoding *d)
{
    d->q_size = (size_t)(d->sequences * d->q_heads * d->dim);
    d->kv_size = (size_t)(d->pages * d->page) * row_elements(d);
    d->q = random_of(ELEMENT_BF16, d->q_size, -2.0, 2.0);
    d->k = quick_bf16(d->kv_size);
    d->v = quick_bf16(d->kv_size);
}

static decoding in_pages(const long *shape)
{
    decoding d = sized(shape);
    lay_out_pages(&d);
    fill(&d);
    return d;
}

static decoding in_rows(const long *shape)
{
    decoding d = sized(shape);
    d.pages = d.sequences;
    for (long s = 0; s < d.sequences; s++) d.table[s] = (int)s;
    fill(&d);
    return d;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static argument cache_argument(const char *name, const void *x, size_t size, unsigned shift)
{
    return shift ? shifted(in_bytes(name, x, 2 * size), shift) : in_of(ELEMENT_BF16, name, x, size);
}

/* @return out; k and v begin so many bytes past an aligned address */
static void *call(const char *function, const decoding *d, unsigned shift)
{
    void *out = array_of(ELEMENT_BF16, d->q_size);
    const argument to = shifted(out_of(ELEMENT_BF16, "out", out, d->q_size), 2 * shift);
    const argument q = cache_argument("q", d->q, d->q_size, shift);
    const argument k = cache_argument("k", d->k, d->kv_size, shift);
    const argument v = cache_argument("v", d->v, d->kv_size, 3 * shift);
    const argument lengths = in_i32("context_lengths", d->lengths, (size_t)d->sequences);
    const argument s = i32((int)d->sequences), qh = i32((int)d->q_heads);
    const argument kvh = i32((int)d->kv_heads), dim = i32((int)d->dim), page = i32((int)d->page);
    if (strstr(function, "paged")) {
        const size_t entries = (size_t)(d->sequences * d->max_pages);
        call_cuda(function,
                  ARGS(to, q, k, v, in_i32("block_table", d->table, entries), lengths, s, qh, kvh,
                       page, i32((int)d->max_pages), dim, f32(d->scale), stream()));
    } else {
        call_cuda(function,
                  ARGS(to, q, k, v, lengths, s, qh, kvh, page, dim, f32(d->scale), stream()));
    }
    return out;
}

/* ---- what it should be ----------------------------------------------------------------------- */

/* A number of bf16 is the upper half of a float. */
static double value(const void *x, size_t i)
{
    const uint32_t bits = (uint32_t)((const uint16_t *)x)[i] << 16;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* Weights of a context, not divided by their sum. @return the largest sum of the sizes of a score's
 * products */
static double weigh(double *p, const decoding *d, long sequence, size_t q, long kv_head,
                    double scale)
{
    double most = -INFINITY, size = 0.0;
    const long length = d->lengths[sequence];
    for (long t = 0; t < length; t++) {
        const size_t k =
            (row_of(d, sequence, t) * (size_t)d->kv_heads + (size_t)kv_head) * (size_t)d->dim;
        double of_one = p[t] = 0.0;
        for (size_t i = 0; i < (size_t)d->dim; i++) {
            const double product = scale * value(d->q, q + i) * value(d->k, k + i);
            p[t] += product, of_one += fabs(product);
        }
        most = fmax(most, p[t]), size = fmax(size, of_one);
    }
    for (long t = 0; t < length; t++) p[t] = exp(p[t] - most);
    return size;
}

/* want, size [dim] of one query head, number `row` of all, which reads this head of the cache; p
 * has room for a context's weights */
static void attend(double *want, double *size, double *p, const decoding *d, long row, long kv_head,
                   double scale)
{
    const long sequence = row / d->q_heads, length = d->lengths[sequence];
    const size_t dim = (size_t)d->dim;
    double sum = 0.0;
    const double products = weigh(p, d, sequence, (size_t)row * dim, kv_head, scale);
    for (long t = 0; t < length; t++) {
        const size_t v = (row_of(d, sequence, t) * (size_t)d->kv_heads + (size_t)kv_head) * dim;
        sum += p[t];
        for (size_t i = 0; i < dim; i++) {
            const double term = p[t] * value(d->v, v + i);
            want[i] += term, size[i] += fabs(term);
        }
    }
    for (size_t i = 0; i < dim && length > 0; i++) {
        want[i] /= sum;
        size[i] = (1.0 + products) * size[i] / sum + 1e-30;
    }
}

static long kv_head_of(const decoding *d, long row)
{
    return row % d->q_heads / (d->q_heads / d->kv_heads);
}

static double *attended(const decoding *d, double *size, bool modulo, double scale)
{
    double *want = f64_array(d->q_size), *p = f64_array((size_t)(d->page * d->max_pages) + 1);
    for (long row = 0; row < d->sequences * d->q_heads; row++) {
        const long kv_head = modulo ? row % d->q_heads % d->kv_heads : kv_head_of(d, row);
        attend(want + row * d->dim, size + row * d->dim, p, d, row, kv_head, scale);
    }
    return want;
}

/* As the function would have stored it. */
static double *rounded(double *x, size_t count)
{
    uint16_t of_one;
    for (size_t i = 0; i < count; i++) {
        element_store(ELEMENT_BF16, &of_one, 0, x[i]);
        x[i] = value(&of_one, 0);
    }
    return x;
}

static void check(const decoding *d, const void *out)
{
    const layout l = {"out", (size_t)(d->sequences * d->q_heads), (size_t)d->dim};
    double *size = f64_array(d->q_size), *unused = f64_array(d->q_size);
    const double *want = attended(d, size, false, d->scale);
    if (d->q_size < 20000) {
        suspect("query head h reads head h % kv_heads of the cache",
                rounded(attended(d, unused, true, d->scale), d->q_size));
        decoding wrong = *d;
        wrong.pages_are_rows = true;
        suspect("the page's number is used as its first row: that is the number times page",
                rounded(attended(&wrong, unused, false, d->scale), d->q_size));
        suspect("the scores are not scaled", rounded(attended(d, unused, false, 1.0), d->q_size));
    }
    expect_close_of(l, ELEMENT_BF16, out, want, size, TOLERANCE);
}

static void check_some(const decoding *d, const void *out)
{
    double *p = f64_array((size_t)(d->page * d->max_pages) + 1);
    for (int i = 0; i < SAMPLED; i++) {
        const uint64_t rows = (uint64_t)(d->sequences * d->q_heads);
        const long row = (long)random_below(case_random(), rows);
        double *want = f64_array((size_t)d->dim), *size = f64_array((size_t)d->dim);
        attend(want, size, p, d, row, kv_head_of(d, row), d->scale);
        expect_close_of((layout){"a row of out", 1, (size_t)d->dim}, ELEMENT_BF16,
                        (const uint16_t *)out + row * d->dim, want, size, TOLERANCE);
    }
}

/* ---- cases ----------------------------------------------------------------------------------- */

static void run_paged(const long *shape)
{
    decoding d = in_pages(shape);
    spoil_the_rest(&d);
    check(&d, call(PAGED, &d, 0));
}

static void run_contiguous(const long *shape)
{
    decoding d = in_rows(shape);
    spoil_the_rest(&d);
    check(&d, call(CONTIGUOUS, &d, 0));
}

/* Sizes are drawn; dim in groups of 8. */
static void run_any(const long *shape)
{
    const long drawn[SHAPE_MAX] = {shape[0], shape[1], shape[2], 8 * shape[3], shape[4], shape[5]};
    run_paged(drawn);
}

static void run_shared(const long *shape)
{
    decoding d = in_pages(shape);
    share_pages(&d);
    spoil_the_rest(&d);
    check(&d, call(PAGED, &d, 0));
}

/* The same tokens in pages and in rows. */
static void run_both(const long *shape)
{
    decoding d = in_pages(shape), rows = d;
    spoil_the_rest(&d);
    check(&d, call(PAGED, &d, 0));
    const long room = d.page * d.max_pages;
    const size_t bytes = 2 * row_elements(&d);
    rows.page = room, rows.max_pages = 1, rows.pages = d.sequences;
    rows.kv_size = (size_t)(d.sequences * room) * row_elements(&d);
    rows.table = i32_array((size_t)d.sequences);
    rows.k = array_of(ELEMENT_BF16, rows.kv_size), rows.v = array_of(ELEMENT_BF16, rows.kv_size);
    for (long s = 0; s < d.sequences; s++) {
        rows.table[s] = (int)s;
        for (long t = 0; t < d.lengths[s]; t++) {
            const size_t to = (size_t)(s * room + t) * bytes, from = row_of(&d, s, t) * bytes;
            memcpy((char *)rows.k + to, (char *)d.k + from, bytes);
            memcpy((char *)rows.v + to, (char *)d.v + from, bytes);
        }
    }
    spoil_the_rest(&rows);
    check(&d, call(CONTIGUOUS, &rows, 0));
}

/* Every address a multiple of 2 bytes and of no more. */
static void run_misaligned(const long *shape)
{
    decoding d = in_pages(shape);
    spoil_the_rest(&d);
    check(&d, call(PAGED, &d, 2));
    d = in_rows((long[SHAPE_MAX]){shape[0], shape[1], shape[2], shape[3], shape[4], 1});
    check(&d, call(CONTIGUOUS, &d, 2));
}

/* Keys along q: each token's score is larger than all before it, or, with a falling slope, smaller.
 * shape[7]: the largest score */
static void run_slope(const long *shape)
{
    decoding d = in_pages(shape);
    const long room = d.page * d.max_pages;
    d.scale = (float)shape[7];
    for (long s = 0; s < d.sequences; s++) {
        for (long t = 0; t < d.lengths[s]; t++) {
            const size_t first = row_of(&d, s, t) * row_elements(&d);
            const double slope = (double)(s % 2 ? t : room - t) / (double)room;
            for (long h = 0; h < d.kv_heads; h++) {
                for (long i = 0; i < d.dim; i++)
                    element_store(ELEMENT_BF16, d.k, first + (size_t)(h * d.dim + i),
                                  i == 0 ? slope : 0.0);
            }
        }
    }
    for (size_t i = 0; i < d.q_size; i += (size_t)d.dim) element_store(ELEMENT_BF16, d.q, i, 1.0);
    spoil_the_rest(&d);
    check(&d, call(PAGED, &d, 0));
}

/* A NaN among the keys, then among the values, of one sequence: of no other. */
static void run_nan(const long *shape)
{
    for (int of_values = 0; of_values < 2; of_values++) {
        decoding d = in_pages(shape);
        const long s = (long)random_below(case_random(), (uint64_t)d.sequences);
        const long t = (long)random_below(case_random(), (uint64_t)d.lengths[s]);
        const size_t at = row_of(&d, s, t) * row_elements(&d) +
                          (size_t)random_below(case_random(), (uint64_t)row_elements(&d));
        element_store(ELEMENT_BF16, of_values ? d.v : d.k, at, NAN);
        spoil_the_rest(&d);
        check(&d, call(PAGED, &d, 0));
    }
}

/* What is refused, beside what is not. */
static void run_refused(const long *shape)
{
    const decoding d = in_pages(shape);
    static const struct {
        int sequences, q_heads, kv_heads, page, max_pages, dim;
    } wrong[] = {{1, 3, 2, 4, 2, 8},  {1, 2, 2, 4, 2, 12}, {1, 2, 2, 4, 2, 136},
                 {-1, 2, 2, 4, 2, 8}, {1, 2, 0, 4, 2, 8},  {1, -2, 2, 4, 2, 8},
                 {1, 2, -2, 4, 2, 8}, {1, 2, 2, 4, 2, -8}, {1, 2, 2, 4, -1, 8},
                 {0, 3, 2, 4, 2, 8},  {0, 2, 2, 4, 2, 12}, {1, 0, 2, 4, 2, 12},
                 {1, 3, 2, 4, 2, 0},  {1, 2, 2, 0, 2, 8}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const argument sizes[] = {i32(wrong[i].sequences), i32(wrong[i].q_heads),
                                  i32(wrong[i].kv_heads)};
        call_refused(INVALID_VALUE, PAGED,
                     ARGS(null_pointer(), null_pointer(), null_pointer(), null_pointer(),
                          null_pointer(), null_pointer(), sizes[0], sizes[1], sizes[2],
                          i32(wrong[i].page), i32(wrong[i].max_pages), i32(wrong[i].dim), f32(1.0f),
                          stream()));
        if (wrong[i].page == 0) continue;
        call_refused(INVALID_VALUE, CONTIGUOUS,
                     ARGS(null_pointer(), null_pointer(), null_pointer(), null_pointer(),
                          null_pointer(), sizes[0], sizes[1], sizes[2],
                          i32(wrong[i].page * wrong[i].max_pages), i32(wrong[i].dim), f32(1.0f),
                          stream()));
    }
    check(&d, call(PAGED, &d, 0));
}

static const grading_case cases[] = {
    {.name = "paged 2 x 4/2 x 20 x 16", .run = run_paged, .shape = {2, 2, 2, 16, 8, 3}},
    {.name = "paged, one token", .run = run_paged, .shape = {1, 1, 1, 8, 1, 1, FULL}},
    {.name = "paged, around pages of 16",
     .run = run_paged,
     .shape = {12, 4, 2, 64, 16, 4, AROUND_PAGES}},
    {.name = "paged, around pages of 1",
     .run = run_paged,
     .shape = {9, 1, 2, 8, 1, 5, AROUND_PAGES}},
    {.name = "paged, around pages of 256",
     .run = run_paged,
     .shape = {10, 4, 1, 32, 256, 4, AROUND_PAGES}},
    {.name = "paged, pages of 7", .run = run_paged, .shape = {5, 3, 3, 40, 7, 9}},
    {.name = "paged, groups of 1", .run = run_paged, .shape = {3, 1, 4, 128, 16, 8}},
    {.name = "paged, groups of 8", .run = run_paged, .shape = {3, 8, 2, 128, 16, 8}},
    {.name = "paged, groups of 11", .run = run_paged, .shape = {2, 11, 2, 24, 16, 8}},
    {.name = "paged, long contexts", .run = run_paged, .shape = {3, 4, 1, 16, 16, 128}},
    {.name = "paged, short contexts in long rooms",
     .run = run_paged,
     .shape = {6, 4, 1, 16, 512, 4, AROUND_PAGES}},
    {.name = "paged, shared pages", .run = run_shared, .shape = {6, 2, 2, 64, 8, 12}},
    {.name = "paged, misaligned", .run = run_misaligned, .shape = {3, 4, 2, 72, 8, 12}},
    {.name = "paged, rising and falling scores",
     .run = run_slope,
     .shape = {4, 4, 2, 16, 16, 80, FULL, 60}},
    {.name = "paged, scores to 10000",
     .run = run_slope,
     .shape = {4, 2, 1, 16, 16, 8, FULL, 10000}},
    /* The largest of a sequence's are -156: exp of that is 0. */
    {.name = "paged, scores to -20000",
     .run = run_slope,
     .shape = {4, 2, 1, 16, 16, 8, FULL, -20000}},
    {.name = "paged, a nan in a context", .run = run_nan, .shape = {3, 4, 2, 32, 8, 5, FULL}},
    {.name = "paged, no sequences", .run = run_paged, .shape = {0, 4, 2, 32, 8, 5}},
    {.name = "paged, no heads", .run = run_paged, .shape = {3, 0, 2, 32, 8, 5}},
    {.name = "paged, no columns", .run = run_paged, .shape = {3, 4, 2, 0, 8, 5}},
    {.name = "paged, a scale of 0", .run = run_slope, .shape = {4, 4, 2, 16, 16, 8, DRAWN, 0}},
    {.name = "paged, no room", .run = run_paged, .shape = {3, 4, 2, 32, 8, 0}},
    {.name = "paged, any shape",
     .run = run_any,
     .shape = {1, 1, 1, 1, 1, 1},
     .most = {4, 12, 4, 16, 40, 9}},
    LONG_ROW("paged, pages 1 x 66000 x 1", run_paged, 1, 1, 1, 8, 1, 66000, FULL),
    LONG_ROW("paged, page of 66000", run_paged, 1, 1, 1, 8, 66000, 1, FULL),
    LONG_ROW("paged, 66000 sequences", run_paged, 66000, 1, 1, 8, 1, 1),
    LONG_ROW("paged, 1100 heads of the cache", run_paged, 1, 1, 1100, 8, 1, 1, FULL),
    LONG_ROW("paged, a group of 1100", run_paged, 1, 1100, 1, 8, 1, 1, FULL),
    {.name = "contiguous 3 x 4/2 x 50 x 64",
     .run = run_contiguous,
     .shape = {3, 2, 2, 64, 50, 1},
     .part = CONTIGUOUS},
    {.name = "contiguous, no sequences", .run = run_contiguous, .shape = {0, 4, 2, 16, 9, 1}},
    {.name = "contiguous, no context", .run = run_contiguous, .shape = {2, 4, 2, 16, 0, 1}},
    {.name = "contiguous, one head of the cache",
     .run = run_contiguous,
     .shape = {3, 8, 1, 128, 100, 1}},
    {.name = "contiguous, long contexts", .run = run_contiguous, .shape = {2, 4, 1, 16, 2500, 1}},
    LONG_ROW("contiguous, 66000 tokens", run_contiguous, 1, 1, 1, 8, 66000, 1, FULL),
    LONG_ROW("contiguous, 66000 sequences", run_contiguous, 66000, 1, 1, 8, 1, 1),
    LONG_ROW("contiguous, 1100 heads of the cache", run_contiguous, 1, 1, 1100, 8, 1, 1, FULL),
    LONG_ROW("contiguous, a group of 1100", run_contiguous, 1, 1100, 1, 8, 1, 1, FULL),
    {.name = "pages and rows alike", .run = run_both, .shape = {4, 4, 2, 64, 16, 10}},
    {.name = "what is refused", .run = run_refused, .shape = {2, 1, 2, 8, 4, 2, FULL}},
    {.name = "paged 16 x 32/8 x 4096 x 128",
     .run = run_paged,
     .shape = {16, 4, 8, 128, 16, 256},
     .where = ON_GPU,
     .once = true,
     .part = PAGED},
    {0},
};

/* ---- time and traffic ------------------------------------------------------------------------ */

static void run_timed(const char *function, const long *shape)
{
    const decoding d = strstr(function, "paged") ? in_pages(shape) : in_rows(shape);
    const void *out = call(function, &d, 0);
    if (strncmp(function, "baseline_", 9) != 0) check_some(&d, out);
}

/* Of keys and values. */
#define CACHE_BYTES(sequences, heads, dim, tokens) (4.0 * (sequences) * (heads) * (dim) * (tokens))

static const speed_test speed[] = {
    {.metric = {"bandwidth", .relative_to = "plain read of the cache",
                .shape = "8 × (32/8) × 8192 × 128"},
     .function = PAGED,
     .baseline = "baseline_paged_read",
     .run = run_timed,
     .shape = {8, 4, 8, 128, 16, 512, FULL},
     .varied = 5,
     .where = ON_GPU,
     .threshold = 0.7,
     .begin = 0.035, /* one block per query head: validate.tsv */
     .bytes = CACHE_BYTES(8, 8, 128, 8192),
     .peer_share = 0.8,
     .peer_bytes = CACHE_BYTES(8, 8, 128, 8192)},
    {.metric = {"speedup", .over = "one block per query head", .shape = "2 × (32/8) × 16384 × 128"},
     .function = PAGED,
     .baseline = "baseline_paged_heads",
     .run = run_timed,
     .shape = {2, 4, 8, 128, 16, 1024, FULL},
     .varied = 5,
     .where = ON_GPU,
     .threshold = 4.0,
     .bytes = CACHE_BYTES(2, 8, 128, 16384)},
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"DRAM bytes", .relative_to = "valid bytes of the cache",
                .shape = "2 × (8/2) × 1008 × 128"},
     .function = PAGED,
     .run = run_timed,
     .shape = {2, 4, 2, 128, 16, 63, FULL},
     .count = moved_bytes,
     .ideal = CACHE_BYTES(2, 2, 128, 1008),
     .bound = AT_MOST,
     .wanted = 1.1,
     .begin = 4.068},
    {.metric = {"DRAM bytes", .relative_to = "bytes of one head of the cache",
                .shape = "2 × (8/1) × 1000 × 128"},
     .function = CONTIGUOUS,
     .run = run_timed,
     .shape = {2, 8, 1, 128, 1000, 1, FULL},
     .count = moved_bytes,
     .ideal = CACHE_BYTES(2, 1, 128, 1000),
     .bound = AT_MOST,
     .wanted = 1.12,
     .begin = 2.072},
    {.metric = {"reduction in instructions of the longest warp", .over = "one block per query head",
                .shape = "1 × (4/1) × 8192 × 64"},
     .function = PAGED,
     .baseline = "baseline_paged_heads",
     .run = run_timed,
     .shape = {1, 4, 1, 64, 16, 512, FULL},
     .varied = 5,
     .count = instructions_per_warp,
     .bound = AT_LEAST,
     .wanted = 4.0},
    {0},
};

EXERCISE(410) = {
    .id = 410,
    .name = "paged_attention",
    .file = "phase4_optimization/410_paged_attention/410_paged_attention.cu",
    .functions = {PAGED, CONTIGUOUS},
    .baseline_file = "grader/exercises/410_paged_attention/baseline.cu",
    .exponentials = true,
    .points = 20,
    .speed_points = 15,
    .see = "paged 2 x 4/2 x 20 x 16",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};

/* 313_attention: attention of all shapes, with and without a mask; scores that are equal, large,
 * or -infinity; the future does not reach the past; gradients against double and against central
 * differences; speed against a thread per query. shape: batch, heads, seq, dim, causal */
#include "exercises/shared/attention_cases.h"

#include <math.h>
#include <string.h>

#define SAMPLES 12 /* elements of each gradient that central differences look at */

static bool is_baseline(const char *function)
{
    return strncmp(function, "baseline_", 9) == 0; /* it is ours, and believed */
}

/* ---- forward --------------------------------------------------------------------------------- */

static float *forward(const char *function, const attention *a, unsigned shift)
{
    float *out = f32_array(a->size);
    call_cuda(function, ARGS(shifted(out_f32("out", out, a->size), shift),
                             shifted(in_f32("q", a->q, a->size), shift),
                             shifted(in_f32("k", a->k, a->size), 2 * shift),
                             shifted(in_f32("v", a->v, a->size), 3 * shift), ATTENTION_SHAPE(a)));
    return out;
}

static void run_forward(const long *shape)
{
    const attention a = random_attention(shape);
    expect_attention(forward("attention_naive", &a, 0), NULL, &a);
}

static void run_forward_misaligned(const long *shape)
{
    const attention a = random_attention(shape);
    expect_attention(forward("attention_naive", &a, 4), NULL, &a);
}

/* Another scale than 1 / sqrt(dim), and a negative one; then 0, which makes all scores equal. */
static void run_other_scale(const long *shape)
{
    attention a = random_attention(shape);
    a.causal *= 2; /* as any number but 0 */
    a.scale *= -1.7f;
    expect_attention(forward("attention_naive", &a, 0), NULL, &a);
    a.scale = 0.0f;
    expect_attention(forward("attention_naive", &a, 0), NULL, &a);
}

/* Queries of 0: each gets the mean of the values that it sees. */
static void run_equal_scores(const long *shape)
{
    attention a = random_attention(shape);
    memset(a.q, 0, a.size * sizeof *a.q);
    expect_attention(forward("attention_naive", &a, 0), NULL, &a);
}

/* Scores of 10000 and -10000, exactly. */
static void run_large_scores(const long *shape)
{
    const attention a = large_scores(shape);
    expect_attention(forward("attention_naive", &a, 0), NULL, &a);
}

/* Each query has one key, of its own number, whose score is 200 above all others and needs to be
 * the maximum: dim bits tell the numbers apart. */
static void run_own_key(const long *shape)
{
    attention a = random_attention(shape);
    a.scale = 1.0f;
    for (size_t i = 0; i < a.size; i++) {
        const size_t t = i / (size_t)a.dim % (size_t)a.seq, bit = i % (size_t)a.dim;
        a.q[i] = a.k[i] = t >> bit & 1 ? 10.0f : -10.0f;
    }
    expect_attention(forward("attention_naive", &a, 0), NULL, &a);
}

/* Some keys are -infinity in all that q, which is positive, multiplies: they have no weight. */
static void run_keys_without_weight(const long *shape)
{
    attention a = random_attention(shape);
    for (size_t i = 0; i < a.size; i++) a.q[i] = fabsf(a.q[i]) + 0.01f;
    for (size_t i = 0; i < a.size; i++) {
        if (i / (size_t)a.dim % 3 != 1) a.k[i] = -INFINITY;
    }
    expect_attention(forward("attention_naive", &a, 0), NULL, &a);
}

/* A NaN in a query is its own; one in a key is everybody's who sees it. */
static void run_nan(const long *shape)
{
    const attention a = random_attention(shape);
    const size_t dim = (size_t)a.dim, seq = (size_t)a.seq;
    const size_t query = random_below(case_random(), seq), key = seq / 2;
    a.q[query * dim] = NAN;
    a.k[(seq + key) * dim + dim - 1] = NAN; /* of the second head */
    const float *out = forward("attention_naive", &a, 0);
    for (size_t row = 0; row < a.rows; row++) {
        const bool lost = row == query || (row / seq == 1 && (!a.causal || row % seq >= key));
        for (size_t i = 0; i < dim; i++)
            expect((bool)isnan(out[row * dim + i]) == lost,
                   "out[%zu][%zu] is %g; a NaN is in query %zu of head 0 and in key %zu of head 1",
                   row, i, out[row * dim + i], query, key);
    }
}

/* What comes after a query changes no bit of what it gets. */
static void run_future(const long *shape)
{
    const attention a = random_attention(shape);
    const float *before = forward("attention_naive", &a, 0);
    const size_t first = (size_t)(a.seq - a.seq / 3), dim = (size_t)a.dim; /* that changes */
    for (size_t i = 0; i < a.size; i++) {
        if (i / dim % (size_t)a.seq >= first) a.k[i] *= 3.0f, a.v[i] += 7.0f, a.q[i] -= 1.0f;
    }
    const float *after = forward("attention_naive", &a, 0);
    for (size_t i = 0; i < a.size; i++) {
        const size_t t = i / dim % (size_t)a.seq;
        expect(t >= first || before[i] == after[i],
               "query %zu got %.9g, and %.9g when tokens from %zu on were changed", t, before[i],
               after[i], first);
    }
    expect_attention(after, NULL, &a);
}

/* Without a mask no token has a place: tokens in another order, results in that order. */
static void run_permutation(const long *shape)
{
    const attention a = random_attention(shape);
    const float *before = forward("attention_naive", &a, 0);
    const size_t dim = (size_t)a.dim, seq = (size_t)a.seq;
    attention moved = a;
    float **arrays[] = {&moved.q, &moved.k, &moved.v};
    size_t *from = array_of(ELEMENT_BYTE, a.rows * sizeof *from);
    for (size_t row = 0; row < a.rows; row++) from[row] = row / seq * seq + (row + seq / 3) % seq;
    for (int i = 0; i < 3; i++) {
        const float *old = *arrays[i];
        *arrays[i] = f32_array(a.size);
        for (size_t row = 0; row < a.rows; row++)
            memcpy(*arrays[i] + row * dim, old + from[row] * dim, dim * sizeof *old);
    }
    const float *after = forward("attention_naive", &moved, 0);
    for (size_t row = 0; row < a.rows; row++)
        for (size_t i = 0; i < dim; i++)
            expect(fabsf(after[row * dim + i] - before[from[row] * dim + i]) <= 1e-5f,
                   "query %zu gets %.9g at %zu, and got %.9g when the tokens were in another order",
                   from[row] % seq, after[row * dim + i], i, before[from[row] * dim + i]);
    expect_attention(after, NULL, &moved);
}

static void run_timed_forward(const char *function, const long *shape)
{
    const attention a = random_attention(shape);
    const float *out = forward(function, &a, 0);
    if (!is_baseline(function)) expect_attention(out, NULL, &a);
}

/* ---- backward -------------------------------------------------------------------------------- */

enum { GRAD_Q, GRAD_K, GRAD_V, GRADIENTS };

typedef struct gradients {
    attention a;
    const float *grad_out;
    float *grad[GRADIENTS];
} gradients;

static const char *const names[] = {"grad_q", "grad_k", "grad_v"};

static gradients backward_of(const char *function, attention a, const float *grad_out,
                             unsigned shift)
{
    gradients g = {.a = a, .grad_out = grad_out};
    for (int i = 0; i < GRADIENTS; i++) g.grad[i] = f32_array(a.size);
    call_cuda(function, ARGS(shifted(out_f32("grad_q", g.grad[GRAD_Q], a.size), shift),
                             shifted(out_f32("grad_k", g.grad[GRAD_K], a.size), shift),
                             shifted(out_f32("grad_v", g.grad[GRAD_V], a.size), shift),
                             shifted(in_f32("grad_out", g.grad_out, a.size), shift),
                             shifted(in_f32("q", a.q, a.size), shift),
                             shifted(in_f32("k", a.k, a.size), 2 * shift),
                             shifted(in_f32("v", a.v, a.size), 3 * shift), ATTENTION_SHAPE(&a)));
    return g;
}

static gradients backward(const char *function, attention a, unsigned shift)
{
    return backward_of(function, a, random_f32(a.size), shift);
}

/* What one query adds to the gradients, in double, and what an honest sum may be off by. */
typedef struct expected {
    double *want[GRADIENTS], *scale[GRADIENTS];
    double *constant[GRADIENTS]; /* grad_s = p grad_p: as if the sum of the softmax were constant */
    double *unscaled[GRADIENTS]; /* the scale forgotten on the way back */
} expected;

static void add(double *sum, double factor, const float *x, long dim)
{
    for (long i = 0; i < dim; i++) sum[i] += factor * x[i];
}

static void add_size(double *sum, double factor, const float *x, long dim)
{
    for (long i = 0; i < dim; i++) sum[i] += factor * fabs(x[i]);
}

static double dot_of(const float *x, const float *y, long dim, double *size)
{
    double sum = 0.0;
    *size = 0.0;
    for (long i = 0; i < dim; i++) {
        sum += (double)x[i] * y[i];
        *size += fabs((double)x[i] * y[i]);
    }
    return sum;
}

/* Through one score: query `row`, key `key`, both rows of [rows x dim]. */
static void through_score(expected *e, const gradients *g, size_t row, size_t key, double grad_s,
                          double constant, double size)
{
    const attention *a = &g->a;
    const double scale = a->scale;
    const size_t at_q = row * (size_t)a->dim, at_k = key * (size_t)a->dim;
    add(e->want[GRAD_Q] + at_q, scale * grad_s, a->k + at_k, a->dim);
    add(e->want[GRAD_K] + at_k, scale * grad_s, a->q + at_q, a->dim);
    add(e->constant[GRAD_Q] + at_q, scale * constant, a->k + at_k, a->dim);
    add(e->constant[GRAD_K] + at_k, scale * constant, a->q + at_q, a->dim);
    add(e->unscaled[GRAD_Q] + at_q, grad_s, a->k + at_k, a->dim);
    add(e->unscaled[GRAD_K] + at_k, grad_s, a->q + at_q, a->dim);
    add_size(e->scale[GRAD_Q] + at_q, fabs(scale) * size, a->k + at_k, a->dim);
    add_size(e->scale[GRAD_K] + at_k, fabs(scale) * size, a->q + at_q, a->dim);
}

static void through_query(expected *e, const gradients *g, size_t row, attention_row *r,
                          double *grad_p, double *size_of)
{
    const attention *a = &g->a;
    const size_t dim = (size_t)a->dim, seq = (size_t)a->seq, head = row - row % seq;
    double dot = 0.0, size = 0.0;
    reference_attention_row(r, a, row);
    const double roundings = roundings_of_row(r, a);
    for (size_t u = 0; u < seq; u++) {
        const float *v = a->v + (head + u) * dim;
        grad_p[u] = dot_of(g->grad_out + row * dim, v, a->dim, &size_of[u]);
        dot += r->p[u] * grad_p[u];
        size += r->p[u] * size_of[u];
    }
    for (size_t u = 0; u < seq; u++) {
        const double p = r->p[u];
        if (p == 0.0) continue; /* behind the mask nothing is added */
        add(e->want[GRAD_V] + (head + u) * dim, p, g->grad_out + row * dim, a->dim);
        add_size(e->scale[GRAD_V] + (head + u) * dim, p * roundings, g->grad_out + row * dim,
                 a->dim);
        through_score(e, g, row, head + u, p * (grad_p[u] - dot), p * grad_p[u],
                      p * (size_of[u] + size) * roundings);
    }
}

static expected expected_of(const gradients *g)
{
    expected e;
    attention_row r = new_attention_row(&g->a);
    double *grad_p = f64_array((size_t)g->a.seq), *size_of = f64_array((size_t)g->a.seq);
    for (int i = 0; i < GRADIENTS; i++) {
        e.want[i] = f64_array(g->a.size);
        e.scale[i] = f64_array(g->a.size);
        e.constant[i] = f64_array(g->a.size);
        e.unscaled[i] = f64_array(g->a.size);
    }
    for (size_t row = 0; row < g->a.rows; row++) through_query(&e, g, row, &r, grad_p, size_of);
    return e;
}

static void expect_gradients(const gradients *g)
{
    if (g->a.size == 0) return;
    const expected e = expected_of(g);
    for (int i = GRADIENTS - 1; i >= 0; i--) { /* grad_v first: the others stand on p, too */
        const layout l = {names[i], g->a.rows, (size_t)g->a.dim};
        if (i != GRAD_V && !is_close(l, g->grad[i], e.want[i], e.scale[i], FP32_SUM_TOLERANCE)) {
            suspect("grad_s is p grad_p alone: it should be p (grad_p - the row's sum of p grad_p)",
                    e.constant[i]);
            suspect("the scale is missing: it multiplies the gradients of q and k, too",
                    e.unscaled[i]);
        }
        expect_close(l, g->grad[i], e.want[i], e.scale[i], FP32_SUM_TOLERANCE);
    }
}

static void run_backward(const long *shape)
{
    const gradients g = backward("attention_naive_backward", random_attention(shape), 0);
    expect_gradients(&g);
}

static void run_backward_other_scale(const long *shape)
{
    attention a = random_attention(shape);
    a.causal *= 2; /* as any number but 0 */
    a.scale *= -1.7f;
    gradients g = backward("attention_naive_backward", a, 0);
    expect_gradients(&g);
    a.scale = 0.0f;
    g = backward("attention_naive_backward", a, 0);
    expect_gradients(&g);
}

static void run_backward_misaligned(const long *shape)
{
    const gradients g = backward("attention_naive_backward", random_attention(shape), 4);
    expect_gradients(&g);
}

/* Scores of 10000 and -10000: p is 1 / n, or 0, and nothing becomes NaN. */
static void run_backward_large_scores(const long *shape)
{
    const gradients g = backward("attention_naive_backward", large_scores(shape), 0);
    expect_gradients(&g);
}

/* The first head has one in q, the second in k, the third in v, the fourth in grad_out; the others
 * have none, and get none. What an infinity becomes depends on how the row's sum is computed. */
static void run_backward_nan(const long *shape)
{
    const attention a = random_attention(shape);
    const size_t head = (size_t)(a.seq * a.dim);
    float *grad_out = random_f32(a.size);
    a.q[random_below(case_random(), head)] = NAN;
    a.k[head + random_below(case_random(), head)] = NAN;
    a.v[2 * head + random_below(case_random(), head)] = NAN;
    grad_out[3 * head + random_below(case_random(), head)] = NAN;
    const gradients g = backward_of("attention_naive_backward", a, grad_out, 0);
    expect_gradients(&g);
}

static void run_same_bits(const long *shape)
{
    const attention a = random_attention(shape);
    gradients first = {0};
    for (int n = 0; n < 3; n++) {
        random_state *random = case_random();
        const random_state before = *random;
        const gradients g = backward("attention_naive_backward", a, 0);
        if (n == 0) first = g;
        for (int i = 0; i < GRADIENTS; i++)
            expect(memcmp(first.grad[i], g.grad[i], a.size * sizeof(float)) == 0,
                   "%s has other bits for the same input: the order of additions changes",
                   names[i]);
        *random = before; /* the same grad_out once more */
    }
    expect_gradients(&first);
}

/* ---- central differences --------------------------------------------------------------------- */

/* The sum of grad_out * out over the head of element `at`. */
static double loss(const gradients *g, size_t at)
{
    const attention *a = &g->a;
    const size_t dim = (size_t)a->dim, seq = (size_t)a->seq, head = at / (seq * dim) * seq;
    attention_row r = new_attention_row(a);
    double sum = 0.0;
    for (size_t row = head; row < head + seq; row++) {
        reference_attention_row(&r, a, row);
        for (size_t i = 0; i < dim; i++) sum += g->grad_out[row * dim + i] * r.out[i];
    }
    return sum;
}

static double slope(const gradients *g, float *x, size_t at)
{
    const float old = x[at], step = 1.0f / 256;
    x[at] = old + step;
    const double up = x[at], above = loss(g, at);
    x[at] = old - step;
    const double down = x[at], below = loss(g, at);
    x[at] = old;
    return (above - below) / (up - down);
}

static void run_central_differences(const long *shape)
{
    const gradients g = backward("attention_naive_backward", random_attention(shape), 0);
    float *const of[] = {g.a.q, g.a.k, g.a.v};
    for (int i = 0; i < GRADIENTS; i++) {
        for (int s = 0; s < SAMPLES; s++) {
            const size_t at = random_below(case_random(), g.a.size);
            const double want = slope(&g, of[i], at);
            expect(fabs(g.grad[i][at] - want) <= 1e-4 * fmax(1.0, fabs(want)),
                   "%s[%zu] is %.9g, central differences say %.9g", names[i], at, g.grad[i][at],
                   want);
        }
    }
}

/* Of many heads some one, which nobody knows before. */
static gradients some_head(const gradients *g)
{
    gradients one = *g;
    one.a.batch = one.a.heads = 1;
    one.a.rows = (size_t)g->a.seq;
    one.a.size = one.a.rows * (size_t)g->a.dim;
    const size_t at = random_below(case_random(), g->a.size / one.a.size) * one.a.size;
    one.a.q += at, one.a.k += at, one.a.v += at, one.grad_out += at;
    for (int i = 0; i < GRADIENTS; i++) one.grad[i] += at;
    return one;
}

static void run_timed_backward(const char *function, const long *shape)
{
    const gradients g = backward(function, random_attention(shape), 0);
    if (is_baseline(function)) return;
    const gradients one = some_head(&g);
    expect_gradients(&one);
}

/* ---- tables ---------------------------------------------------------------------------------- */

#define FORWARD  "attention_naive"
#define BACKWARD "attention_naive_backward"
#define BOTH(shape_text, ...)                                                                      \
    {.name = "forward " shape_text, .run = run_forward, .shape = {__VA_ARGS__}, .part = FORWARD},  \
    {                                                                                              \
        .name = "backward " shape_text, .run = run_backward, .shape = {__VA_ARGS__},               \
        .part = BACKWARD                                                                           \
    }
#define BOTH_LONG(shape_text, ...)                                                                 \
    {.name = "forward " shape_text,                                                                \
     .run = run_forward,                                                                           \
     .shape = {__VA_ARGS__},                                                                       \
     .once = true,                                                                                 \
     .part = FORWARD},                                                                             \
    {                                                                                              \
        .name = "backward " shape_text, .run = run_backward, .shape = {__VA_ARGS__}, .once = true, \
        .part = BACKWARD                                                                           \
    }

static const grading_case cases[] = {
    BOTH("1x1x1x1", 1, 1, 1, 1, 0),
    BOTH("1x2x7x16", 1, 2, 7, 16, 0),
    BOTH("causal 2x2x7x5", 2, 2, 7, 5, 1),
    BOTH("causal 1x2x33x32", 1, 2, 33, 32, 1),
    BOTH("2x1x63x40", 2, 1, 63, 40, 0),
    BOTH("causal 1x1x65x64", 1, 1, 65, 64, 1),
    BOTH("causal 1x3x2x128", 1, 3, 2, 128, 1),
    BOTH("0x2x5x4", 0, 2, 5, 4, 0),
    BOTH("2x2x0x4", 2, 2, 0, 4, 1),
    BOTH("2x2x3x0", 2, 2, 3, 0, 0),
    BOTH_LONG("causal 1x1x1030x2", 1, 1, 1030, 2, 1),
    BOTH_LONG("1x1x2x1100", 1, 1, 2, 1100, 0),
    BOTH_LONG("1x1100x1x2", 1, 1100, 1, 2, 0),
    BOTH_LONG("causal 300x1x2x1", 300, 1, 2, 1, 1),
    {.name = "forward any shape",
     .run = run_forward,
     .shape = {1, 1, 1, 1, 0},
     .most = {3, 3, 70, 70, 1},
     .part = FORWARD},
    {.name = "backward any shape",
     .run = run_backward,
     .shape = {1, 1, 1, 1, 0},
     .most = {2, 3, 70, 70, 1},
     .part = BACKWARD},
    {.name = "forward, another scale",
     .run = run_other_scale,
     .shape = {1, 2, 20, 24, 1},
     .part = FORWARD},
    {.name = "forward, tokens in another order",
     .run = run_permutation,
     .shape = {2, 2, 37, 16, 0}},
    {.name = "forward, equal scores", .run = run_equal_scores, .shape = {1, 1, 37, 8, 0}},
    {.name = "forward, equal scores, causal", .run = run_equal_scores, .shape = {1, 1, 37, 8, 1}},
    {.name = "forward, scores of 10000", .run = run_large_scores, .shape = {1, 2, 40, 16, 1}},
    {.name = "forward, a key per query", .run = run_own_key, .shape = {1, 1, 70, 7, 0}},
    {.name = "forward, keys of -infinity",
     .run = run_keys_without_weight,
     .shape = {1, 2, 35, 9, 1}},
    {.name = "forward with nan", .run = run_nan, .shape = {1, 3, 34, 6, 0}},
    {.name = "forward with nan, causal", .run = run_nan, .shape = {1, 3, 34, 6, 1}},
    {.name = "forward, the future", .run = run_future, .shape = {1, 2, 45, 12, 1}},
    {.name = "forward, misaligned", .run = run_forward_misaligned, .shape = {1, 2, 16, 16, 0}},
    {.name = "backward, another scale",
     .run = run_backward_other_scale,
     .shape = {1, 2, 20, 24, 1},
     .part = BACKWARD},
    {.name = "backward, scores of 10000",
     .run = run_backward_large_scores,
     .shape = {1, 2, 24, 8, 0}},
    {.name = "backward with nan", .run = run_backward_nan, .shape = {1, 5, 37, 9, 0}},
    {.name = "backward, misaligned", .run = run_backward_misaligned, .shape = {1, 2, 16, 16, 1}},
    {.name = "backward, the same bits every time", .run = run_same_bits, .shape = {1, 1, 40, 8, 0}},
    {.name = "backward, central differences",
     .run = run_central_differences,
     .shape = {1, 2, 21, 10, 0}},
    {.name = "backward, central differences, causal",
     .run = run_central_differences,
     .shape = {1, 2, 21, 10, 1}},
    {.name = "forward 2x4x1000x64",
     .run = run_forward,
     .shape = {2, 4, 1000, 64, 1},
     .where = ON_GPU,
     .part = FORWARD},
    {.name = "backward 1x2x500x64",
     .run = run_backward,
     .shape = {1, 2, 500, 64, 1},
     .where = ON_GPU,
     .part = BACKWARD},
    {.name = "forward 1x70001x1x1",
     .run = run_forward,
     .shape = {1, 70001, 1, 1, 0},
     .once = true,
     .seconds = 120,
     .part = FORWARD},
    {.name = "backward 1x70001x2x3",
     .run = run_backward,
     .shape = {1, 70001, 2, 3, 0},
     .where = ON_GPU,
     .once = true,
     .part = BACKWARD},
    {0},
};

static const speed_test speed[] = {
    {.metric = {"speedup", .over = "one thread per query", .shape = "1 × 48 × 1024 × 64"},
     .function = "attention_naive",
     .baseline = "baseline_attention",
     .run = run_timed_forward,
     .shape = {1, 48, 1024, 64, 1},
     .varied = 1,
     .where = ON_GPU,
     .threshold = 10.0,
     .flop = 2.0 * 48 * 1024 * 1024 * 64},
    {.metric = {"speedup", .over = "one thread per query", .shape = "1 × 48 × 1024 × 64"},
     .function = "attention_naive_backward",
     .baseline = "baseline_attention_backward",
     .run = run_timed_backward,
     .shape = {1, 48, 1024, 64, 1},
     .varied = 1,
     .where = ON_GPU,
     .threshold = 5.0,
     .flop = 5.0 * 48 * 1024 * 1024 * 64},
    {0},
};

static const traffic_test traffic[] = {
    {.metric = {"reduction in DRAM bytes", .over = "one thread per query",
                .shape = "1 × 2 × 128 × 64"},
     .function = "attention_naive",
     .baseline = "baseline_attention",
     .run = run_timed_forward,
     .shape = {1, 2, 128, 64, 1},
     .varied = 2,
     .count = moved_bytes,
     .bound = AT_LEAST,
     .wanted = 40.0},
    {.metric = {"reduction in DRAM bytes", .over = "one thread per query",
                .shape = "1 × 2 × 96 × 64"},
     .function = "attention_naive_backward",
     .baseline = "baseline_attention_backward",
     .run = run_timed_backward,
     .shape = {1, 2, 96, 64, 1},
     .varied = 2,
     .count = moved_bytes,
     .bound = AT_LEAST,
     .wanted = 40.0},
    {0},
};

EXERCISE(313) = {
    .id = 313,
    .core = true,
    .name = "attention",
    .file = "phase3_layers/313_attention/313_attention.cu",
    .includes = {"phase2_cuda_basics/212_matmul_transposed/212_tile.cuh"},
    .functions = {"attention_naive", "attention_naive_backward"},
    .promises = {{"attention_naive", WAITS_FOR_NOTHING | ALLOCATES_ON_ITS_STREAM},
                 {"attention_naive_backward", WAITS_FOR_NOTHING | ALLOCATES_ON_ITS_STREAM}},
    .prerequisites = {212},
    .own_prerequisites = true,
    .exponentials = true,
    .masks = true,
    .baseline_file = "grader/exercises/313_attention/baseline.cu",
    .points = 10,
    .speed_points = 5,
    .see = "forward causal 1x2x33x32",
    .cases = cases,
    .speed = speed,
    .traffic = traffic,
};

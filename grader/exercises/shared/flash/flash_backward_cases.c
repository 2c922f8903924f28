/* flash_backward_cases.c: the gradients of attention in bf16, given what the forward pass
 * left: lse and out, from double. Each row of a gradient is computed by itself, from the queries or
 * keys that it concerns; of large arrays some rows are. What may be off is counted term by term:
 * p and grad_s are rounded to bf16 before they are multiplied, and so was out, of which D is made.
 * Equal tokens, large scores, sizes beside the tiles; its rate beside that of a product. */
#include "flash_backward_cases.h"
#include "exercises/shared/norm_cases.h"

#include <math.h>
#include <string.h>

#define INVALID_VALUE 1
#define SAMPLED_ROWS  24
#define FULL_CHECK    5000000UL /* multiplications of a product that is computed in full */

enum { GRAD_Q, GRAD_K, GRAD_V, GRADIENTS };

static const char *const names[] = {"grad_q", "grad_k", "grad_v"};

typedef struct gradients {
    attention a;
    float *grad_out, *lse;
    float *out;            /* after rounding */
    void *grad[GRADIENTS]; /* bf16 */
    double *d, *d_size;    /* [rows] sums of grad_out * out, and of the absolute terms */
} gradients;

/* ---- what the forward pass leaves ------------------------------------------------------------ */

static void forward(gradients *g)
{
    const size_t dim = (size_t)g->a.dim;
    attention_row r = new_attention_row(&g->a);
    for (size_t row = 0; row < g->a.rows; row++) {
        reference_attention_row(&r, &g->a, row);
        g->lse[row] = (float)r.lse;
        for (size_t i = 0; i < dim; i++) g->out[row * dim + i] = (float)r.out[i];
    }
}

static void heads_of_equal_keys(size_t begin, size_t end, void *context)
{
    const gradients *g = context;
    const attention *a = &g->a;
    const size_t dim = (size_t)a->dim, seq = (size_t)a->seq;
    double sum[128]; /* of values; no dim is larger */
    for (size_t row = begin * seq; row < end * seq; row++) {
        const size_t t = row % seq;
        double score = 0.0;
        for (size_t i = 0; i < dim; i++) {
            const size_t at = row * dim + i;
            sum[i] = (t == 0 ? 0.0 : sum[i]) + a->v[at];
            score += (double)a->q[at] * a->k[at];
            g->out[at] = (float)(sum[i] / (double)(t + 1));
        }
        g->lse[row] = (float)(score * a->scale + log((double)(t + 1)));
    }
}

/* The same, causal, where all keys of a head are equal: a query gets the mean of the values so far.
 */
static void forward_of_equal_keys(gradients *g)
{
    const size_t row = (size_t)g->a.seq * (size_t)g->a.dim;
    parallel(g->a.rows / (size_t)g->a.seq, row, heads_of_equal_keys, g);
}

static void sum_rows(size_t begin, size_t end, void *context)
{
    const gradients *g = context;
    const size_t dim = (size_t)g->a.dim;
    for (size_t i = begin * dim; i < end * dim; i++) {
        const double term = (double)g->grad_out[i] * g->out[i];
        g->d[i / dim] += term, g->d_size[i / dim] += fabs(term);
    }
}

static void sums_of_rows(gradients *g)
{
    parallel(g->a.rows, (size_t)g->a.dim, sum_rows, g);
}

/* ---- the call -------------------------------------------------------------------------------- */

static argument bf16_out(gradients *g, int i, unsigned shift)
{
    g->grad[i] = array_of(ELEMENT_BF16, g->a.size);
    return shifted(out_of(ELEMENT_BF16, names[i], g->grad[i], g->a.size), 2 * shift);
}

static gradients backward(const char *function, attention a, unsigned shift,
                          void (*leave)(gradients *))
{
    const size_t size = a.size;
    gradients g = {.a = a, .grad_out = random_f32(size), .out = f32_array(size)};
    g.lse = f32_array(a.rows), g.d = f64_array(a.rows), g.d_size = f64_array(a.rows);
    const argument q = attention_half_in("q", a.q, size, shift),
                   k = attention_half_in("k", a.k, size, 3 * shift);
    const argument v = attention_half_in("v", a.v, size, shift);
    leave(&g); /* of what q, k and v are now */
    const argument out = attention_half_in("out", g.out, size, 5 * shift);
    const argument grad_out = attention_half_in("grad_out", g.grad_out, size, shift);
    sums_of_rows(&g);
    call_cuda(function, ARGS(bf16_out(&g, GRAD_Q, shift), bf16_out(&g, GRAD_K, 3 * shift),
                             bf16_out(&g, GRAD_V, shift), grad_out, out,
                             in_f32("lse", g.lse, a.rows), q, k, v, ATTENTION_SHAPE(&a)));
    return g;
}

/* ---- against double -------------------------------------------------------------------------- */

/* A row of a gradient, by itself. */
typedef struct sum_row {
    double *want, *bound;
    double *constant; /* as if D were 0 */
} sum_row;

static void add(sum_row to, double factor, double error, double constant, const float *x, long dim)
{
    for (long i = 0; i < dim; i++) {
        to.want[i] += factor * x[i];
        to.bound[i] += error * fabs(x[i]);
        to.constant[i] += constant * x[i];
    }
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

/* What query t and key u (rows of all heads) have to do with each other, each with what it may be
 * off by; grad_s with the scale. */
typedef struct pair {
    double p, p_error;
    double grad_s, grad_s_error, constant;
} pair;

static pair pair_of(const gradients *g, size_t t, size_t u)
{
    const attention *a = &g->a;
    const size_t dim = (size_t)a->dim;
    double s_size, grad_p_size;
    const double s = a->scale * dot_of(a->q + t * dim, a->k + u * dim, a->dim, &s_size);
    const double grad_p = dot_of(g->grad_out + t * dim, a->v + u * dim, a->dim, &grad_p_size);
    const double fp32 = FP32_SUM_TOLERANCE *
                        (5.0 * drift_of(a->seq) + fabs(g->lse[t]) + 2.0 * fabs(a->scale) * s_size);
    const double p = exp(s - g->lse[t]), off = fp32 + BF16_ROUNDING;
    const double error =
        fabs(grad_p - g->d[t]) * (off + BF16_ROUNDING) + fp32 * grad_p_size + off * g->d_size[t];
    return (pair){p, p * off, a->scale * p * (grad_p - g->d[t]), fabs(a->scale) * p * error,
                  a->scale * p * grad_p};
}

static void row_of_query(const gradients *g, sum_row to, size_t t)
{
    const size_t seq = (size_t)g->a.seq, head = t - t % seq;
    for (size_t u = head; u < (g->a.causal ? t + 1 : head + seq); u++) {
        const pair x = pair_of(g, t, u);
        add(to, x.grad_s, x.grad_s_error, x.constant, g->a.k + u * (size_t)g->a.dim, g->a.dim);
    }
}

static void row_of_key(const gradients *g, sum_row to_k, sum_row to_v, size_t u)
{
    const size_t seq = (size_t)g->a.seq, dim = (size_t)g->a.dim, head = u - u % seq;
    for (size_t t = g->a.causal ? u : head; t < head + seq; t++) {
        const pair x = pair_of(g, t, u);
        add(to_k, x.grad_s, x.grad_s_error, x.constant, g->a.q + t * dim, g->a.dim);
        add(to_v, x.p, x.p_error, x.p, g->grad_out + t * dim, g->a.dim);
    }
}

static sum_row row_at(sum_row s, size_t at)
{
    return (sum_row){s.want + at, s.bound + at, s.constant + at};
}

static void expect_gradients(const gradients *g)
{
    const attention *a = &g->a;
    if (a->size == 0) return;
    const size_t dim = (size_t)a->dim;
    size_t count;
    const int *rows = attention_rows(a, FULL_CHECK, SAMPLED_ROWS, &count);
    sum_row s[GRADIENTS];
    uint16_t *got[GRADIENTS];
    for (int i = 0; i < GRADIENTS; i++) {
        s[i] = (sum_row){f64_array(count * dim), f64_array(count * dim), f64_array(count * dim)};
        got[i] = array_of(ELEMENT_BF16, count * dim);
    }
    for (size_t n = 0; n < count; n++) {
        const size_t row = (size_t)rows[n];
        row_of_query(g, row_at(s[GRAD_Q], n * dim), row);
        row_of_key(g, row_at(s[GRAD_K], n * dim), row_at(s[GRAD_V], n * dim), row);
        for (int i = 0; i < GRADIENTS; i++)
            memcpy(got[i] + n * dim, (uint16_t *)g->grad[i] + row * dim, 2 * dim);
    }
    for (int i = GRADIENTS - 1; i >= 0; i--) { /* grad_v first: the others stand on p, too */
        if (i != GRAD_V)
            suspect("grad_s is p grad_p alone: it should be p (grad_p - D)", s[i].constant);
        expect_close_of((layout){names[i], count, dim}, ELEMENT_BF16, got[i], s[i].want, s[i].bound,
                        1);
    }
}

void flash_backward_check(const char *function, attention a, unsigned shift)
{
    const gradients g = backward(function, a, shift, forward);
    expect_gradients(&g);
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* Any causal but 0 is one. */
void flash_backward_other_scale(const char *function, const long *shape)
{
    attention a = random_attention(shape);
    a.causal *= 2;
    a.scale *= -1.7f;
    flash_backward_check(function, a, 0);
    a.scale = 0.0f;
    flash_backward_check(function, a, 0);
}

/* All scores far below 0: what lies beyond the last key has a score of 0. */
void flash_backward_low_scores(const char *function, const long *shape)
{
    attention a = random_attention(shape);
    a.scale = 1.0f;
    for (size_t i = 0; i < a.size; i++) {
        a.q[i] = i % (size_t)a.dim == 0 ? 50.0f : a.q[i] / 16;
        a.k[i] = i % (size_t)a.dim == 0 ? -50.0f : a.k[i] / 4;
    }
    flash_backward_check(function, a, 0);
}

/* Equal tokens: all keys get the same weight, and neither queries nor keys a gradient. */
void flash_backward_equal_tokens(const char *function, const long *shape)
{
    attention a = random_attention(shape);
    for (size_t i = (size_t)a.dim; i < a.size; i++) {
        a.q[i] = a.q[i % (size_t)a.dim];
        a.k[i] = a.k[i % (size_t)a.dim];
        a.v[i] = a.v[i % (size_t)a.dim];
    }
    flash_backward_check(function, a, 0);
}

static void forward_with_nan(gradients *g)
{
    forward(g);
    const size_t head = (size_t)(g->a.seq * g->a.dim);
    g->grad_out[3 * head + random_below(case_random(), head)] = NAN;
}

/* The first head has one in q, the second in k, the third in v, the fourth in grad_out; the others
 * have none, and get none. What an infinity becomes depends on how D is computed. */
void flash_backward_nan(const char *function, const long *shape)
{
    const attention a = random_attention(shape);
    const size_t head = (size_t)(a.seq * a.dim);
    a.q[random_below(case_random(), head)] = NAN;
    a.k[head + random_below(case_random(), head)] = NAN;
    a.v[2 * head + random_below(case_random(), head)] = NAN;
    const gradients g = backward(function, a, 0, forward_with_nan);
    expect_gradients(&g);
}

void flash_backward_refused(const char *function, const long *shape)
{
    static const int dims[] = {0, 1, 32, 96, 256, 32};
    const size_t rows = (size_t)(shape[0] * shape[1] * shape[2]), size = rows * 256;
    void *x = array_of(ELEMENT_BF16, size), *y = array_of(ELEMENT_BF16, size);
    for (int i = 0; i < 6; i++) {
        const int seq = i < 5 ? (int)shape[2] : 0; /* of nothing, too */
        call_refused(
            INVALID_VALUE, function,
            ARGS(out_of(ELEMENT_BF16, "grad_q", y, size), out_of(ELEMENT_BF16, "grad_k", y, size),
                 out_of(ELEMENT_BF16, "grad_v", y, size), in_of(ELEMENT_BF16, "grad_out", x, size),
                 in_of(ELEMENT_BF16, "out", x, size), in_f32("lse", f32_array(rows), rows),
                 in_of(ELEMENT_BF16, "q", x, size), in_of(ELEMENT_BF16, "k", x, size),
                 in_of(ELEMENT_BF16, "v", x, size), i32((int)shape[0]), i32((int)shape[1]),
                 i32(seq), i32(dims[i]), i32(0), f32(1.0f), stream()));
    }
    flash_backward_check(function, random_attention(shape), 0);
}

/* ---- speed ----------------------------------------------------------------------------------- */

/* The keys of a head are equal, so that a forward pass of such a size takes no time here. */
void flash_backward_timed(const char *function, const long *shape)
{
    if (attention_half_baseline(function, shape)) return;
    attention a = random_attention(shape);
    const size_t dim = (size_t)a.dim, seq = (size_t)a.seq;
    for (size_t row = 0; row < a.rows; row++)
        memmove(a.k + row * dim, a.k + row / seq * seq * dim, dim * sizeof *a.k);
    const gradients g = backward(function, a, 0, forward_of_equal_keys);
    expect_gradients(&g);
}

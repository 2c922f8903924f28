/* embedding_cases.c: tokens of every kind of text, and both gradients in double. */
#include "exercises/shared/embedding_cases.h"

#include <math.h>
#include <string.h>

embedding embedding_of(const long *shape)
{
    embedding e = {(size_t)shape[0], (size_t)shape[1], (size_t)shape[2], (size_t)shape[3], 0, NULL};
    const int vocab = (int)e.vocab, one = *random_i32(1, 0, vocab);
    e.rows = e.batch * e.seq;
    e.tokens = random_i32(e.rows, 0, shape[4] == EIGHT_TOKENS && vocab > 8 ? 8 : vocab);
    for (size_t r = 0; r < e.rows; r++) {
        if (shape[4] == ONE_TOKEN) e.tokens[r] = one;
        if (shape[4] == IN_TURN) e.tokens[r] = vocab - 1 - (int)(r % e.vocab);
    }
    if (e.rows > 0 && shape[4] == ANY_TOKEN) e.tokens[e.rows - 1] = vocab - 1;
    return e;
}

/* What both gradients should be. The table's begins with what stands there. */
typedef struct sums {
    const embedding *e;
    const float *grad_y;
    double *table, *table_scale, *positions, *positions_scale;
} sums;

static void add_rows(size_t begin, size_t end, void *context)
{
    const sums *s = context;
    const size_t dim = s->e->dim;
    for (size_t row = 0; row < s->e->rows; row++) {
        const size_t token = (size_t)s->e->tokens[row], t = row % s->e->seq;
        for (size_t c = begin; c < end; c++) {
            const double g = s->grad_y[row * dim + c];
            s->table[token * dim + c] += g;
            s->table_scale[token * dim + c] += fabs(g);
            s->positions[t * dim + c] += g;
            s->positions_scale[t * dim + c] += fabs(g);
        }
    }
}

static sums sums_of(const embedding *e, const float *grad_table, const float *grad_y)
{
    const size_t table_size = e->vocab * e->dim, size = e->seq * e->dim;
    const sums s = {
        e, grad_y, f64_array(table_size), f64_array(table_size), f64_array(size), f64_array(size)};
    for (size_t i = 0; i < table_size; i++) {
        s.table[i] = grad_table[i];
        s.table_scale[i] = fabs(grad_table[i]);
    }
    parallel(e->dim, e->rows, add_rows, (void *)&s);
    return s;
}

/* Each row of the table got the gradient of one token alone, the last that has it. */
static double *last_alone(const embedding *e, const float *before, const float *grad_y)
{
    double *wrong = f64_array(e->vocab * e->dim);
    for (size_t i = 0; i < e->vocab * e->dim; i++) wrong[i] = before[i];
    for (size_t i = 0; i < e->rows * e->dim; i++) {
        const size_t at = (size_t)e->tokens[i / e->dim] * e->dim + i % e->dim;
        wrong[at] = (double)before[at] + grad_y[i];
    }
    return wrong;
}

static void suspect_table(const embedding *e, const sums *s, const float *before)
{
    double *overwritten = f64_array(e->vocab * e->dim);
    for (size_t i = 0; i < e->vocab * e->dim; i++) overwritten[i] = s->table[i] - before[i];
    suspect("grad_table is overwritten, not added to", overwritten);
    suspect("only one of several equal tokens is added", last_alone(e, before, s->grad_y));
}

void embedding_scatter(const char *function, const embedding *e, bool with_positions, int specials,
                       unsigned shift)
{
    const size_t table_size = e->vocab * e->dim, size = e->seq * e->dim;
    float *grad_y = random_f32(e->rows * e->dim), *grad_table = random_f32(table_size);
    float *grad_positions = f32_array(size), *before = f32_array(table_size);
    sprinkle_special_f32(grad_y, e->rows * e->dim, specials);
    if (table_size > 0) memcpy(before, grad_table, table_size * sizeof *before);
    const sums want = sums_of(e, before, grad_y);
    const argument positions = shifted(out_f32("grad_positions", grad_positions, size), shift);
    call_cuda(function, ARGS(shifted(inout_f32("grad_table", grad_table, table_size), shift),
                             with_positions ? positions : null_pointer(),
                             shifted(in_f32("grad_y", grad_y, e->rows * e->dim), shift),
                             in_i32("tokens", e->tokens, e->rows), i32((int)e->batch),
                             i32((int)e->seq), i32((int)e->dim), i32((int)e->vocab), stream()));
    const layout table = {"grad_table", e->vocab, e->dim}, l = {"grad_positions", e->seq, e->dim};
    if (!is_close(table, grad_table, want.table, want.table_scale, FP32_SUM_TOLERANCE))
        suspect_table(e, &want, before);
    expect_close(table, grad_table, want.table, want.table_scale, FP32_SUM_TOLERANCE);
    if (!with_positions) return;
    expect_close(l, grad_positions, want.positions, want.positions_scale, FP32_SUM_TOLERANCE);
}

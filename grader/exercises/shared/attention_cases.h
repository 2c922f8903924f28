/*
 * attention_cases.h: attention in double, what exercises of attention (313, 409) are held against.
 * Arrays are [heads x seq x dim]; a batch is more heads.
 */
#ifndef GRADER_ATTENTION_CASES_H
#define GRADER_ATTENTION_CASES_H

#include "correctness/case.h"

typedef struct attention {
    long batch, heads, seq, dim, causal;
    float scale;
    size_t size;      /* batch * heads * seq * dim: elements of q, k, v and out */
    size_t rows;      /* batch * heads * seq: queries */
    float *q, *k, *v; /* [size] */
} attention;

/** The last seven arguments of a call. */
#define ATTENTION_SHAPE(a)                                                                         \
    i32((int)(a)->batch), i32((int)(a)->heads), i32((int)(a)->seq), i32((int)(a)->dim),            \
        i32((int)(a)->causal), f32((a)->scale), stream()

/** shape: batch, heads, seq, dim, causal. The scale is 1 / sqrt(dim); q and k are such that the
 *  scores lie about -4 .. 4. */
attention random_attention(const long *shape);

/** The same with scores of 10000 and -10000, exactly: those of 10000 share the weight. */
attention large_scores(const long *shape);

/** One row of attention: what query `row` (of a->rows) gets. */
typedef struct attention_row {
    double *p;   /* [seq] weights of the keys */
    double *out; /* [dim] */
    double lse;  /* log of the sum of exp of the scores; -infinity where no key has weight */
    double blur; /* the largest score, of absolute terms: how far an honest one may be off */
} attention_row;

attention_row new_attention_row(const attention *);
void reference_attention_row(attention_row *, const attention *, size_t row);

/** Which rows are looked at: all of them where a reference in full costs at most so many
 *  multiplications, else `sampled` of them, the last one too. @param count receives how many */
int *attention_rows(const attention *, size_t full_check, size_t sampled, size_t *count);

/** How far a weight may be off, in parts of it: a score that is off by e changes its weight by the
 *  factor 1 + e, the sum by as much, and a long sum drifts. Times FP32_SUM_TOLERANCE. */
double roundings_of_row(const attention_row *, const attention *);

/** How far out[i] of a row may be off, to be multiplied by a tolerance of fp32. */
double attention_scale(const attention_row *, const attention *, size_t row, long i);

/** out [size] against double, all of it where that is cheap, else sampled rows; lse [rows] too,
 *  unless NULL. What is off is said in words of the usual mistakes. */
void expect_attention(const float *out, const float *lse, const attention *);

#endif

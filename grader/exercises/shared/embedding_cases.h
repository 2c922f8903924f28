/*
 * embedding_cases.h: what the cases of the embedding's gradients share.
 */
#ifndef GRADER_EMBEDDING_CASES_H
#define GRADER_EMBEDDING_CASES_H

#include "correctness/case.h"

/** Which tokens there are: any, one alone, a few, or the last ones of the vocabulary in turn. */
typedef enum text { ANY_TOKEN, ONE_TOKEN, EIGHT_TOKENS, IN_TURN } text;

typedef struct embedding {
    size_t batch, seq, dim, vocab, rows; /* rows = batch * seq */
    int *tokens;                         /* [rows] */
} embedding;

/** @param shape batch, seq, dim, vocab, text; the tokens are drawn */
embedding embedding_of(const long *shape);

/** One call of embedding_backward or of what takes the same arguments, judged.
 *  @param with_positions else NULL stands there
 *  @param specials how many NaN and infinities grad_y has */
void embedding_scatter(const char *function, const embedding *e, bool with_positions, int specials,
                       unsigned shift);

#endif

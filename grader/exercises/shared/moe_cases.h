/*
 * moe_cases.h: tokens that spread over experts, for a mixture of experts.
 */
#ifndef GRADER_MOE_CASES_H
#define GRADER_MOE_CASES_H

#include "correctness/case.h"

/** How. SKEWED: the lower an expert's number the more; TO_ONE: every token's first choice is the
 *  same; EVEN_ONLY: those of odd numbers stay empty (top_k at most half of them); BALANCED: where
 *  tokens * top_k is a multiple of experts, as many for each. */
enum { UNIFORM, SKEWED, TO_ONE, EVEN_ONLY, BALANCED };

/** @return [tokens x top_k] experts, of a token all different */
int *moe_choices(long tokens, long experts, long top_k, long spread);

/** What moe_permute makes of these choices. capacity: 0 is none.
 * @param permutation [tokens x top_k]
 * @param offsets     [experts + 1] */
void moe_lists(int *permutation, int *offsets, const int *ids, long tokens, long experts,
               long top_k, long capacity);

#endif

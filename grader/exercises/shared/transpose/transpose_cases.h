/*
 * transpose_cases.h: what 209 and 416 are tried with: a function that is given out, in, rows, cols
 * and a stream. shape: rows, cols.
 */
#ifndef GRADER_TRANSPOSE_CASES_H
#define GRADER_TRANSPOSE_CASES_H

#include "correctness/case.h"

/** Random numbers, some of them special. Nothing is launched for an empty matrix. */
void transpose_random(const char *function, const long *shape);
/** The same, with arrays that begin at multiples of 16 bytes in every trial: elsewhere the trial in
 *  which warps begin in another order has them at multiples of 4. */
void transpose_aligned(const char *function, const long *shape);
/** The same of `in` alone; out begins 4 bytes further on. */
void transpose_to_any_address(const char *function, const long *shape);
/** Two calls, the second with the output of the first. */
void transpose_there_and_back(const char *function, const long *shape);
/** One timed call, judged unless it is the baseline's. */
void transpose_timed(const char *function, const long *shape);

#endif

/*
 * scan_cases.h: what exercises 210 and 2b have in common: the same sums, by a function of another
 * name. shape: n
 */
#ifndef GRADER_SCAN_CASES_H
#define GRADER_SCAN_CASES_H

#include "correctness/case.h"

/** For timed and counted runs too: what a baseline gives is not judged. */
void scan_random(const char *function, const long *shape);
/** Values of all 32 bits: the sums wrap around again and again. */
void scan_wrapping(const char *function, const long *shape);
void scan_ones(const char *function, const long *shape);
void scan_in_place(const char *function, const long *shape);
/** Two lengths in turn: what a call leaves in scratch is nothing to the next. shape: n, n */
void scan_twice(const char *function, const long *shape);

#endif

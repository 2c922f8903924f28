/*
 * weights_cases.h: the cases of exercise 504 that read files of weights: good ones, and files that
 * are damaged or lie. In each, the grader's page behind the file is unmapped.
 */
#ifndef GRADER_WEIGHTS_CASES_H
#define GRADER_WEIGHTS_CASES_H

#include "correctness/case.h"

void load_good(const long *shape);
/** Behind an address that is a multiple of nothing. */
void load_unaligned(const long *shape);
/** The arrays in any order, with others among them. */
void load_shuffled(const long *shape);
/** Of other kinds and versions; less than magic and version. */
void load_foreign(const long *shape);
/** Cut off anywhere. */
void load_truncated(const long *shape);
/** Cut off, but header.bytes says so: the table or an array is what ends too late. */
void load_cut_to_size(const long *shape);
/** Numbers whose sums and products overflow. */
void load_overflowing(const long *shape);
void load_missing(const long *shape);
void load_other_shape(const long *shape);
void load_corrupt_table(const long *shape);
void load_corrupt_array(const long *shape);
/** With two things wrong, the first in the order of weights_status counts. */
void load_first_mistake(const long *shape);

#endif

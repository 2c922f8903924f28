/*
 * allreduce_cases.h: sums of an array of each device, for 415 and 4e.
 */
#ifndef GRADER_ALLREDUCE_CASES_H
#define GRADER_ALLREDUCE_CASES_H

#include "correctness/case.h"

enum { SUM, MEAN }; /* allreduce_op */
enum { MOST = 8 };  /* devices */

/** The arguments that a sum has, and the arrays that they point to. */
typedef struct allreduce_call {
    argument arguments[WIRE_ARGUMENTS];
    int count;
} allreduce_call;

/** What the buffer of a device is called. */
const char *allreduce_name(int gpu);
/** The buffers x[gpus], [n] each, and a stream of each device, as the arguments 1 and 4.
 *  @param first of the buffers among the arguments: before them are `first` places */
void allreduce_add_arrays(allreduce_call *, float *const *x, size_t n, int gpus, int first);
/** function(handle 0, buffers, n, op, streams); a baseline's handle is NULL. */
void allreduce_run(const char *function, float *const *x, size_t n, int gpus, int op);

typedef struct allreduce_wanted {
    double *sum, *scale; /**< [n], scale: of the absolute terms */
} allreduce_wanted;

/** factor * the sum of x[gpus], [n] each. */
allreduce_wanted allreduce_sum_of(float *const *x, size_t n, int gpus, double factor);
double allreduce_factor(int op, int gpus);
/** All x are that, and have the same bits. */
void allreduce_expect(float *const *x, size_t n, int gpus, allreduce_wanted);
/** Numbers of all exponents: of uniform ones most sums are exact, and so the same in any order. */
void allreduce_draw(float **x, size_t n, int gpus, int special);

#endif

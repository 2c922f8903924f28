/*
 * allreduce_cases.h: sums of an array of each device, for 415 and 4e.
 */
#ifndef GRADER_ALLREDUCE_CASES_H
#define GRADER_ALLREDUCE_CASES_H

#include "correctness/case.h"

enum { SUM, MEAN }; /* allreduce_op */
enum { MOST = 8 };  /* devices */
enum { PLAN };      /* the handle */
enum { INVALID_VALUE = 1, INVALID_DEVICE = 101 };

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
/** Two plans, the first of which is closed before the second works. shape: devices, n, op */
void allreduce_two_plans(const char *open, const char *close, const char *function,
                         const long *shape);
/** Numbers of all exponents: of uniform ones most sums are exact, and so the same in any order. */
void allreduce_draw(float **x, size_t n, int gpus, int special);

/* clang-format off */
/** Rows of both, of one sum each. shape: devices, n, op, NaN and infinities */
#define ALLREDUCE_ROWS(run_one) \
    {.name = "n=0", .run = run_one, .shape = {2, 0, SUM}}, \
    {.name = "n=1", .run = run_one, .shape = {2, 1, SUM}}, \
    {.name = "two", .run = run_one, .shape = {2, 1000, SUM}}, \
    {.name = "mean of two", .run = run_one, .shape = {2, 1001, MEAN}}, \
    {.name = "one", .run = run_one, .shape = {1, 1000, SUM}}, \
    {.name = "mean of one", .run = run_one, .shape = {1, 77, MEAN}}, \
    {.name = "any of two", .run = run_one, .shape = {2, 1, 0}, .most = {0, 9000, 1}}, \
    {.name = "nan", .run = run_one, .shape = {2, 1000, SUM, 5}}, \
    {.name = "three", .run = run_one, .shape = {3, 1000, SUM}, .where = ON_SOFTGPU}, \
    {.name = "2 elements on three", .run = run_one, .shape = {3, 2, MEAN}, .where = ON_SOFTGPU}, \
    {.name = "nan on five", .run = run_one, .shape = {5, 1000, SUM, 7}, .where = ON_SOFTGPU}, \
    {.name = "eight", .run = run_one, .shape = {8, 517, MEAN}, .where = ON_SOFTGPU}, \
    {.name = "any of several", .run = run_one, .shape = {1, 0, 0}, .most = {8, 2000, 1}, \
     .where = ON_SOFTGPU}
/* clang-format on */

#endif

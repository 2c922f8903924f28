/*
 * plan.h: what the function that 102's stopwatch times is to do, and what it did.
 */
#ifndef GRADER_EXERCISES_STOPWATCH_PLAN_H
#define GRADER_EXERCISES_STOPWATCH_PLAN_H

#define PLAN_CALLS 400 /* later ones are as long as the last of these, and are only counted */

typedef struct stopwatch_plan {
    int sleeps;             /* it lets time pass instead of working */
    int length[PLAN_CALLS]; /* nanoseconds of each call */
    int calls;
    int took[PLAN_CALLS]; /* by its own clock */
} stopwatch_plan;

#endif

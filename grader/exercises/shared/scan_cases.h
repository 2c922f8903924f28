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

/** The lengths that both are tried on first, around warps and blocks. */
#define SCAN_ROWS                                                                                  \
    {.name = "n=0", .run = run_random, .shape = {0}},                                              \
        {.name = "n=1", .run = run_random, .shape = {1}},                                          \
        {.name = "n=33", .run = run_random, .shape = {33}},                                        \
        {.name = "ones, n=1000", .run = run_ones, .shape = {1000}},                                \
        {.name = "n=1023", .run = run_random, .shape = {1023}},                                    \
        {.name = "n=1024", .run = run_random, .shape = {1024}},                                    \
        {.name = "n=1025", .run = run_random, .shape = {1025}},                                    \
    {                                                                                              \
        .name = "any_n", .run = run_random, .shape = {2}, .most = { 60000 }                        \
    }

/** ... and last, beyond one wave of blocks. */
#define SCAN_LARGE_ROWS                                                                            \
    {.name = "n=1048577", .run = run_random, .shape = {1048577}, .once = true},                    \
    {                                                                                              \
        .name = "n=67108867", .run = run_random, .shape = {67108867}, .where = ON_GPU,             \
        .once = true                                                                               \
    }

/** What rows call, for one function. */
#define SCAN_RUNNERS(function)                                                                     \
    static void run_random(const long *shape)                                                      \
    {                                                                                              \
        scan_random(function, shape);                                                              \
    }                                                                                              \
    static void run_wrapping(const long *shape)                                                    \
    {                                                                                              \
        scan_wrapping(function, shape);                                                            \
    }                                                                                              \
    static void run_ones(const long *shape)                                                        \
    {                                                                                              \
        scan_ones(function, shape);                                                                \
    }                                                                                              \
    static void run_in_place(const long *shape)                                                    \
    {                                                                                              \
        scan_in_place(function, shape);                                                            \
    }                                                                                              \
    static void run_twice(const long *shape)                                                       \
    {                                                                                              \
        scan_twice(function, shape);                                                               \
    }

#endif

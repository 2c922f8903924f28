/*
 * matmul_cases.h: the shapes that every matrix product of the course is tried on. All have the
 * signature (c, a, b, m, n, k) of matmul_cpu, with a stream at the end on the GPU.
 */
#ifndef GRADER_MATMUL_CASES_H
#define GRADER_MATMUL_CASES_H

#include "correctness/case.h"

/** Products of random matrices, all of c checked. shape: m, n, k */
void matmul_random(const char *function, const long *shape);
/** Small integers, so that every product is exact and a swapped index cannot hide. */
void matmul_exact(const char *function, const long *shape);
/** One NaN in a and one infinity in b reach the row and the column that they must, and no other. */
void matmul_nan(const char *function, const long *shape);
/** A zero in a meets an infinity in b: c is NaN there, and a loop that skips zeros misses it. */
void matmul_zero_times_infinity(const char *function, const long *shape);
/** Pointers that are aligned to a float and to nothing more. */
void matmul_misaligned(const char *function, const long *shape);
/** One timed call on random matrices: c is projected, not checked in full. */
void matmul_timed(const char *function, const long *shape);

/** The rows of a case table: the shape set of the course for one exercise's function, defined with
 *  MATMUL_RUNNERS(function) in the same file. */
#define MATMUL_ROWS                                                                                \
    {.name = "1x1x1", .run = run_exact, .shape = {1, 1, 1}},                                       \
        {.name = "1x7x1", .run = run_exact, .shape = {1, 7, 1}},                                   \
        {.name = "2x3x4", .run = run_exact, .shape = {2, 3, 4}},                                   \
        {.name = "0x5x3", .run = run_exact, .shape = {0, 5, 3}},                                   \
        {.name = "k=0", .run = run_exact, .shape = {5, 6, 0}},                                     \
        {.name = "16x16x16", .run = run_random, .shape = {16, 16, 16}},                            \
        {.name = "17x33x65", .run = run_random, .shape = {17, 33, 65}},                            \
        {.name = "33x1x129", .run = run_random, .shape = {33, 1, 129}},                            \
        {.name = "1x1000x512", .run = run_random, .shape = {1, 1000, 512}},                        \
        {.name = "100x300x4", .run = run_random, .shape = {100, 300, 4}},                          \
        {.name = "256x128x512", .run = run_random, .shape = {256, 128, 512}},                      \
        {.name = "65x66x67", .run = run_random, .shape = {65, 66, 67}},                            \
        {.name = "nan", .run = run_nan, .shape = {37, 41, 29}},                                    \
    {                                                                                              \
        .name = "misaligned", .run = run_misaligned, .shape = { 35, 45, 55 }                       \
    }

/** Large shapes, for a GPU. */
#define MATMUL_GPU_ROWS                                                                            \
    {.name = "1024x1024x1024", .run = run_random, .shape = {1024, 1024, 1024}, .where = ON_GPU},   \
        {.name = "1000x1001x1002",                                                                 \
         .run = run_random,                                                                        \
         .shape = {1000, 1001, 1002},                                                              \
         .where = ON_GPU},                                                                         \
        {.name = "100x3000x4", .run = run_random, .shape = {100, 3000, 4}, .where = ON_GPU},       \
        {.name = "3x3000000x1",                                                                    \
         .run = run_random,                                                                        \
         .shape = {3, 3000000, 1},                                                                 \
         .where = ON_GPU,                                                                          \
         .once = true},                                                                            \
    {                                                                                              \
        .name = "4096x4096x4096", .run = run_random, .shape = {4096, 4096, 4096}, .where = ON_GPU, \
        .once = true                                                                               \
    }

/** What the rows above call, for one function. */
#define MATMUL_RUNNERS(function)                                                                   \
    static void run_exact(const long *shape)                                                       \
    {                                                                                              \
        matmul_exact(function, shape);                                                             \
    }                                                                                              \
    static void run_random(const long *shape)                                                      \
    {                                                                                              \
        matmul_random(function, shape);                                                            \
    }                                                                                              \
    static void run_nan(const long *shape)                                                         \
    {                                                                                              \
        matmul_nan(function, shape);                                                               \
    }                                                                                              \
    static void run_misaligned(const long *shape)                                                  \
    {                                                                                              \
        matmul_misaligned(function, shape);                                                        \
    }

#endif

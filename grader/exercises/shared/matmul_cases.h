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
/** One NaN in a and one infinity in b reach the row and the column that they must, and no other;
 *  and the other way round. */
void matmul_nan(const char *function, const long *shape);
/** What came of that: of c[m x n], the row of one and the column of the other. */
void expect_matmul_special(const float *c, long m, long n, long row, float in_a, long col,
                           float in_b);
/** A zero in a meets an infinity in b: c is NaN there, and a loop that skips zeros misses it. */
void matmul_zero_times_infinity(const char *function, const long *shape);
/** Pointers that are aligned to a float and to nothing more. */
void matmul_misaligned(const char *function, const long *shape);
/** One timed call on random matrices: c is projected, not checked in full. */
void matmul_timed(const char *function, const long *shape);

/** A product by threads, checked or timed. shape: m, n, k, threads, by how many bytes the pointers
 *  are shifted */
void matmul_by_threads(const char *function, const long *shape);
/** NaN, infinities and zeros in both. */
void matmul_by_threads_special(const char *function, const long *shape);

/** The rows of a case table: the shape set of the course for one exercise's function, defined with
 *  MATMUL_RUNNERS(function) in the same file. */
#define MATMUL_ROWS                                                                                \
    {.name = "1x1x1", .run = run_exact, .shape = {1, 1, 1}},                                       \
        {.name = "1x7x1", .run = run_exact, .shape = {1, 7, 1}},                                   \
        {.name = "2x3x4", .run = run_exact, .shape = {2, 3, 4}},                                   \
        {.name = "0x5x3", .run = run_exact, .shape = {0, 5, 3}},                                   \
        {.name = "5x0x3", .run = run_exact, .shape = {5, 0, 3}},                                   \
        {.name = "k=0", .run = run_exact, .shape = {5, 6, 0}},                                     \
        {.name = "16x16x16", .run = run_random, .shape = {16, 16, 16}},                            \
        {.name = "17x33x65", .run = run_random, .shape = {17, 33, 65}},                            \
        {.name = "33x1x129", .run = run_random, .shape = {33, 1, 129}},                            \
        {.name = "1x1000x512", .run = run_random, .shape = {1, 1000, 512}},                        \
        {.name = "100x300x4", .run = run_random, .shape = {100, 300, 4}},                          \
        {.name = "256x128x512", .run = run_random, .shape = {256, 128, 512}},                      \
        {.name = "65x66x67", .run = run_random, .shape = {65, 66, 67}},                            \
        LONG_ROW("70001x1x2", run_random, 70001, 1, 2),                                            \
        LONG_ROW("2x70001x1", run_random, 2, 70001, 1),                                            \
        LONG_ROW("3x2x5003", run_random, 3, 2, 5003),                                              \
        {.name = "any_shape", .run = run_random, .shape = {1, 1, 1}, .most = {90, 700, 90}},       \
        {.name = "nan", .run = run_nan, .shape = {37, 41, 29}},                                    \
        {.name = "zero_times_infinity", .run = run_zero_times_infinity, .shape = {9, 14, 11}},     \
    {                                                                                              \
        .name = "misaligned", .run = run_misaligned, .shape = { 35, 45, 55 }                       \
    }

/** On the CPU: it takes so long that threads of the call's own overlap, and what they share by
 *  mistake shows. */
#define MATMUL_THREADS_ROW LONG_ROW("long enough for threads", run_random, 600, 1001, 1003)

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
    MATMUL_RUNNERS_BUT_NAN(function)                                                               \
    static void run_nan(const long *shape)                                                         \
    {                                                                                              \
        matmul_nan(function, shape);                                                               \
    }

/** All but run_nan, where a file has one of its own. */
#define MATMUL_RUNNERS_BUT_NAN(function)                                                           \
    static void run_exact(const long *shape)                                                       \
    {                                                                                              \
        matmul_exact(function, shape);                                                             \
    }                                                                                              \
    static void run_random(const long *shape)                                                      \
    {                                                                                              \
        matmul_random(function, shape);                                                            \
    }                                                                                              \
    static void run_zero_times_infinity(const long *shape)                                         \
    {                                                                                              \
        matmul_zero_times_infinity(function, shape);                                               \
    }                                                                                              \
    static void run_misaligned(const long *shape)                                                  \
    {                                                                                              \
        matmul_misaligned(function, shape);                                                        \
    }

/** The rows of a product by threads: rows of c that do not divide evenly, fewer than threads, more
 *  threads than can be started, and sizes that keep threads at work long enough to meet. Of 70001
 *  terms there are many sums: the norm of few may miss its bound by chance. */
#define MATMUL_BY_THREADS_ROWS                                                                     \
    {.name = "1x1x1, 1 thread", .run = run_random, .shape = {1, 1, 1, 1}},                         \
        {.name = "2x3x4, 2 threads", .run = run_random, .shape = {2, 3, 4, 2}},                    \
        {.name = "0x5x3, 4 threads", .run = run_random, .shape = {0, 5, 3, 4}},                    \
        {.name = "5x0x3, 4 threads", .run = run_random, .shape = {5, 0, 3, 4}},                    \
        {.name = "k=0, 3 threads", .run = run_random, .shape = {5, 6, 0, 3}},                      \
        {.name = "17x33x65, 1 thread", .run = run_random, .shape = {17, 33, 65, 1}},               \
        {.name = "17x33x65, 2 threads", .run = run_random, .shape = {17, 33, 65, 2}},              \
        {.name = "65x66x67, 4 threads", .run = run_random, .shape = {65, 66, 67, 4}},              \
        {.name = "61x64x64, 7 threads", .run = run_random, .shape = {61, 64, 64, 7}},              \
        {.name = "a thread a row", .run = run_random, .shape = {33, 20, 129, 33}},                 \
        {.name = "one row, 8 threads", .run = run_random, .shape = {1, 1000, 512, 8}},             \
        {.name = "3 rows, 64 threads", .run = run_random, .shape = {3, 17, 33, 64}},               \
        {.name = "10 rows, 8 threads", .run = run_random, .shape = {10, 17, 33, 8}},               \
        {.name = "0 threads", .run = run_random, .shape = {17, 33, 65, 0}},                        \
        {.name = "-3 threads", .run = run_random, .shape = {17, 33, 65, -3}},                      \
        {.name = "any", .run = run_random, .shape = {1, 1, 1, 1}, .most = {150, 300, 300, 9}},     \
        LONG_ROW("5000 threads", run_random, 6007, 3, 5, 5000),                                    \
        {.name = "2147483647 threads", .run = run_random, .shape = {19, 3, 5, 2147483647}},        \
        {.name = "misaligned", .run = run_random, .shape = {35, 45, 55, 3, 4}},                    \
        {.name = "special", .run = run_special, .shape = {37, 41, 29, 4}},                         \
        LONG_ROW("70001x3x2, 3 threads", run_random, 70001, 3, 2, 3),                              \
        LONG_ROW("3x70001x2, 3 threads", run_random, 3, 70001, 2, 3),                              \
        LONG_ROW("13x11x70001, 3 threads", run_random, 13, 11, 70001, 3),                          \
        {.name = "long: 1200x801x800, 4 threads",                                                  \
         .run = run_random,                                                                        \
         .shape = {1200, 801, 800, 4}},                                                            \
    {                                                                                              \
        .name = "wide: 1000x1003x8, 4 threads", .run = run_random, .shape = { 1000, 1003, 8, 4 }   \
    }

/** ... and what they and a speed test call. */
#define MATMUL_BY_THREADS_RUNNERS(function)                                                        \
    static void run_random(const long *shape)                                                      \
    {                                                                                              \
        matmul_by_threads(function, shape);                                                        \
    }                                                                                              \
    static void run_special(const long *shape)                                                     \
    {                                                                                              \
        matmul_by_threads_special(function, shape);                                                \
    }                                                                                              \
    static void run_timed(const char *timed, const long *shape)                                    \
    {                                                                                              \
        matmul_by_threads(timed, shape);                                                           \
    }

#endif

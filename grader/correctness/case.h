/*
 * case.h: everything that a case file (grader/exercises/NNN_name/cases.c) needs, on one page.
 *
 * A case file describes one exercise: what it is called, which functions it must define, the cases
 * that check it and the test that times it. It ends by putting the exercise into the catalog, which
 * needs no other list:
 *
 *     EXERCISE(206) = { .id = 206, ... };
 *
 * A case is a row {name, function, shape}. Its function builds inputs, makes one or more calls into
 * the worker that holds the student's code, and judges the outputs. It runs three times: with one
 * seed, with another seed at the same addresses, and with the first seed at other addresses,
 * aligned to a float only. When all cases passed, one runs once more for each array, which alone is
 * aligned so (alone.c). The first expectation that fails ends the case. Device memory that its
 * calls allocate is to be freed by its end, with the handles that it got.
 *
 * Everything allocated with f32_array and its siblings is freed after the run.
 */
#ifndef GRADER_CASE_H
#define GRADER_CASE_H

#include "base/base.h"
#include "call/argument.h"
#include "correctness/counts.h"
#include "course/exercise.h"
#include "random.h"

/** A row of a case that is long in one size and narrow in the others, and runs once. */
#define LONG_ROW(title, runner, ...)                                                               \
    {                                                                                              \
        .name = title, .run = runner, .shape = {__VA_ARGS__}, .once = true                         \
    }

/** A row of a case that is too large for softgpu, and runs once on a GPU. */
#define GPU_ROW(title, runner, ...)                                                                \
    {                                                                                              \
        .name = title, .run = runner, .shape = {__VA_ARGS__}, .where = ON_GPU, .once = true        \
    }

/* ---- inputs ---------------------------------------------------------------------------------- */

float *f32_array(size_t count);  /* zeroed */
double *f64_array(size_t count); /* zeroed */
int *i32_array(size_t count);    /* zeroed */

float *random_f32(size_t count);                                /* uniform in (-1, 1) */
float *random_f32_between(size_t count, float low, float high); /* uniform */
float *random_normal_f32(size_t count);                         /* mean 0, deviation 1 */
int *random_i32(size_t count, int low, int high);               /* low .. high-1 */
/** Of any type; the random ones are uniform, then rounded to it. */
void *array_of(element_type, size_t count); /* zeroed */
void *random_of(element_type, size_t count, double low, double high);
/** The same numbers, exact but for f64; what was never written is so here, too. */
float *f32_of(element_type, const void *, size_t count);
random_state *case_random(void);                                      /* for anything else */
void sprinkle_f32(float *x, size_t count, float value, int how_many); /* at random places */
/** So many NaN, infinities and -infinities each; and, unless it is 0, many zeros to meet them. */
void sprinkle_special_f32(float *x, size_t count, int how_many);

/* ---- answers: the exercise's file of `key = value` --------------------------------------------
 */

/* Each fails the case unless there is such a value. */
long long answer_i64(const char *key);
double answer_f64(const char *key);
const char *answer_text(const char *key); /* valid until the next of these */
/** One of the numbers that are drawn for the student whose name stands there as `student`. */
long drawn_i64(const char *name);

/* ---- calls into the worker: argument.h has what they are given ---------------------------------
 */

/* Each fails the case unless the function exists, returns in time (and cudaSuccess), the device
 * is without error (where an int is returned: without one that stays) and findings, canaries and
 * inputs are untouched. */
void call_cuda(const char *function, argument *arguments, int count); /* returns cudaError_t */
void call_void(const char *function, argument *arguments, int count);
/** Of a call that must return this cudaError_t, and leave none for cudaGetLastError: where the
 *  contract lets it, call_returning_i32. The next call is made to the same worker. */
void call_refused(int error, const char *function, argument *arguments, int count);
int call_returning_i32(const char *function, argument *arguments, int count);
float call_returning_f32(const char *function, argument *arguments, int count);
double call_returning_f64(const char *function, argument *arguments, int count);
unsigned long long call_returning_u64(const char *function, argument *arguments, int count);
void call_returning_handle(int number, const char *function, argument *arguments, int count);

/** Text that the last call printed on stdout, on softgpu its kernels alone; at most 1 MB of it. */
const char *call_output(void);
/** Where the functions of this case run. */
place case_place(void);
/** Is this run timed? */
bool call_is_timed(void);

/** Seconds that the last call took. */
double call_seconds(void);
/** The same by the grader's own clock, with the way to the worker and back. */
double call_wall_seconds(void);
/** Bytes of memory that the worker holds now: its own, and, on softgpu, the device's. */
double held_bytes(void);
/** Bytes for each use: nothing is kept. The smallest block of a heap has 32. */
#define KEEPS_NOTHING 20.0
/** Of held_bytes, what each of `times` uses keeps, after `warm` that fill the room of the heap: the
 *  least of some rounds, up to the first that is not above `most`. A leak shows in every round; a
 *  page that the system joins to a larger one, or a thread's first work, shows in one. */
double kept_by(void (*use)(const void *), const void *context, long warm, long times, double most);
/** What the last call cost: its launches, copies, fills, memory of the device and span; of its
 *  kernels nothing, unless by call_counted. NULL on a GPU. */
const device_counts *call_counts(void);
/** As call_cuda, or in Python call_void; call_counts says on softgpu what its kernels cost, too. */
void call_counted(const char *function, argument *arguments, int count);
/** The last call was counted: did its kernels do the arithmetic? Half of it is enough, since who
 * leaves out zeros needs fewer. */
void expect_operations(const char *function, double flop);

/** As call_cuda; but of a timed or counted run this is not the call that is timed or counted. */
void call_aside(const char *function, argument *arguments, int count);

/** Copies between host and device of the last call, as softgpu's device counts them; on a GPU, and
 *  what memory of the host took part, as the worker does on the library's way to the runtime. */
wire_copies call_copies(void);

/** What a case in Python finds in the place of its words, and removes last of all: who says nothing
 * may not have come so far. */
#define UNTOLD "the case in Python did not end"

/* ---- judging --------------------------------------------------------------------------------- */

/** End the case as failed. */
void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/** Say something of a case that passes, e.g. an accuracy and on which data. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** How a checked array is laid out, for messages: rows x cols, row-major. */
typedef struct layout {
    const char *name; /* e.g. "c" */
    size_t rows, cols;
} layout;

/**
 * Every element: |got - want| <= tolerance * scale, NaN only where want is NaN, infinities equal.
 * Fails with the first bad index, got and want, how many are wrong, and the pattern they form.
 * @param scale the size of the terms that were summed, e.g. (|a| |b|)_ij; NULL: max(1, |want|)
 */
void expect_close(layout, const float *got, const double *want, const double *scale,
                  double tolerance);
/** The same of any type: what was computed may be rounded to it once more. */
void expect_close_of(layout, element_type, const void *got, const double *want, const double *scale,
                     double tolerance);
/** ||got - want|| <= tolerance * ||want||, of what should be finite.
 * @param scale as above, of sums of `terms` terms: few sums that happen to cancel are not held
 * against their small norm, but against the usual one; NULL, 0: no sums */
void expect_norm_close(layout, const float *got, const double *want, const double *scale,
                       long terms, double tolerance);
void expect_equal_i32(layout, const int *got, const int *want);
/** want, but for what is not finite in it and in got: there it is as got, NaN or an infinity. To be
 *  compared where that depends on how a formula is written. */
const double *not_finite_as_got(const double *want, const float *got, size_t count);
/** Will expect_close pass? Where not, a case may say first what it suspects. */
bool is_close(layout, const float *got, const double *want, const double *scale, double tolerance);
/** The next comparison is of an array that would be `wrong` [as many elements] if the student made
 *  the mistake that the words describe. Where it is, its message says so. */
void suspect(const char *words, const double *wrong);
/** The next comparison is of sums that have this `term` [as many elements]. Where that explains
 * what is wrong, the words, which say that the term is off, are followed by how: left out, of the
 * other sign, by a factor. */
void suspect_term(const char *words, const double *term);
/** The mistakes of c[m x n] = a[m x k] * b[k x n], and of sums that can be written so. */
void suspect_product(const float *c, const float *a, const float *b, long m, long n, long k);
/** What an array says whose elements before `first` are right and which is too large for the rest:
 *  the pattern in words, or "". */
const char *place_of(layout, size_t first);
/** |got - want| <= tolerance * max(1, |want|). */
void expect_near(const char *what, double got, double want, double tolerance);
#define expect(condition, ...)                                                                     \
    do {                                                                                           \
        if (!(condition)) fail(__VA_ARGS__);                                                       \
    } while (0)

/** The bound for fp32 sums (2e-6 of the sum of absolute terms) and the relative norm (1e-5):
 *  honest fp32 passes in any order, but for chains of very many terms of one sign; TF32, fp16 and
 *  one dropped term do not. */
#define FP32_SUM_TOLERANCE  2e-6
#define FP32_NORM_TOLERANCE 1e-5

/** c = a * b checked in full while that is cheap, else 4,096 sampled elements and a random
 *  projection of all of c. */
void expect_matmul(const float *c, const float *a, const float *b, long m, long n, long k);

/* References in double, for several exercises. y may not alias x. */
void reference_matmul(double *c, double *scale, const float *a, const float *b, long m, long n,
                      long k); /* scale [m x n] = |a| |b|, or NULL */
void reference_softmax(double *y, const float *x, long rows, long cols);
double reference_cross_entropy(double *loss, double *grad_logits, const float *logits,
                               const int *labels, long rows, long classes, int ignore_index);

#endif

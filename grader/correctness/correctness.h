/*
 * correctness.h: right or wrong, and why.
 *
 *   run.c        the cases of one exercise as a Check suite
 *   inputs.c     what the calls are fed with
 *   compare.c    what came back against what should have
 *   mistakes/    names the likely mistake (mistakes.h is its index)
 *   reference.c  what should have come back, in double
 *   hidden.c     an instructor's private file: the seed of a class, and cases that nobody sees
 */
#ifndef GRADER_CORRECTNESS_H
#define GRADER_CORRECTNESS_H

#include "build/build.h"
#include "call/call.h"
#include "correctness/case.h"
#include "random.h"

/* ---- run.c ----------------------------------------------------------------------------------- */

typedef enum status {
    PASSED,
    FAILED,
    BUILD_FAILED,
    NOT_STARTED,
    SKIPPED,
    NOT_RUN,
    TOO_NOISY
} status;
const char *status_name(status);

typedef struct case_result {
    const char *name;
    status status;
    char *message; /* of a failure, or a note; "" */
    char *finding; /* the first that softgpu had in a call that went well; "" */
    unsigned long long seed;
    bool seed_withheld; /* it stays in the grader */
    double seconds;     /* NAN: likewise */
} case_result;

/** The one exercise that is being judged now: what case functions reach through case.h. */
typedef struct context {
    const options *options;
    const exercise *exercise;
    place place;
    const char *library; /* of the student */
    worker *worker;      /* that calls go to */
    const grading_case *grading_case;
    bool relocate, timed, from_idle, counted, against_guard;
    bool dead;  /* a deadline passed: no more cases */
    bool trial; /* of a shape that the case may not be able to take */
    double deadline;
    random_state random;
    char *message;       /* of the expectation that failed, or NULL */
    char *finding;       /* of softgpu, in a call that went well, or NULL; the first of the case */
    char *note;          /* what a passing case has to say, or NULL */
    char *output;        /* printed by the last call */
    double seconds;      /* of the last call */
    double wall, waited; /* of a timed one: the grader's clock; what of it was waiting for a core */
    double overhead;     /* and what of it the call itself does not explain */
    double beside;       /* that the worker worked before and after a timed call, to copy */
    bool believed;       /* a timed call of a baseline: its outputs are not looked at */
    long sizes[WIRE_ARGUMENTS]; /* numbers among the arguments of the last call */
    int size_count;
    device_counts counts; /* of the last call, if it was counted */
    wire_copies copies;   /* of the last call */
    long long printed;    /* bytes, by kernels of the last call; -1 where nobody knows */
    struct allocation *allocations;
} context;

extern context now;

/** Judge the cases of one exercise, each into results[]. */
void run_cases(case_result results[]);
/** Run one function of a case under now, catching its failure. @return the message, or NULL. */
char *run_guarded(void (*run)(const char *, const long *), const char *function, const long *shape);
/** The same in the worker *where, which is started with that library when there is none. */
char *run_in(worker **where, const char *library, void (*run)(const char *, const long *),
             const char *function, const long *shape);
/** End what run_guarded runs, without a failure. */
void leave_case(void) __attribute__((noreturn));
/** The seed of the command line, or the one of the hidden file for this case or test, or a new one
 *  that nobody knows. */
unsigned long long secret_seed(const char *what);
/** The worker that calls go to, started when there is none. Fails the case when it cannot. */
void context_need_worker(void);
void context_drop_worker(void);
void inputs_free(void);

/* ---- hidden.c -------------------------------------------------------------------------------- */

/** Read the file that the options name: its cases join those of their exercises. Once.
 *  @return false after a message that names the line */
bool hidden_read(const options *);
/** Of the file, and of whether its cases are shown; "" when there is none. */
const char *hidden_hash(void);
/** @return false when no file gives a seed */
bool hidden_seed(const char *what, unsigned long long *seed);
/** Does the reference solution, built, pass the hidden cases of its exercise? Remembered.
 *  @return false after a message that names the line */
bool hidden_try(const options *, const build *reference);
/** Leave in the result only what a student may see. */
void hidden_hide(const options *, const grading_case *, case_result *);
/** What kind of failure a message is about, without numbers; "" for "". The caller frees. */
char *hidden_words(const char *message);
/** "129x65x257". @return false when it is no shape */
bool hidden_shape(const char *text, long shape[SHAPE_MAX], int *count);

#endif

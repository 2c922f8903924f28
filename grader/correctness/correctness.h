/*
 * correctness.h: right or wrong, and why.
 *
 *   run.c        the cases of one exercise as a Check suite
 *   calls.c      their calls into the worker
 *   alone.c      each array misaligned alone
 *   answers.c    what a file of the submission says
 *   inputs.c     what the calls are fed with
 *   promises.c   what a contract says of the runtime's calls
 *   failures.c   ... and of those that fail
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

/** What softgpu found in a call of a function, in words that have the likely mistake too. */
typedef struct case_finding {
    char function[64];
    device_finding what;
    char *text;
} case_finding;

typedef struct case_result {
    const char *name;
    const char *part; /* of the exercise, or NULL */
    status status;
    failure failure;     /* what it failed of */
    char *message;       /* of a failure, or a note; "" */
    char *mistake;       /* the likely one behind wrong results, as "; ...", or NULL */
    char *finding;       /* the first that softgpu had in a call that went well; "" */
    case_finding *found; /* that one, behind the one that the case failed of; NULL: neither */
    int found_count;
    unsigned long long seed;
    uint8_t calls[24];  /* of the runtime, by the first call of each function of the exercise */
    bool seed_withheld; /* it stays in the grader */
    double seconds;     /* NAN: likewise */
} case_result;

/** One exercise while it is judged: what its cases share, and what the last of their calls left. */
typedef struct case_state {
    const options *options;
    const exercise *exercise;
    place place;
    const char *library;     /* of the student */
    const char *folder;      /* of the submission: its answers */
    worker *worker;          /* that calls go to; NULL: the next call starts one */
    worker *baseline_worker; /* the same, of timed calls of the baseline */
    const grading_case *grading_case;
    call_request request; /* of every call of this run; the case adds function and arguments */
    void (*seen)(const struct case_state *, const call_request *); /* told of each call; or NULL */
    call_outcome last;
    long long kept; /* by the calls of this case: device memory that is not freed */
    int keepers;    /* ... by so many of them, of which the last was of this function: */
    const char *keeper;
    int left; /* ... streams, events, graphs and pinned arrays, made less ended */
    const char *leaver;
    char *broken;      /* the first promise that a call of this case broke, or NULL */
    uint32_t called;   /* the functions that this case called: bit 0 is the first of the exercise */
    uint8_t calls[24]; /* ... as in its result */
    uint32_t refuse_at; /* the number of the runtime's call that fails first; 0: none does */
    uint32_t refused;   /* ... in these functions, so far */
    bool refused_last;  /* ... in the last call of one that returns nothing */
    int round;          /* of the case that runs: 0, 1, 2 */
    bool alone_noted;   /* its arrays may be misaligned alone afterwards (alone.c) */
    bool dead;          /* a deadline passed: no more cases */
    bool interrupted;   /* a process was ended from outside: there is no verdict */
    bool trial;         /* of a shape that the case may not be able to take */
    random_state random;
    failure failure;      /* of the expectation that failed */
    char *message;        /* ... its words, or NULL */
    char *mistake;        /* ... the likely one behind it, or NULL */
    case_finding culprit; /* ... what softgpu found, if it is that; what.count is 0 otherwise */
    case_finding *found; /* in calls that went well: the first of the case; with options.slow all */
    int found_count;
    char *note;                 /* what a passing case has to say, or NULL */
    long sizes[WIRE_ARGUMENTS]; /* numbers among the arguments of the last call */
    int size_count;
    struct allocation *allocations;
} case_state;

/** Of an exercise that is built. */
case_state case_begin(const options *, const exercise *, place, const char *library);
/** From here on this is the state that the functions of case.h act on. */
void case_enter(case_state *);
/** How much longer a call may take under a checker, beside other exercises, or on a busy machine. */
double times_as_long(const options *);
/** Judge the cases of one exercise, each into results[]. */
void run_cases(case_state *, case_result results[]);
/** A timed or counted call that went wrong, as a case: it failed with that message (which the
 *  result has from now on), or with NULL softgpu found something in it. It belongs to that part. */
case_result case_of_call(case_state *, const char *name, const char *part, char *message);
/** Do all cases of this part that run here pass, and is there one? NULL: of all parts. */
bool part_is_right(const case_result results[], int count, const char *part);
void case_forget_found(case_result *);
void case_result_free(case_result *);
/** What was found in calls that went well, in words, and nothing is any more. The caller frees. */
char *case_take_found(case_state *);
/** Run a case once, with these inputs. @return what it failed of, or NULL; the caller frees */
char *run_case_once(case_state *, const grading_case *, unsigned long long seed);
/** Run one function of a case, catching its failure. @return the message, or NULL. */
char *run_guarded(case_state *, void (*run)(const char *, const long *), const char *function,
                  const long *shape);
/** The same in the worker *where, which is started with that library when there is none. */
char *run_in(case_state *, worker **where, const char *library,
             void (*run)(const char *, const long *), const char *function, const long *shape);
/** End what run_guarded runs, without a failure. */
void leave_case(void) __attribute__((noreturn));
/** The seed of the command line, or the one of the hidden file for this case or test, or a new one
 *  that nobody knows. */
unsigned long long secret_seed(const case_state *, const char *what);
void case_drop_worker(case_state *);
/** Arrays of the case that runs. */
void inputs_free(void);

/* ---- promises.c ------------------------------------------------------------------------------ */

/** @return which function of the exercise it is, or -1 */
int function_number(const exercise *, const char *name);
/** Of a function without a row, what its arguments and its phase say. */
promise promise_of(const exercise *, const call_request *);
/** @return the sentence that says what the call did and should not have; NULL: it kept all. The
 *  caller frees. */
char *promise_broken(const promise *, const wire_calls *);

/* ---- failures.c ------------------------------------------------------------------------------ */

#define FAILURES_CASE "when a call fails"

/** Or other cases, or a metric, alone? */
bool failures_wanted(const options *);
/** Run the quickest case of each function again, where the runtime's calls fail, one after the
 *  other. What goes wrong is one more case of its part, behind the `count` results.
 *  @return how many there are then */
int run_failures(case_state *, case_result results[], int count);
/** Whether a call of the runtime is to fail in this call of the case, and the number of the first.
 */
void failure_first(case_state *, call_request *);
/** Was one refused in this call, and has to be another? Or it fails the case. */
bool failure_next(case_state *, call_request *, const call_outcome *);

/* ---- hidden.c -------------------------------------------------------------------------------- */

/** Read the file that the options name: its cases join those of their exercises. Once.
 *  @return false after a message that names the line */
bool hidden_read(const options *);
/** Of the file, and of whether its cases are shown; "" when there is none. */
const char *hidden_hash(void);
/** @return false when no file gives a seed */
bool hidden_seed(const exercise *, const char *what, unsigned long long *seed);
/** Does the reference solution, built, pass the hidden cases of its exercise? Remembered.
 *  @return false after a message that names the line */
bool hidden_try(const options *, const build *reference);
/** Leave in the result only what a student may see. */
void hidden_hide(const options *, const grading_case *, case_result *);
/** What a case failed of, without numbers. @param mistake behind wrong results, "; ...", or NULL.
 *  The caller frees. */
char *hidden_words(failure, const char *mistake);
/** "129x65x257". @return false when it is no shape */
bool hidden_shape(const char *text, long shape[SHAPE_MAX], int *count);
/** The public case of that name, or else the first whose name begins so; NULL: there is none. */
const grading_case *case_like(const exercise *, const char *name);
/** How many numbers the shapes have of the cases that are run alike. */
int case_dimensions(const exercise *, const grading_case *);
/** Such a case in another shape. @return NULL, or what is wrong with it */
const char *case_reshape(const exercise *, const grading_case *like, const char *shape,
                         grading_case *);

#endif

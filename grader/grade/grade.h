/*
 * grade.h: a whole submission.
 *
 *   grade.c          all of it, in order
 *   preconditions.c  what must be so before anything is judged
 *   select.c         which exercises
 *   prerequisites.c  what is built, and whose work it stands on
 *   judging.c        what is judged, what is remembered
 *   on_softgpu.c     a GPU's exercises on softgpu too
 *   several.c        several exercises at once, their timings one after the other
 *   checker.c        the processes that do this
 *   build_only.c     make phaseN
 *   once.c           make run: one call of one exercise, shown
 */
#ifndef GRADER_GRADE_H
#define GRADER_GRADE_H

#include "verdict/verdict.h"

/** Grade all that the options ask for. @return 0, or 2 when grading itself could not be done. */
int grade(const options *, grading *);
void grading_free(grading *);
/** Build what the options ask for and show what the compilers say. @return 0, or 1 if one failed */
int build_only(const options *);
/** Run one case once and show its calls. @return 0, or 2 when it could not be run */
int run_once(const options *);

/* ---- one grading: its exercises and what they came to ---------------------------------------- */

#define EXERCISES_MAX 256

/* One exercise on its way through a grading. */
typedef struct item {
    const exercise *exercise;
    build build;
    const build *baseline;
    bool wanted;    /* asked for; else graded only because another builds on it */
    bool buildable; /* neither skipped nor not started */
    bool own;       /* linked with the submission's own prerequisites, all of them */
    bool judged;    /* now, not remembered */
    json_t *entry;  /* of results.json, once judged */
    json_t *checks; /* what softgpu says of it, once that has come; or NULL */
    bool done;      /* nothing is missing of its entry */
} item;

typedef struct checker checker;

typedef struct run {
    const options *options;
    library_set *libraries;
    item items[EXERCISES_MAX];
    int count;
    checker *checker; /* judges the same on softgpu, beside a GPU; or NULL */
    int at_once;      /* so many exercises; 0: one, in this process */
    int reported;     /* so many, from the first on */
    bool interrupted; /* an exercise has no verdict: the machine ended a process of it */
} run;

/** All that the options ask for. @return to be ended by run_end() */
run *run_begin(const options *);
/** Build it. */
void run_build(run *);
void run_end(run *);

/* ---- preconditions.c ------------------------------------------------------------------------- */

/** Each @return false after a message, which results.json holds too. */
bool submission_exists(const options *);
bool is_isolated(const options *);
bool libraries_are_whole(const options *);
bool device_exists(const options *);
bool read_hidden_file(const options *);
bool hidden_cases_are_good(run *);

/* ---- select.c -------------------------------------------------------------------------------- */

/** Fill in the items: what is asked for, behind what it takes of the submission. */
void select_items(run *);
/** Enter the verdict of what is not built: skipped or not started. */
void sort_out(run *, item *);
json_t *entry_without_verdict(const exercise *, place, status, const char *why);

/* ---- prerequisites.c ------------------------------------------------------------------------- */

/** @return NULL: that exercise is not graded */
item *find_item(run *, int id);
void describe_build(run *, item *);
/** All at once, as if all passed: most do. */
void build_items(run *);
/** Anew, where one that it stands on did not pass. */
void build_on_prerequisites(run *, item *);

/* ---- judging.c ------------------------------------------------------------------------------- */

/** Fill in the item's entry: from an earlier grading of the same, or by judging it. */
void judge_item(run *, item *, const device_facts *);
/** All that can be built, and say so, in their order. */
void judge_items(run *, const grading *);
/** Say what has a verdict by now, without waiting for softgpu unless another exercise does. */
void report_judged(run *, const grading *);

/* ---- several.c ------------------------------------------------------------------------------- */

/** Does what it stands on still have no verdict? */
bool must_wait(run *, const item *);
/** How many exercises at a time, where nothing else is asked for. */
int jobs_of(const options *);
/** Judge those that need not wait, so many at a time; report each. @return false: none is left */
bool judge_several(run *, const grading *, int width);

/* ---- on_softgpu.c ---------------------------------------------------------------------------- */

/** Beside a GPU: fill in run.checker. */
void start_checks(run *);

/* ---- checker.c ------------------------------------------------------------------------------- */

/** Let another process do the work: it gets the context, where it awaits its turns, and where it
 *  writes entries, in the order in which they will be taken. @return NULL when there is none */
checker *checker_start(void (*work)(void *context, int turns, FILE *entries), void *context);
/** In that process: until it may judge the next exercise. */
void checker_await_turn(int turns);
/** In that process: how many exercises it may judge at once. */
int checker_width(void);
/** Judge one in a process of its own. @return what was begun, to be taken, or NULL */
typedef struct check check;
check *check_start(json_t *(*judge)(void *context, int i), void *context, int i);
/** In such a process: wait for its turn. The second time it returns at once. */
void check_await_turn(void);
/** In such a process: others may have theirs. */
void check_end_turn(void);
/** Let it go on, and wait until it has had its turn; what it then clears away disturbs nobody. */
void check_give_turn(check *);
void check_await_end_of_turn(check *);
/** Wait until at most so many are at work; others have ended or await their turn. */
void checks_await(check *const begun[], int count, int most);
/** Let it go on to its end. @return its entry, or NULL */
json_t *check_take(check *);
/** The next entry, once it is there. @return NULL when none will come */
json_t *checker_take(checker *);
/** Is it there, or will none come? */
bool checker_is_ready(checker *);
void checker_stop(checker *); /* NULL is allowed */

#endif

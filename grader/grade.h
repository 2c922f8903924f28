/*
 * grade.h: a whole submission.
 *
 *   grade.c    what to build, what to judge, what is remembered
 *   checker.c  the processes that judge on softgpu beside it
 *   once.c     one call of one exercise, shown
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

/* ---- checker.c ------------------------------------------------------------------------------- */

typedef struct checker checker;
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
/** @return its entry, or NULL */
json_t *check_take(check *);
/** The next entry, once it is there. @return NULL when none will come */
json_t *checker_take(checker *);
void checker_stop(checker *); /* NULL is allowed */

#endif

/*
 * gradings.h: submissions are graded, each by one grader process, here or on a cluster; the next
 * run finishes the work of a run that was killed.
 *
 *   task.c        one submission -> one grader process -> one result that stays
 *   pool.c, slurm.c  many of them, here and on a cluster
 *   progress.c    what is done, and how long the rest may take
 *   history.c, changes.c  who was graded when; verdicts that changed since
 */
#ifndef GRADER_CLASS_GRADINGS_H
#define GRADER_CLASS_GRADINGS_H

#include "class/submissions/submissions.h"

/* ---- task.c ---------------------------------------------------------------------------------- */

typedef struct task {
    pid_t pid; /* 0: free */
    submission *submission;
    const char *gpu; /* that it may use; NULL: any */
    double began;
} task;

/** graded/KEY with this ending; valid until the next call. */
const char *graded_path(const class_options *, const submission *, const char *ending);
/** Fill in .results of what was graded, now or in a run before. */
void load_results(const class_options *, submission *, size_t count);
/** Start the grader. task.pid is -1 when it cannot be started. */
void task_start(const class_options *, task *);
/** Has it ended? Then its result has its place, or submission.failed is set. */
bool task_ended(const class_options *, task *);

/* ---- progress.c ------------------------------------------------------------------------------ */

typedef struct progress {
    size_t all, done, at_work, at_once;
    double seconds, squares; /* sums over those done */
    double began, shown;
} progress;

/** How long the rest may take, with what is known: "5 ± 2 min left". */
void time_left(const progress *, char text[64]);
/** One more is done: a line about it. @param seconds that it took by itself */
void progress_done(progress *, const class_options *, const submission *, double seconds);
/** A line that is overwritten; on a terminal only, once a second. */
void progress_show(progress *);

/* ---- pool.c, slurm.c ------------------------------------------------------------------------- */

/** Grade what has no results yet, options->jobs at a time, or by Slurm. @return false after a
 *  message when Slurm cannot */
bool grade_submissions(const class_options *, const settings *, submission *, size_t count);
/** Start graders here for these, each of which has a key of its own. */
void pool_run(const class_options *, submission **waiting, size_t count);
/** The same by an array of jobs. */
bool slurm_run(const class_options *, const settings *, submission **waiting, size_t count);
/** Wait for what an earlier run has submitted. @return false after a message when Slurm cannot */
bool slurm_wait(const class_options *, const settings *);
/** What a job of the array does: grade one line of the list. @return 0, or 1 when it failed */
int slurm_task(const class_options *, const char *list, long line);

/* ---- history.c ------------------------------------------------------------------------------- */

/** Which generation is it? options->rerun begins the next one when the last was finished. */
bool generation_begin(class_options *);
bool generation_end(const class_options *);
/** Note results that are new for their students, and fill in .changes. */
bool history_update(const class_options *, submission *, size_t count);

/* ---- changes.c ------------------------------------------------------------------------------- */

/** Fill in .changes: each line of this student in the history against the one before. */
void find_changes(const class_options *, const json_t *history, submission *);

#endif

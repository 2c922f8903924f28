/*
 * class.h: `make class`: all submissions of a class, graded by one grader process each. The index
 * of grader/class; the only user of libarchive, so that students need not have it.
 *
 *   main.c        the command line
 *   unpack.c      an archive -> a folder, or a refusal
 *   collect.c     DIR -> submissions, each with the files that count in a folder of its own
 *   key.c         what a grade depends on, as a name for it
 *   settings.c    class.ini: weights, due dates, late penalties, what Slurm is asked for
 *   task.c        one submission -> one grader process -> one result that stays
 *   pool.c, slurm.c  many of them, here and on a cluster
 *   progress.c    what is done, and how long the rest may take
 *   history.c, changes.c  who was graded when; verdicts that changed since
 *   gradebook.c   results -> gradebook.csv, moodle.csv, canvas.csv
 *   feedback.c    results -> a page and a text for each student
 *   similar.c     submissions -> similar.csv
 *   page.c        results -> index.html
 *   distribution.c results -> class.json, for students to compare with
 *   leaderboard.c the part of it for those who want to be on it
 *   class.c       all of it, in order, under a lock
 *
 * The folder OUT holds, apart from these reports:
 *   graded/KEY.json   what the grader wrote about the submissions whose files have this KEY: there
 *                     whole or not at all, and never made again
 *   graded/KEY.log    what the grader printed
 *   history.jsonl     a line whenever a student has a result that is not the one before
 *   generation        how often the whole class was graded anew
 *   work/             submissions on their way; emptied by each run
 *   lock              held while a run is at work */
#ifndef GRADER_CLASS_H
#define GRADER_CLASS_H

#include "settings.h"
#include "verdict/verdict.h"
#include "views/views.h"

/* ---- unpack.c -------------------------------------------------------------------------------- */

typedef struct unpack_limits {
    long entries;
    long long bytes; /* of all files, unpacked */
} unpack_limits;

typedef enum unpacked { UNPACKED, REFUSED, NO_ROOM } unpacked;

/** Does unpack() read such a file? @return the length of the name without its ending, or 0 */
size_t archive_stem(const char *name);
/** Unpack into an empty folder. An archive with an absolute path, "..", a link, a device, or more
 *  than the limits is refused as a whole. NO_ROOM is this machine's fault, not the archive's.
 *  @return unless UNPACKED: and why; the folder may then hold a part */
unpacked unpack(const char *archive, const char *folder, unpack_limits limits, char why[256]);

/* ---- collect.c ------------------------------------------------------------------------------- */

#define NICKNAME_MOST 24 /* characters */

typedef struct submission {
    char student[128];
    char folder[PATH_MAX]; /* with the files that count */
    char key[HASH_HEX];    /* of these files and of what judges them */
    char refused[320];     /* why there is nothing to grade; "" */
    char trouble[320];     /* why it could not be taken though it may be fine: a full disk; "" */
    char nickname[NICKNAME_MOST * 4 + 8]; /* on the leaderboard; "": not on it */
    char note[160];                       /* for the gradebook; "" */
    time_t submitted;                     /* the newest of these files, or the archive */
    bool failed;                          /* the grader could not do its work */
    json_t *files;                        /* hashes: {"103": "..."} */
    json_t *times;                        /* of a folder's files: {"103": 1795219140} */
    json_t *results;                      /* NULL while there are none */
    json_t *changes;                      /* verdicts that are not what they were: changes.c */
} submission;

typedef struct class_options {
    const char *submissions, *out, *settings;
    const char *const *grader; /* its command, without --submission and --results; NULL ends */
    const char *build;         /* folder with the programs that judge */
    const char *gpus;          /* "0,1", to share out; NULL or "": there is nothing to share out */
    int jobs;
    bool rerun, slurm;
    const char *format; /* of one gradebook more: "moodle", "canvas", or NULL */
    /* found out by class_run */
    char judge[HASH_HEX]; /* of all that judges */
    int generation;       /* 1, and one more for each time that everything is graded anew */
} class_options;

/** Every folder and archive in DIR, in the order of their names; *count says how many.
 *  @return NULL after a message when DIR cannot be read; submissions_free() */
submission *collect(const class_options *, size_t *count);
void submissions_free(submission *, size_t count);
/** Copy a plain file of at most `most` bytes that lies below a folder, without following a link.
 *  @return 0; ENOENT; EINVAL: a link, no file, or too large; else what this machine lacks */
int copy_plain(const char *folder, const char *file, const char *to, long long most, time_t *);

/* ---- key.c ----------------------------------------------------------------------------------- */

/** Of the grader's programs and command, the course's own files, and the compilers. */
void set_judge(class_options *);
/** Of the submission's files, of what judges them, and of how often. */
void set_key(const class_options *, submission *);

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
/** How many verdicts changed though nothing else had. */
size_t unexplained_changes(const submission *, size_t count);
void put_changes(FILE *, const submission *, size_t count);

/* ---- gradebook.c, feedback.c, similar.c, page.c, leaderboard.c ------------------------------- */

typedef struct mark {
    double points, max_points; /* weighted */
    double total;              /* points, less what lateness costs */
    int days_late;
    const char *status; /* graded, refused, error */
} mark;

mark mark_of(const submission *, const settings *);
/** Enter in .results how many "days_late" an exercise is. */
void note_lateness(submission *, const settings *);
const char *why_ungraded(const submission *);

/** A file of OUT. The distribution and the page name nobody; the page loads nothing. */
typedef void report_writer(FILE *, const submission *, size_t count, const settings *);
report_writer write_gradebook, write_moodle, write_canvas, write_similar, write_changes,
    write_distribution, write_page;
/** @return false after a message */
bool write_feedback(const class_options *, const submission *, size_t count, const settings *);

/** Read FILE, leaderboard.txt below the folder: .nickname, or .note with what is wrong with it. */
void nickname_read(const char *folder, const char *file, submission *);
/** Equal nicknames are numbered, in the order of the students. */
void number_nicknames(submission *, size_t count);
void put_leaderboards(FILE *, const submission *, size_t count);

/* ---- class.c --------------------------------------------------------------------------------- */

/** Write a file of OUT whole or not at all. @return false after a message */
bool write_whole(const class_options *, const char *name, const char *text);
/** @return 0; 1 when a submission could not be graded; 2 when nothing could be done. */
int class_run(const class_options *);

#endif

/*
 * class.h: `make class`: all submissions of a class, graded by one grader process each. The index
 * of grader/class; the only user of libarchive, so that students need not have it.
 *
 *   main.c        the command line
 *   unpack.c      an archive -> a folder, or a refusal
 *   collect.c     DIR -> submissions, each with the files that count in a folder of its own
 *   settings.c    class.ini: weights and late penalties
 *   pool.c        grader processes: several at once, progress, what is done stays done
 *   gradebook.c   results -> gradebook.csv
 *   page.c        results -> index.html
 *   class.c       all of it, in order, under a lock
 *
 * The folder OUT holds, apart from gradebook.csv and index.html:
 *   graded/KEY.json   what the grader wrote about the submissions whose files have this KEY; it is
 *                     there whole or not at all, and is never made again while it is there
 *   graded/KEY.log    what the grader printed
 *   work/             submissions on their way; emptied by each run
 *   lock              held while a run is at work
 */
#ifndef GRADER_CLASS_H
#define GRADER_CLASS_H

#include "grader.h"
#include "views/views.h"
#include <stdio.h>
#include <time.h>

/* ---- settings.c ------------------------------------------------------------------------------ */

typedef struct setting {
    char section[32], name[128], value[128];
} setting;

typedef struct settings {
    setting *all;
    size_t count;
} settings;

/** Read an .ini file. @return false after a message that names the line that makes no sense. */
bool settings_read(settings *, const char *path);
void settings_free(settings *);
/** What an exercise's points are multiplied with: [weights] 206 = 2, 1 unless said otherwise. */
double settings_weight(const settings *, long long exercise);
/** When the student handed in: [submitted] NAME = ..., else what the files say. */
time_t settings_submitted(const settings *, const char *student, time_t files);
/** Days begun after [late] due; 0 when in time, or when nothing is due. */
int settings_days_late(const settings *, time_t submitted);
/** The part of the points that is left after so many days: [late] per_day and most, in percent. */
double settings_late_factor(const settings *, int days);

/* ---- unpack.c -------------------------------------------------------------------------------- */

typedef struct unpack_limits {
    long entries;
    long long bytes; /* of all files, unpacked */
} unpack_limits;

/** Would unpack() read a file of this name? @return the length of the name without its ending, or 0
 */
size_t archive_stem(const char *name);
/** Unpack into an empty folder. An archive with an absolute path, "..", a link, a device, or more
 *  than the limits is refused as a whole. @return false, and why; the folder may then hold a part
 */
bool unpack(const char *archive, const char *folder, unpack_limits, char why[256]);

/* ---- collect.c ------------------------------------------------------------------------------- */

typedef struct submission {
    char student[128];
    char folder[PATH_MAX]; /* with the files that count */
    char key[HASH_HEX];    /* of these files and of what judges them */
    char refused[320];     /* why there is nothing to grade; "" */
    time_t submitted;      /* the newest of these files, or the archive */
    bool failed;           /* the grader could not do its work */
    json_t *results;       /* NULL while there are none */
} submission;

typedef struct class_options {
    const char *submissions, *out, *settings;
    const char *const *grader; /* its command, without --submission and --results; NULL ends */
    const char *build;         /* folder with the programs that judge */
    int jobs;
} class_options;

/** Every folder and archive in DIR, in the order of their names; *count says how many.
 *  @return NULL after a message when DIR cannot be read; the caller frees. */
submission *collect(const class_options *, size_t *count);
bool remove_tree(const char *path);
const char *graded_path(const class_options *, const submission *, const char *ending);

/* ---- pool.c ---------------------------------------------------------------------------------- */

/** Grade what has no results yet, options->jobs at a time. */
void grade_submissions(const class_options *, submission *, size_t count);
/** Fill in .results of what was graded, now or in a run before. */
void load_results(const class_options *, submission *, size_t count);

/* ---- gradebook.c, page.c --------------------------------------------------------------------- */

typedef struct mark {
    double points, max_points; /* weighted */
    double total;              /* points, less what lateness costs */
    int days_late;
    const char *status; /* graded, refused, error */
} mark;

mark mark_of(const submission *, const settings *);

void write_gradebook(FILE *, const submission *, size_t count, const settings *);
/** One page without scripts, pictures from elsewhere or names. */
void write_page(FILE *, const submission *, size_t count, const settings *);

/* ---- class.c --------------------------------------------------------------------------------- */

/** @return 0; 1 when a submission could not be graded; 2 when nothing could be done. */
int class_run(const class_options *);

#endif

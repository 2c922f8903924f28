/*
 * settings.h: what an instructor asks for, and the folder OUT of the answers.
 *
 *   settings.c  class.ini: weights, due dates, late penalties, what Slurm is asked for
 *   out.c       a file of OUT, whole or not at all
 */
#ifndef GRADER_CLASS_SETTINGS_H
#define GRADER_CLASS_SETTINGS_H

#include "course/course.h"

#include <time.h>

/* ---- the command line: main.c -----------------------------------------------------------------
 */

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
/** What an exercise's points are multiplied by: [weights] 206 = 2, 1 unless said otherwise. */
double settings_weight(const settings *, int exercise);
/** When the student handed in: [submitted] NAME = ..., else what the files say. */
time_t settings_submitted(const settings *, const char *student, time_t files);
/** Days begun after [late] due; 0 when in time, or when nothing is due. */
int settings_days_late(const settings *, time_t submitted);
/** Days begun after the exercise's own [due]; 0 when in time, or when it has none. */
int settings_days_after(const settings *, int exercise, time_t submitted);
/** The part of the points that is left after so many days: [late] per_day and most, in percent. */
double settings_late_factor(const settings *, int days);

/** What [slurm] may hold besides limit and poll; NULL ends. */
extern const char *const slurm_options[];
/** The value as it stands, or NULL. */
const char *settings_find(const settings *, const char *section, const char *name);

/* ---- out.c ----------------------------------------------------------------------------------- */

/** The path of a file of OUT. */
void out_path(char path[PATH_MAX], const class_options *, const char *name);
/** Write a file of OUT whole or not at all. @return false after a message */
bool write_whole(const class_options *, const char *name, const char *text);

#endif

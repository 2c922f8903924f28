/*
 * student.h: a student's loop, in one index: what was graded so far, and what to do next.
 *
 *   history.c    results/history.jsonl: every verdict ever given, appended
 *   progress.c   make progress, make next: a map of the course
 *   compare_runs.c make compare: one exercise against its past, the reference and the device
 *   classmates.c and against the class
 *   plot.c       the same as a picture
 *   watch.c      make watch: grade an exercise when its file is saved
 *   keys.c       the keys that it obeys
 *   findings.c   make sanitize: all that was found, each thing once
 *   hint.c       make hint: the next hint of an exercise's page
 *   profile.c    make profile: softgpu's counters for beginners
 *   see.c        make see: pictures of what they did
 *   needs.c      make mnist: the files that a program is linked with
 */
#ifndef GRADER_STUDENT_H
#define GRADER_STUDENT_H

#include "build/build.h"
#include "views/views.h"

/* ---- history.c ------------------------------------------------------------------------------- */

/*
 * The file is JSON, one record a line, and only ever grows. Each line ends with the CRC-32 of what
 * comes before it, so that a line cut short by a crash is known as such and skipped. Writers take
 * turns by flock; each line is one write; a line that could not be written whole is taken back. A
 * new line never joins a torn one.
 *
 * Of each exercise, as it is judged; all of one grading have the time at which it began:
 *   {"time", "commit", "backend", "device": {...}, "submission", "sha256" of the file,
 *    "cases", "cases_passed", "entry": of results.json, without its cases}
 * Of each grading of the whole course:
 *   {"time", "commit", "backend", "device", "submission", "points", "max_points"}
 */

/** @return false after a message on stderr; the file is then as it was. */
bool history_append(const char *path, const json_t *record);
/** @return an array of all records, oldest first; empty when there is no file. Damaged lines are
 *  left out, and counted in *skipped. */
json_t *history_load(const char *path, int *skipped);
/** The same, with a word on stderr about damaged lines, and only of this submission (a whole path)
 *  and exercise; 0: all exercises. */
json_t *history_of(const options *, const char *submission, int id);
/** The newest of them of an exercise, or NULL. */
const json_t *last_record(const json_t *records, int id);
/** Note an exercise's verdict. @param judged false: it is remembered from an earlier grading, and
 *  noted only if the history does not end with it */
void history_note(const grading *, json_t *entry, bool judged);
/** Note the points of a grading of the whole course. */
void history_note_total(const grading *);

/* ---- the commands ---------------------------------------------------------------------------- */

int progress(const options *);
int next(const options *);
/** The same behind an exercise (NULL: behind none), which then becomes the one that comes next, if
 *  there is one. */
int next_after(const options *, const exercise **);
/** After a grading of one exercise that passed: what comes next. */
void suggest_next(const grading *);
int compare_runs(const options *);
int watch(const options *);
int findings(const options *);
int profile(const options *);
int see(const options *);
int hint(const options *);
int needs(const options *);

/** The one exercise that the command line names, or NULL after a message. */
const exercise *the_exercise(const options *, const char *command);
/** The page of an exercise, relative to the course. */
void page_of(const exercise *, char path[PATH_MAX]);

/* ---- keys.c ---------------------------------------------------------------------------------- */

/** From now on a key of the terminal needs no Enter; at the end of the program the terminal is as
 *  it was. @return false where standard input is not ours to read */
bool keys_open(void);
/** @return the next key, or EOF: there are no more */
int keys_read(void);

/* ---- profile.c, see.c ------------------------------------------------------------------------ */

/** Neither long nor of another place than softgpu. */
bool can_be_profiled(const grading_case *);
/** The product of its shape. */
double case_size(const grading_case *);
/** Grade one case in a process of its own, at ease: SOFTGPU_PROFILE and SOFTGPU_TRACE are obeyed.
 *  @return what was printed, or NULL after a message */
char *grade_one_case(const options *, const exercise *, const char *case_name,
                     const char *submission, const char *results);
/** Where make see leaves the page of an exercise. */
void see_page(const options *, const exercise *, char path[PATH_MAX]);

/* ---- classmates.c ---------------------------------------------------------------------------- */

/** class.json of an instructor. @return NULL after a message when it is none */
json_t *class_load(const char *path);
/** What one of the class has where a share of the class is worse: a record for the exercise of this
 *  one, with points and tests only; NULL when the class has no numbers of it. */
json_t *class_record(const json_t *class, const json_t *record, double share);
/** How much of the class each number of the record is better than. */
void class_print_places(const json_t *class, const json_t *record);

/* ---- plot.c ---------------------------------------------------------------------------------- */

/** Draw how the exercise's numbers moved. @param own, reference, median arrays of records
 *  @return false when there is nothing to draw, or no gnuplot */
bool plot_history(const exercise *, const json_t *own, const json_t *reference,
                  const json_t *median, const char *picture);
/** A timing or count as a multiple of what is wanted: 1 just meets it, more is better. NAN when
 *  it was not judged. */
double margin_of(const json_t *test);
/** Can this place judge it? Those that it can have the letters A, B, ... */
bool test_is_shown(const json_t *test);

#endif

/*
 * views.h: results.json in the formats of those who read it. Each view is one function that reads
 * the results, which were checked against the schema before, and prints; it decides nothing anew.
 *
 *   views.c       the table of views, and the command `grader report`
 *   schema.c      is this a results.json?
 *   verdicts.c    what an exercise was judged by, one verdict after the other
 *   locate.c      FILE:LINE in the words of compilers and of softgpu
 *   escape.c      any text in XML, CSV, Markdown and GitHub's commands
 *   junit.c gradescope.c github.c csv.c markdown.c tsv.c html.c (chart.c draws for it)
 *
 * Text of results may hold anything that a compiler or a student printed: it goes through escape.c,
 * never straight to the file.
 */
#ifndef GRADER_VIEWS_H
#define GRADER_VIEWS_H

#include "grader.h"

#include <stdio.h>

/** @return false after a message on stderr when the view cannot be made. */
typedef bool view_function(const options *, const json_t *results, FILE *);

typedef struct view {
    const char *name;
    view_function *write;
} view;

/** NULL when there is none of that name. */
const view *view_find(const char *name);

view_function junit_view, gradescope_view, github_view, summary_view, csv_view, markdown_view,
    html_view, tsv_view;

/** "" and 0 where the object is none, or has no such string or number. */
const char *string_of(const json_t *object, const char *key);
double real_of(const json_t *object, const char *key);

/* ---- schema.c -------------------------------------------------------------------------------- */

/** Does every field that views rely on exist and have its type? @param why says which has not */
bool results_are_valid(const json_t *results, char why[256]);

/* ---- verdicts.c ------------------------------------------------------------------------------ */

typedef struct verdict {
    const char *part; /* build, case, checks, speed, traffic */
    const char *name; /* of the case, or the metric; "" for builds */
    const char
        *status; /* as results.json has it: passed, failed, build_failed, too_noisy, skipped: ... */
    const char *words; /* why it failed or was skipped, or a note; "" */
    long long seed;    /* of a case; -1 elsewhere */
    double seconds;
} verdict;

typedef void verdict_function(const verdict *, void *context);

/** Call the function with every verdict of one exercise, in the order in which they were reached.
 *  The strings live as long as the call. */
void each_verdict(const json_t *exercise, verdict_function *, void *context);
bool is_passed(const verdict *);
bool is_failed(const verdict *);
bool is_noisy(const verdict *); /* a timing that could not decide; none of the three: not judged */
/** Has the exercise a timing that was too noisy? */
bool any_noisy(const json_t *exercise);
/** How many cases passed, of all. */
void cases_of(const json_t *exercise, int *passed, int *all);
/** How the exercise did in one line of words: "passed 24/24, checks passed". */
void print_outcome(const json_t *exercise, char *line, size_t size);
/** A command that repeats it, or "" for verdicts that have none. */
void repeat_command(const json_t *exercise, const verdict *, char *line, size_t size);

/* ---- locate.c -------------------------------------------------------------------------------- */

/** The next FILE:LINE or FILE(LINE) in the text, for this file's base name.
 *  @return the first character after it, or NULL when there is none */
const char *locate(const char *text, const char *file, long *line);

/* ---- escape.c -------------------------------------------------------------------------------- */

/** Valid in elements and attributes of XML 1.0 and of HTML; what XML cannot hold becomes U+FFFD. */
void put_xml(FILE *, const char *text);
/** One cell, quoted where it must be; a text that a spreadsheet would compute gets a ' before it.
 */
void put_csv(FILE *, const char *text);
/** On one line, in a table or elsewhere, without a meaning in Markdown or HTML. */
void put_markdown(FILE *, const char *text);
/** A cell of a table in Markdown whose words are the course's own: they stay readable as they are.
 */
void put_cell(FILE *, const char *text);
/** The message of a workflow command of GitHub; in a property : and , are escaped too. */
void put_command(FILE *, const char *text, bool property);

/* ---- chart.c --------------------------------------------------------------------------------- */

/** Draw as SVG by gnuplot. @return NULL when there is nothing to draw, or nothing to draw with; the
 *  caller frees */
char *chart_points(const json_t *results);
char *chart_speed(const json_t *results);
char *chart_traffic(const json_t *results);
/** @param file NULL, or lines with one verdict each; only those of the submission count */
char *chart_history(const char *file, const char *submission);
/** Is there a gnuplot? */
bool chart_can_draw(void);

#endif

/*
 * views.h: results.json in the formats of those who read it. Each view is one function that reads
 * the results, which were checked against the schema before, and prints; it decides nothing anew.
 *
 *   views.c       the table of views, and the command `grader report`
 *   terminal.c    the table on the terminal, and what an exercise failed of
 *   last.c        last verdicts of what was not graded this time
 *   locate.c      FILE:LINE in the words of compilers
 *   escape.c      any text in XML, CSV, Markdown and GitHub's commands
 *   junit.c gradescope.c github.c csv.c markdown.c html.c (chart.c draws for it)
 *   tables.c      its numbers as two tables; load_tables.c makes results of them again
 *
 * Text of results may hold anything that a compiler or a student printed: it goes through escape.c,
 * never straight to the file.
 */
#ifndef GRADER_VIEWS_H
#define GRADER_VIEWS_H

#include "verdict/verdict.h"

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
    html_view, grades_view, tests_view;

/** The command. */
int report(const options *);

/* ---- last.c ---------------------------------------------------------------------------------- */

/** Add to results the last verdicts of exercises that are not in them. @param history or NULL */
void add_last_verdicts(json_t *results, const char *history);

/* ---- tables.c -------------------------------------------------------------------------------- */

/** A metric's fields, as results.json and the table of tests call them. */
#define METRIC_FIELDS 5
extern const char *const metric_fields[METRIC_FIELDS];

/* ---- load_tables.c --------------------------------------------------------------------------- */

/** Results of grades.tsv and tests.tsv. @return NULL where the folder lacks one; the caller's */
json_t *tables_load(const char *folder);

/* ---- terminal.c ------------------------------------------------------------------------------ */

/** What an exercise failed of, with the compiler's or the case's words. */
void report_exercise(const options *, json_t *entry);
/** The rest of a line: the command that tries a case of an entry once more.
 *  @param submission "", or a folder; the course's own is not named */
void report_again(const char *submission, const json_t *entry, const json_t *one);
void report_table(const grading *);

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

/* ---- quote.c --------------------------------------------------------------------------------- */

#define QUOTE_MAX 120
/** A line of an exercise's own file, without indentation, for a terminal.
 *  @param own as in the entry: "phase2_cuda_basics/203_vector_add/203_vector_add.cu" @param file by
 * any path
 *  @return false when it is another file, or has no such line */
bool quote_line(const char *submission, const char *own, const char *file, long number,
                char text[QUOTE_MAX]);

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

/*
 * reports.h: results -> gradebook, feedback, pages.
 *
 *   gradebook.c   results -> gradebook.csv, moodle.csv, canvas.csv
 *   feedback.c    results -> a page and a text for each student
 *   changed.c     changes of verdicts -> changed.csv
 *   similar.c     submissions -> similar.csv
 *   page.c        results -> index.html
 *   distribution.c results -> class.json, for students to compare with
 *   leaderboard.c the part of index.html for those who want to be on it
 */
#ifndef GRADER_CLASS_REPORTS_H
#define GRADER_CLASS_REPORTS_H

#include "class/submissions/submissions.h"
#include "verdict/verdict.h"
#include "views/views.h"

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

/* Parts of the page. */
void put_changes(FILE *, const submission *, size_t count);
void put_leaderboards(FILE *, const submission *, size_t count);
/** How many verdicts changed though nothing else had. */
size_t unexplained_changes(const submission *, size_t count);

#endif

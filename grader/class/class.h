/*
 * class.h: `make class`: all submissions of a class, graded by one grader process each.
 *
 *   class.c       all of it, in order, under a lock
 *   main.c        the command line
 *
 * Its rooms: settings (what is asked for), submissions (what was handed in), gradings, reports.
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

#include "class/gradings/gradings.h"
#include "class/reports/reports.h"

/** @return 0; 1 when a submission could not be graded; 2 when nothing could be done. */
int class_run(const class_options *);

#endif

/*
 * grade.h: a whole submission.
 */
#ifndef GRADER_GRADE_H
#define GRADER_GRADE_H

#include "verdict/verdict.h"

/** Grade all that the options ask for. @return 0, or 2 when grading itself could not be done. */
int grade(const options *, grading *);
void grading_free(grading *);
/** Build what the options ask for and show what the compilers say. @return 0, or 1 if one failed */
int build_only(const options *);

#endif

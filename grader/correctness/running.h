/* running.h: the state of the case that runs. Case functions are called without it: what case.h
 * offers them finds it here. Everybody else is handed it. */
#ifndef GRADER_RUNNING_H
#define GRADER_RUNNING_H

#include "correctness.h"

extern case_state *running;

/** As fail(), which is for what is not as it should be. */
void fail_as(failure, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));

#endif

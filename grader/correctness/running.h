/* running.h: the state of the case that runs. Case functions do not get it as an argument: the
 * functions of case.h find it here. All others get it as an argument. */
#ifndef GRADER_RUNNING_H
#define GRADER_RUNNING_H

#include "correctness.h"

extern case_state *running;

/** As fail(), which is for what is not as it should be. */
void fail_as(failure, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));

/* ---- alone.c ----------------------------------------------------------------------------------
 */

/** Of a call of case number `at`: each of its arrays may be misaligned alone there. */
void alone_note(const call_request *, int at);
void alone_forget(void);
/** Run a case again for each array that was noted, and small cases in the other order, where their
 *  part is right so far. What goes wrong fails that case. */
void alone_run(case_result results[], int count);

#endif

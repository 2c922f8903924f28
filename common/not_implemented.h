/*
 * not_implemented.h: the loud stub of a skeleton.
 *
 * A function that is still to be written calls NOT_IMPLEMENTED with all of its arguments, so that
 * the skeleton compiles without warnings. Delete the call when you write the body: as long as it
 * runs, the grader fails the case and says which function is missing. A kernel has no such call.
 */
#ifndef COURSE_NOT_IMPLEMENTED_H
#define COURSE_NOT_IMPLEMENTED_H

#ifdef __cplusplus
extern "C" {
#endif

#define NOT_IMPLEMENTED(...) not_implemented(__func__, __VA_ARGS__)

/** Remember that `function` was called before it was written. The other arguments are ignored. */
void not_implemented(const char *function, ...);

/** @return the name of the first stub that ran since the last call of this, or NULL. */
const char *not_implemented_take(void);

#ifdef __cplusplus
}
#endif

#endif

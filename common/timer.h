/*
 * timer.h: wall-clock time, to measure intervals.
 */
#ifndef COURSE_TIMER_H
#define COURSE_TIMER_H

#ifdef __cplusplus
extern "C" {
#endif

/** @return seconds since some moment in the past; it never decreases */
double seconds_now(void);

#ifdef __cplusplus
}
#endif

#endif

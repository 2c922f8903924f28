/*
 * timer.h: the time of the wall, for differences.
 */
#ifndef COURSE_TIMER_H
#define COURSE_TIMER_H

#ifdef __cplusplus
extern "C" {
#endif

/** @return seconds since some moment in the past; never goes back */
double seconds_now(void);

#ifdef __cplusplus
}
#endif

#endif

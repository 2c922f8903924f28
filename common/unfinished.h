/*
 * unfinished.h: compilers say nothing of what is not used, from here to the end of the file.
 *
 * In a skeleton some functions are given, and the bodies that will call them are not written yet.
 * Delete the include together with the last TODO: then compilers tell you again what you left
 * unused.
 */
#ifndef COURSE_UNFINISHED_H
#define COURSE_UNFINISHED_H

#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-parameter"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wunused-local-typedefs"
#ifdef __NVCC__
#pragma nv_diag_suppress 177 /* declared and never referenced */
#pragma nv_diag_suppress 550 /* set and never used */
#endif

#endif

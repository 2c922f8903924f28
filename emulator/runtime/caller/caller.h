/*
 * caller.h: where in the program something was called, and what it does with the result.
 */
#ifndef SOFTGPU_CALLER_H
#define SOFTGPU_CALLER_H

#include <stdbool.h>
#include <stddef.h>

/* trace.c: where in the program something was called. */
enum { TRACE_FRAMES = 8 };
struct trace {
    void *frame[TRACE_FRAMES]; /* return addresses outside this library, innermost first */
};
struct trace trace_here(void);
/** " at x.cu:12", " in f(int)" or "". Frames of the kernel `stub` do not count; it may be NULL. */
void trace_place(const struct trace *, const char *stub, char *text, size_t size);

/* ignored.c: does the program look at what a call returned? */
bool call_is_ignored(const struct trace *);
/** "cudaMemcpy", or "a call". */
void call_name(const struct trace *, char *name, size_t size);

#endif

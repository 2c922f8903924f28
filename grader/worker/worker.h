/*
 * worker.h: the untrusted process, in one index. It holds one exercise's library, calls what the
 * grader asks for, and judges nothing.
 *
 * main.c        the loop: prepare, run, fetch
 * memory.c      buffers on the host, each followed by an unmapped page
 * device_cuda.c buffers and timing on a CUDA device (WITH_CUDA)
 * device_none.c the same interface where there is no CUDA
 * calls.c       the library's calls of the runtime, counted and refused on their way (WITH_CUDA)
 * threads.c     ... and, where there is no CUDA, its threads
 * library.c     the student's code, where it is a shared library
 * python.c      ... and where it is a file of Python: python_driver.py runs it (WITH_PYTHON)
 * addresses.c   arrays of pointers to other buffers
 * invoke.c      any C function from a name and a typed argument list, through libffi
 * reads.c       read() and pread() of a library: the kernel's, or worse
 * functions.c   the functions that WIRE_FUNCTION arguments can name: those of the exercises'
 *               worker.c
 * context.c     what such a function has and its caller shall not
 * confine.c     what a worker gives up before it loads a student's library
 * seal.c        what that library cannot change of the worker
 * crash.c       a last message when the student's code faults
 */
#ifndef GRADER_WORKER_H
#define GRADER_WORKER_H

#include "call/protocol.h"
#include <stdbool.h>
#include <stddef.h>

/** One buffer of the current call: `base` is where its image (canary, data, canary) starts. */
typedef struct worker_buffer {
    unsigned char *base;
    void *mapping; /* host only: what munmap takes */
    size_t mapping_bytes, image_bytes;
    bool is_pinned; /* host only */
    bool is_lent;   /* device only: it is the grader's */
    void *staged;   /* device only: its image while the stream brings it, and takes it away */
} worker_buffer;

/* memory.c */
/** @param shared the grader's memory, in which argument->at is where the image lies */
bool host_buffer_create(worker_buffer *, const wire_argument *, const unsigned char *shared);
void host_buffer_read(unsigned char *image, const worker_buffer *);
void host_buffer_free(worker_buffer *);

/* addresses.c */
/** In the image of an array of pointers, make the addresses of buffers out of their numbers. */
void addresses_enter(const wire_argument *, unsigned char *image, const wire_call *,
                     const worker_buffer buffers[]);
/** ... and numbers again; what is no buffer's address is left as it is. */
void addresses_leave(const wire_argument *, unsigned char *image, const wire_call *,
                     const worker_buffer buffers[]);

/* device_cuda.c, device_none.c. Each int is a cudaError_t, 0 for success. */
int device_start(void);
int device_buffer_create(worker_buffer *, const wire_argument *, const unsigned char *image);
int device_buffer_read(unsigned char *image, const worker_buffer *);
void device_buffer_free(worker_buffer *);
/** Work of the stream fills the device's buffers before a call: what does not wait for the stream
 *  comes too early. */
void device_buffers_enter(worker_buffer[], const wire_call *);
/** ... and takes what they hold after it: what the stream does not wait for comes too late. */
void device_buffers_leave(worker_buffer[], const wire_call *);
/** Page-lock a host buffer, or let go of it. */
int device_pin(const worker_buffer *);
void device_unpin(const worker_buffer *);
/** The next call is given another stream than the one before: who remembers it is found. */
void device_next_stream(void);
/** The worker's stream of a device; NULL where there is no such device. */
void *device_stream(unsigned device);
/** Take the device to another address for the next buffers. */
void device_relocate(bool);
void device_flush_caches(void);
void device_wait(void);
void device_clock_start(void);
/** Wait for the whole device, then stop. @return seconds since device_clock_start */
double device_clock_stop(void);
/** Make it the current device; below 0: leave it. @return the one before */
int device_make_current(int);
/** The first error of the device since the last call of this; *sticky when it stays. */
int device_take_error(bool *sticky);
const char *device_error_text(int error);
/** Findings of the emulator since the last call of this. @return how many there were */
unsigned device_take_findings(device_finding findings[WIRE_FINDINGS]);

/* calls.c, threads.c */
/** Count what the library calls, and refuse what the call says. @param stream given, or NULL */
void calls_start(const wire_call *, void *stream);
/** Count no more. The reply gets what there was. */
void calls_stop(wire_reply *);
/** Of its calls from here on this one fails, 1 is the next; 0: none. @return whether one has failed
 * since. */
bool calls_refuse(unsigned number);
/** What is wrong with the kind of a copy between host and device, as "; ...", or "". */
const char *calls_wrong_way(void);

/** Print name, driver, runtime and the two ceilings as lines of key=value. @return exit status */
int device_print_facts(void);
/** Is it of any use? Gentle: somebody else may be measuring on it. @return exit status */
int device_try(void);
/** Print how many devices there are. @return exit status */
int device_print_count(void);
/** Print its UUID, without measuring anything. @return exit status */
int device_print_uuid(void);

/* seal.c */
void seal_images(void);

/* confine.c */
typedef struct confined {
    bool limits, seccomp;
} confined;
/** Before the device is there: no more than so many processes and threads. */
void confine_processes(void);
/** After: memory, files, system calls. @param gpu a real one, whose driver wants more of each */
confined confine(bool gpu);
/** Print what this process sees, confined. @param secret a file that should not be in sight */
int confine_probe(const char *secret, bool gpu);

/* library.c, python.c: the student's code */
/** @return NULL, or why it cannot be loaded */
const char *code_load(const char *path);
/** A function of the library, or NULL. */
void (*code_function(const char *name))(void);
/** Of the library, or, under this name, of worker.c: which calls those of the library. */
bool code_has(const char *function);
/** Is it in the code of the library? */
bool code_calls_from(const void *address);
/** Call a function that it has, as invoke does. */
void code_call(const wire_call *, void *pointers[], wire_reply *);

/* invoke.c */
/** Call `function` and store what it returned. Pointer arguments come from `pointers`. */
void invoke(void (*function)(void), const wire_call *, void *pointers[], wire_reply *);

/* reads.c */
/** From now on reads of the grader's file go as the seed draws; 0: as the kernel does them. */
void reads_befall(uint64_t seed);
/** Reads of a file that is `interrupted` wait from now on, one of them 5 s at most, or go on.
 *  @return whether one has waited that long: what it is for does not return without it */
bool reads_hold(bool held);
/** What such reads have brought, of files as the library opened them. */
unsigned long long reads_brought(void);

/* functions.c */
typedef struct worker_function {
    const char *name;
    void (*function)(void);
    void (*prepare)(void); /* called before each call that is given it; or NULL */
} worker_function;

/** Make a function one that cases can name: worker_function("name"). Its address goes into a
 * section of the worker that functions.c reads. */
#define WORKER_FUNCTION(f, ...)                                                                    \
    static const worker_function *const worker_entry_##f                                           \
        __attribute__((section("worker_functions"), used)) = &(const worker_function)              \
    {                                                                                              \
        .name = #f, .function = (void (*)(void))f, ##__VA_ARGS__                                   \
    }
void (*worker_function_find(const char *name))(void); /* NULL when unknown */

/* context.c */
/** Take a buffer's contents away until context_reveal. @return the token that stands for them */
void *context_hide(void *data, size_t bytes);
/** What is hidden behind a token, or NULL: somebody made it up. */
void *context_hidden(const void *token);
/** Put it back where it was. */
void context_reveal(void);

/* crash.c */
/** From now on a fault ends the process after a WIRE_CRASHED reply that names the buffer near the
 *  address. */
void crash_watch(const wire_call *call, const worker_buffer *buffers);
/** @return NULL, or that the library took away what crash_watch set up */
const char *crash_unwatched(void);

#endif

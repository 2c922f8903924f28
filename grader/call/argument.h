/*
 * argument.h: the arguments of a call into the worker.
 */
#ifndef GRADER_ARGUMENT_H
#define GRADER_ARGUMENT_H

#include "call/element.h"
#include "call/protocol.h"
#include <stdbool.h>
#include <stddef.h>

/** What an output holds before the call: a signalling NaN, which no arithmetic leaves as it is. */
#define POISON_F32 0x7fa0badau
#define POISON_I32 0xa5a5a5a5u

enum role { ROLE_IN, ROLE_OUT, ROLE_INOUT }; /* of an argument that is a buffer */

/** One argument of a call: a wire_argument and where its data lives in the grader. */
typedef struct argument {
    wire_argument wire;
    void *data; /* what goes in, and (out, inout) receives what comes back */
    unsigned role;
    element_type element; /* of a buffer */
} argument;

/* Device buffers for CUDA exercises, host buffers for phase 1. Inputs are verified to be unchanged;
 * outputs arrive poisoned with NaN or 0xA5; all are surrounded by canaries or unmapped memory. */
argument in_f32(const char *name, const float *data, size_t count);
argument out_f32(const char *name, float *data, size_t count);
argument inout_f32(const char *name, float *data, size_t count);
argument in_i32(const char *name, const int *data, size_t count);
argument out_i32(const char *name, int *data, size_t count);
argument in_bytes(const char *name, const void *data, size_t bytes);
/** The same of any type: in_of(ELEMENT_F16, ...). Arrays as array_of makes them. */
argument in_of(element_type, const char *name, const void *data, size_t count);
argument out_of(element_type, const char *name, void *data, size_t count);
argument inout_of(element_type, const char *name, void *data, size_t count);
/** An array of pointers: element i is where the buffer of argument number numbers[i] begins, or
 *  that stream. */
argument addresses(const char *name, const unsigned long long *numbers, size_t count);
/** A buffer that the call is not given: what addresses() leads to. It still has a number. */
argument beside(argument);
/** Host memory also in a CUDA exercise: host(in_f32(...)). */
argument host(argument);
/** Page-locked host memory: pinned(host(in_f32(...))). */
argument pinned(argument);
/** Host memory that only the worker's functions reach: the call gets a pointer to nothing in its
 *  place, which it can but hand on: opaque(host(inout_f32(...))). One a call. */
argument opaque(argument);
/** On another device than the first: of a buffer, or of stream(). The exercise has `devices`. */
argument on_device(unsigned device, argument);
/** Start the buffer this many bytes past an aligned address (multiples of 4, but for in_bytes). */
argument shifted(argument, unsigned bytes);

argument same_as(int index); /* the pointer of argument number `index`, for calls in place */
argument i32(int value);
argument u64(unsigned long long value); /* size_t too */
argument f32(float value);
argument f64(double value);
argument dim3_of(unsigned x, unsigned y, unsigned z);
argument stream(void);
argument null_pointer(void);
argument handle(int number);     /* a pointer that an earlier call returned or filled in */
argument handle_out(int number); /* T **: the call stores a pointer there */
/** Path of a file to be read: `bytes` zeros, but for `count` bytes of data from `at` on. One a
 * call. */
argument path_of(unsigned long long bytes, unsigned long long at, const void *data, size_t count);
/** Reads of it return less than was asked for, or fail with EINTR, at drawn places. */
argument interrupted(argument path, unsigned long long seed);
/** Reads of it fail with EIO. */
argument with_read_errors(argument path);
argument worker_function(const char *name); /* pointer to a function of worker.c */

#define ARGS(...)                                                                                  \
    (argument[]){__VA_ARGS__}, (int)(sizeof((argument[]){__VA_ARGS__}) / sizeof(argument))

#endif

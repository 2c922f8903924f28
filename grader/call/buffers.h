/*
 * buffers.h: where the buffers of a call are while the worker has it: in memory that worker and
 * grader share (shared_buffers.c), or on softgpu's device, where only the grader reaches them
 * (device_buffers.c). Each is one implementation of `buffers`.
 */
#ifndef GRADER_BUFFERS_H
#define GRADER_BUFFERS_H

#include "call.h"

/** A call under way. */
typedef struct ongoing {
    worker *worker;
    const call_request *request;
    call_outcome *outcome;
    wire_call wire; /* as the worker gets it */
    unsigned char *shared;
} ongoing;

typedef struct buffers {
    /** Is this buffer of the call theirs? */
    bool (*have)(const ongoing *, const wire_argument *);
    /** Fill all that are, and enter where they are. @return false after call_fails() */
    bool (*place)(ongoing *);
    /** Is one as it must be? Then its data go home. @return false after call_fails() */
    bool (*take_back)(ongoing *, int argument);
} buffers;

extern const buffers shared_buffers, device_buffers;

static inline bool is_output(const argument *a)
{
    return a->role != ROLE_IN;
}

/** file.c: fill the file of the call, if it has one. @return false after call_fails() */
bool place_file(ongoing *);
/** device_report.c: were results that are on the device made there?
 *  @return false after call_fails() */
bool device_report_is_good(ongoing *, const remote_account *, bool has_results);
/** @return false, for the caller to return: the outcome says so */
bool call_fails(ongoing *, failure, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif

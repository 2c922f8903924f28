/*
 * error.c: the last error of a thread, the meaning of a device status, names and descriptions.
 */
#include "runtime.h"

#include "softgpu.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local cudaError_t last_error;

/* ---- why a launch was refused ---------------------------------------------------------------- */

static _Thread_local char refusal[160];
static _Thread_local bool refused; /* the launch of this call */

cudaError_t error_refuse(cudaError_t error, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vsnprintf(refusal, sizeof refusal, format, list);
    va_end(list);
    refused = true;
    return error;
}

const char *softgpu_refusal(void)
{
    static _Thread_local char taken[sizeof refusal];

    strcpy(taken, refusal);
    refusal[0] = '\0';
    return taken;
}

/* ---- a failure that nobody asks about -------------------------------------------------------- */

enum { MOST_UNASKED = 8 };

/** A launch from <<<>>>, or a call whose result the program ignored. */
static _Thread_local struct unasked {
    cudaError_t error;
    char kernel[128];             /* of a launch from <<<>>>; else "" */
    char why[sizeof refusal + 2]; /* of a launch; else "" */
    struct trace called;
} unasked[MOST_UNASKED];
static _Thread_local int unasked_count;
static _Thread_local bool said; /* softgpu has named the mistake of this call */

void error_is_said(void)
{
    said = true;
}

/** What follows from the same error is told with it. */
static void forget(cudaError_t error)
{
    int kept = 0;

    for (int i = 0; i < unasked_count; i++)
        if (unasked[i].error != error) unasked[kept++] = unasked[i];
    unasked_count = kept;
}

/** NULL: there are enough. */
static struct unasked *remember(cudaError_t error, const struct trace *called)
{
    struct unasked *u = unasked_count ? &unasked[unasked_count - 1] : NULL;

    if (!u || u->called.frame[0] != called->frame[0]) {
        if (unasked_count == MOST_UNASKED) return NULL;
        u = &unasked[unasked_count++];
    }
    u->error = error;
    u->called = *called;
    u->kernel[0] = '\0';
    snprintf(u->why, sizeof u->why, "%s%s", refused ? ", " : "", refused ? refusal : "");
    return u;
}

void error_expect_question(cudaError_t error, const char *kernel)
{
    if (check_level(CHECK_ERRORS) == CHECK_OFF) return;
    const struct trace here = trace_here();
    struct unasked *u = remember(error, &here);
    if (!u) return;
    snprintf(u->kernel, sizeof u->kernel, "%s", kernel);
    snprintf(u->why, sizeof u->why, "%s%s", *refusal ? ", " : "", refusal);
}

static void report_launch(const struct unasked *u)
{
    char place[600];

    trace_place(&u->called, u->kernel, place, sizeof place);
    report_host(CHECK_ERRORS, FINDING_UNCHECKED_ERROR, RELATION_NONE,
                "the launch failed with %s (%s%s) and the program did not ask: call "
                "cudaGetLastError() after a launch:%s%s kernel %s",
                cudaGetErrorName(u->error), cudaGetErrorString(u->error), u->why,
                *place ? place + 3 : "", *place ? "," : "", u->kernel);
}

static void report_call(const struct unasked *u)
{
    char place[600], name[64];

    trace_place(&u->called, NULL, place, sizeof place);
    call_name(&u->called, name, sizeof name);
    report_host(CHECK_ERRORS, FINDING_UNCHECKED_ERROR, RELATION_NONE,
                "%s failed with %s (%s%s) and the program did not check its result%s%s", name,
                cudaGetErrorName(u->error), cudaGetErrorString(u->error), u->why, *place ? ":" : "",
                *place ? place + 3 : "");
}

void error_report_unasked(void)
{
    const int count = unasked_count;

    unasked_count = 0;
    if (!count) return;
    runtime_lock();
    for (int i = 0; i < count; i++)
        *unasked[i].kernel ? report_launch(&unasked[i]) : report_call(&unasked[i]);
    runtime_unlock();
}

/** A call fails: will anybody know? A fault was said, and comes back with every call. */
static void note_failure(cudaError_t error)
{
    if (error == runtime.context[device_current()].sticky) {
        forget(error);
        return;
    }
    if (said || error == cudaErrorNotReady || check_level(CHECK_ERRORS) == CHECK_OFF) return;
    const struct trace here = trace_here();
    if (call_is_ignored(&here))
        remember(error, &here);
    else
        forget(error);
}

/* ---- the last error -------------------------------------------------------------------------- */

/** Remember a failure for cudaGetLastError. @return the error itself. */
cudaError_t error_keep(cudaError_t error)
{
    if (error) {
        last_error = error;
        note_failure(error);
    }
    said = refused = false;
    return error;
}

cudaError_t error_from_device(device_status status)
{
    switch (status) {
    case DEVICE_OK: return cudaSuccess;
    case DEVICE_OUT_OF_MEMORY: return cudaErrorMemoryAllocation;
    case DEVICE_BAD_ADDRESS: return cudaErrorInvalidValue;
    case DEVICE_BAD_MODULE: return cudaErrorInvalidPtx;
    case DEVICE_NOT_FOUND: return cudaErrorInvalidDeviceFunction;
    case DEVICE_BAD_LAUNCH: return cudaErrorInvalidConfiguration;
    case DEVICE_ILLEGAL_ADDRESS: return cudaErrorIllegalAddress;
    case DEVICE_MISALIGNED: return cudaErrorMisalignedAddress;
    case DEVICE_TRAP: return cudaErrorLaunchFailure;
    case DEVICE_ASSERT: return cudaErrorAssert;
    case DEVICE_DEADLOCK: return cudaErrorLaunchFailure;
    case DEVICE_TIMEOUT: return cudaErrorLaunchTimeout;
    case DEVICE_UNSUPPORTED: return cudaErrorNotSupported;
    case DEVICE_LOST: return cudaErrorDevicesUnavailable;
    case DEVICE_UNFINISHED: return cudaSuccess; /* so far */
    }
    return cudaErrorUnknown;
}

cudaError_t error_sticky(device_status status)
{
    return status < DEVICE_ILLEGAL_ADDRESS ? cudaSuccess : error_from_device(status);
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t error = last_error;

    last_error = cudaSuccess;
    unasked_count = 0;
    return error;
}

cudaError_t cudaPeekAtLastError(void)
{
    unasked_count = 0;
    return last_error;
}

const char *cudaGetErrorName(cudaError_t error)
{
    switch ((int)error) {
#define ERROR(name, text)                                                                          \
    case name:                                                                                     \
        return #name;
#include "error_table.h"
#undef ERROR
    }
    return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
    switch ((int)error) {
#define ERROR(name, text)                                                                          \
    case name:                                                                                     \
        return text;
#include "error_table.h"
#undef ERROR
    }
    return "unrecognized error code";
}

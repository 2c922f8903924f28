/*
 * error.c: the last error of a thread, the meaning of a device status, names and descriptions.
 */
#include "runtime.h"

#include <stdio.h>

static _Thread_local cudaError_t last_error;

/* ---- a failed launch that nobody asks about -------------------------------------------------- */

static _Thread_local struct {
    cudaError_t error; /* cudaSuccess: nothing to ask */
    char kernel[128];
    struct trace launched;
} unasked;

void error_expect_question(cudaError_t error, const char *kernel)
{
    if (check_level(CHECK_ERRORS) == CHECK_OFF) return;
    unasked.error = error;
    snprintf(unasked.kernel, sizeof unasked.kernel, "%s", kernel);
    unasked.launched = trace_here();
}

void error_report_unasked(void)
{
    char place[600];

    if (!unasked.error) return;
    trace_place(&unasked.launched, unasked.kernel, place, sizeof place);
    const cudaError_t error = unasked.error;
    unasked.error = cudaSuccess;
    runtime_lock();
    report_host(CHECK_ERRORS, FINDING_UNCHECKED_ERROR, RELATION_NONE,
                "the launch failed with %s (%s) and the program did not ask: call "
                "cudaGetLastError() after a launch:%s%s kernel %s",
                cudaGetErrorName(error), cudaGetErrorString(error), *place ? place + 3 : "",
                *place ? "," : "", unasked.kernel);
    runtime_unlock();
}

/* ---- the last error -------------------------------------------------------------------------- */

/** Remember a failure for cudaGetLastError. @return the error itself. */
cudaError_t error_keep(cudaError_t error)
{
    if (error) {
        last_error = error;
        unasked.error = cudaSuccess; /* it is told now */
    }
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
    unasked.error = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError(void)
{
    unasked.error = cudaSuccess;
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

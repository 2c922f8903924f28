/*
 * error.c: the last error of a thread, the meaning of a device status, names and descriptions.
 */
#include "runtime.h"

static _Thread_local cudaError_t last_error;

/** Remember a failure for cudaGetLastError. @return the error itself. */
cudaError_t error_keep(cudaError_t error)
{
    if (error) last_error = error;
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
    case DEVICE_DEADLOCK: return cudaErrorLaunchFailure;
    case DEVICE_TIMEOUT: return cudaErrorLaunchTimeout;
    case DEVICE_UNSUPPORTED: return cudaErrorNotSupported;
    }
    return cudaErrorUnknown;
}

cudaError_t error_sticky(device_status status, bool assertion)
{
    if (status < DEVICE_ILLEGAL_ADDRESS) return cudaSuccess;
    if (status == DEVICE_TRAP && assertion) return cudaErrorAssert;
    return error_from_device(status);
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t error = last_error;

    last_error = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError(void)
{
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

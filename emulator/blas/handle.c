/* handle.c: handles and their settings, and the names of statuses. */
#include "blas.h"

#include <pthread.h>
#include <stdlib.h>

static struct cublasContext *handles[256];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool replace(const struct cublasContext *old, struct cublasContext *new)
{
    bool found = false;

    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < sizeof handles / sizeof *handles && !found; i++) {
        if (handles[i] != old) continue;
        handles[i] = new;
        found = true;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

bool handle_is_valid(cublasHandle_t handle)
{
    return handle && replace(handle, handle);
}

EXPORT cublasStatus_t cublasCreate_v2(cublasHandle_t *handle)
{
    if (!handle) return CUBLAS_STATUS_INVALID_VALUE;
    if (cudaFree(NULL) != cudaSuccess) return CUBLAS_STATUS_NOT_INITIALIZED;
    struct cublasContext *new = calloc(1, sizeof *new);
    if (!new) return CUBLAS_STATUS_ALLOC_FAILED;
    if (!replace(NULL, new)) {
        free(new);
        return CUBLAS_STATUS_ALLOC_FAILED;
    }
    *handle = new;
    return CUBLAS_STATUS_SUCCESS;
}

/* As cuBLAS does, it waits for all of the device: handles are not for one product each. */
EXPORT cublasStatus_t cublasDestroy_v2(cublasHandle_t handle)
{
    if (!handle || !replace(handle, NULL)) return CUBLAS_STATUS_NOT_INITIALIZED;
    cudaDeviceSynchronize();
    free(handle);
    return CUBLAS_STATUS_SUCCESS;
}

EXPORT cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int *version)
{
    (void)handle;
    if (!version) return CUBLAS_STATUS_INVALID_VALUE;
    *version = 130000;
    return CUBLAS_STATUS_SUCCESS;
}

/* A setting: a field of the handle, set and read. */
#define SETTING(Name, type, field)                                                                 \
    EXPORT cublasStatus_t cublasSet##Name(cublasHandle_t handle, type value)                       \
    {                                                                                              \
        if (!handle_is_valid(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;                        \
        handle->field = value;                                                                     \
        return CUBLAS_STATUS_SUCCESS;                                                              \
    }                                                                                              \
    EXPORT cublasStatus_t cublasGet##Name(cublasHandle_t handle, type *value)                      \
    {                                                                                              \
        if (!handle_is_valid(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;                        \
        if (!value) return CUBLAS_STATUS_INVALID_VALUE;                                            \
        *value = handle->field;                                                                    \
        return CUBLAS_STATUS_SUCCESS;                                                              \
    }
SETTING(Stream_v2, cudaStream_t, stream)
SETTING(MathMode, cublasMath_t, math)
SETTING(PointerMode_v2, cublasPointerMode_t, pointers)
SETTING(AtomicsMode, cublasAtomicsMode_t, atomics)

EXPORT cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void *workspace, size_t bytes)
{
    (void)workspace, (void)bytes; /* plain loops need none */
    return handle_is_valid(handle) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

/* ---- statuses -------------------------------------------------------------------------------- */

static const struct {
    cublasStatus_t status;
    const char *name, *text;
} statuses[] = {
    {CUBLAS_STATUS_SUCCESS, "CUBLAS_STATUS_SUCCESS", "the operation completed successfully"},
    {CUBLAS_STATUS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED",
     "the library was not initialized"},
    {CUBLAS_STATUS_ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed"},
    {CUBLAS_STATUS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE",
     "an unsupported value or parameter was passed to the function"},
    {CUBLAS_STATUS_ARCH_MISMATCH, "CUBLAS_STATUS_ARCH_MISMATCH",
     "the device lacks a feature that the function requires"},
    {CUBLAS_STATUS_MAPPING_ERROR, "CUBLAS_STATUS_MAPPING_ERROR",
     "an access to GPU memory space failed"},
    {CUBLAS_STATUS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED",
     "the GPU program failed to execute"},
    {CUBLAS_STATUS_INTERNAL_ERROR, "CUBLAS_STATUS_INTERNAL_ERROR", "an internal operation failed"},
    {CUBLAS_STATUS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED",
     "the functionality is not supported"},
};

EXPORT const char *cublasGetStatusName(cublasStatus_t status)
{
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        if (statuses[i].status == status) return statuses[i].name;
    }
    return "unrecognized status";
}

EXPORT const char *cublasGetStatusString(cublasStatus_t status)
{
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        if (statuses[i].status == status) return statuses[i].text;
    }
    return "unrecognized status";
}

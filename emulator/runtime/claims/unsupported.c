/*
 * unsupported.c: calls of functions that softgpu lacks: the function's name on stderr, once, and
 * cudaErrorNotSupported. So a program links, and reports a missing function only if it calls it.
 * What is missing as a whole: surfaces, mipmapped and layered arrays, IPC, external memory,
 * graphics, run-time loaded libraries; and the driver's interface.
 *
 * This file must not see the prototypes of cuda_runtime_api.h: to ignore its arguments, a function
 * need not declare them.
 */
#include <driver_types.h>
#include <stdatomic.h>
#include <stdio.h>

cudaError_t error_keep(cudaError_t);
void error_is_said(void);

static cudaError_t say(atomic_flag *said, const char *name)
{
    if (!atomic_flag_test_and_set(said)) fprintf(stderr, "softgpu: %s is not supported\n", name);
    error_is_said();
    return error_keep(cudaErrorNotSupported);
}

#define MISSING(name)                                                                              \
    cudaError_t name(void);                                                                        \
    cudaError_t name(void)                                                                         \
    {                                                                                              \
        static atomic_flag said = ATOMIC_FLAG_INIT;                                                \
        return say(&said, #name);                                                                  \
    }
#include <parts/cuda_functions.h> /* their error has the same number */
#include "unsupported_table.h"
#undef MISSING

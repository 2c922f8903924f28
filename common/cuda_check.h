/*
 * cuda_check.h: the one CUDA check of the course.
 *
 *   CUDA_CHECK(call)    in a function that returns cudaError_t: on an error, print the expression,
 *                       its file and line and the reason to stderr, and return the error.
 *
 * A launch returns nothing: check it with CUDA_CHECK(cudaGetLastError()) after the `>>>(...)`.
 */
#ifndef COURSE_CUDA_CHECK_H
#define COURSE_CUDA_CHECK_H

#include <cuda_runtime_api.h>
#include <stdio.h>

#ifndef CUDA_CHECK_NAMES
#define CUDA_CHECK_NAMES 1 /* 0: print no expressions, in a library that is handed out */
#endif

#define CUDA_CHECK(call)                                                                           \
    do {                                                                                           \
        cudaError_t cuda_check_error = (call);                                                     \
        if (cuda_check_error != cudaSuccess) {                                                     \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__,                                 \
                    CUDA_CHECK_NAMES ? #call : "a call", cudaGetErrorString(cuda_check_error));    \
            return cuda_check_error;                                                               \
        }                                                                                          \
    } while (0)

#endif

/*
 * cuda_profiler_api.h: the switches of a profiler, which do nothing here.
 */
#ifndef SOFTGPU_CUDA_PROFILER_API_H
#define SOFTGPU_CUDA_PROFILER_API_H

#include "cuda_runtime_api.h"

#ifdef __cplusplus
extern "C" {
#endif
cudaError_t cudaProfilerStart(void);
cudaError_t cudaProfilerStop(void);
#ifdef __cplusplus
}
#endif

#endif

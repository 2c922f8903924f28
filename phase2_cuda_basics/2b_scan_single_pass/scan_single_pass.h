/*
 * scan_single_pass.h: the contract of exercise 2b. The conventions are in basics.h.
 */
#ifndef COURSE_SCAN_SINGLE_PASS_H
#define COURSE_SCAN_SINGLE_PASS_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** As exclusive_scan, in one kernel that reads and writes each element once. Blocks may start in
 *  any order, and only a few may run at a time. */
cudaError_t exclusive_scan_single_pass(int *out, const int *in, size_t n, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif

/*
 * streams.h: the contract of exercise 406. The conventions are in optimization.h.
 */
#ifndef COURSE_STREAMS_H
#define COURSE_STREAMS_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Send an array through the device in chunks, so that one is copied in while another is computed
 * and a third is copied out. The work on x: f(f(... f(x))), `iterations` times, f(x) = x - x^3.
 *
 * The work overlaps if both arrays are page-locked; if they are not, it is still right. The call
 * creates the streams and device memory that it needs, and frees them, also after an error. It
 * waits only at its end, for h_out to be complete. It never uses the legacy stream.
 *
 * @param h_out   [n], not h_in
 * @param h_in    [n]
 * @param n       0 and n % chunks != 0 are legal
 * @param iterations at least 0
 * @param chunks  at least 1, also more than n: pieces of ceil(n / chunks) elements; the last may be
 *                shorter, and empty ones are left out
 * @param streams at least 1: that many chunks are on the device at a time, with memory for no more
 * @return cudaErrorInvalidValue for smaller numbers; cudaErrorMemoryAllocation; other CUDA errors
 */
cudaError_t pipeline(float *h_out, const float *h_in, size_t n, int iterations, int chunks,
                     int streams);

#ifdef __cplusplus
}
#endif

#endif

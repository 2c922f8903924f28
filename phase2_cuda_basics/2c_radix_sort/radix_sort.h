/*
 * radix_sort.h: the contract of exercise 2c. The conventions are in basics.h.
 *
 * No output overlaps an input or another output. Arrays have room for n elements; of compact and
 * run_lengths elements after the first *count or *runs may hold anything. More than 2^31 - 1 elements
 * are cudaErrorInvalidValue. Scratch: cudaMallocAsync, freed on the same stream, even after errors.
 */
#ifndef COURSE_RADIX_SORT_H
#define COURSE_RADIX_SORT_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** out = the elements of in[n] between low and high, both included, in their order; *count, on the
 *  device, how many. None is kept if low > high. */
cudaError_t compact(unsigned *out, unsigned *count, const unsigned *in, size_t n, unsigned low,
                    unsigned high, cudaStream_t stream);

/** A run is a longest sequence of equal neighbours in in[n]. values, lengths: of each run, in their
 *  order; *runs, on the device, how many. */
cudaError_t run_lengths(unsigned *values, unsigned *lengths, unsigned *runs, const unsigned *in,
                        size_t n, cudaStream_t stream);

/** out = the n pairs of keys and values by rising key; pairs of equal keys stay in their order. */
cudaError_t sort_pairs(unsigned *out_keys, unsigned *out_values, const unsigned *keys,
                       const unsigned *values, size_t n, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif

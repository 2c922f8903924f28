/*
 * 507_pooling_nhwc.cuh: the largest of 3 x 3 pixels, and the mean of an image, where the channels
 * of a pixel are neighbours.
 *
 * In NHWC pooling is the same for all channels: a thread takes 16 bytes of them, 8 halfs or
 * 4 floats, and neighbours take the next 16. In NCHW (310) neighbouring windows overlap, and lanes
 * read two floats apart: half of each sector for nothing.
 */
#ifndef POOLING_NHWC_CUH
#define POOLING_NHWC_CUH

#include "507_tensor_core.cuh"
#include <math.h>

/* TODO: maxpool_kernel: 3 x 3, stride 2, padding 1; a thread per 16 bytes of y. NaN is larger
   than any number (about 30 lines). */

#define MEAN_CHUNKS 8  /* of 16 bytes: what a block takes of each pixel */
#define MEAN_GROUPS 16 /* the threads that share a chunk, every 16th pixel for each */

/* TODO: mean_kernel: blockIdx.x is the image, blockIdx.y a group of chunks; the sums of the
   groups meet in shared memory, and are added in the same order always (about 30 lines). */

#endif

/*
 * 507_pooling_nhwc.cuh: the largest of 3 x 3 pixels, and the mean of an image, where the channels
 * of a pixel are neighbours.
 *
 * In NHWC pooling is the same for all channels: a thread takes 16 bytes of them, 8 halfs or
 * 4 floats, and neighbours take the next 16. In NCHW (310) neighbouring windows overlap, and lanes
 * read two floats apart: half of each sector for nothing.
 *
 * All of this file is given.
 */
#ifndef POOLING_NHWC_CUH
#define POOLING_NHWC_CUH

#include "507_early.cuh"
#include "507_tensor_core.cuh"
#include <math.h>

/* 3 x 3, stride 2, padding 1; a thread per 16 bytes of y. NaN is larger than any number. */
template <typename E>
__global__ static void maxpool_kernel(uint4 *y, const uint4 *x, int in_side, int side, int chunks,
                                      int count)
{
    enum { WIDTH = WIDTH_OF(E) };
    const E *type = NULL;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const int pixel = i / chunks, line = pixel / side, image = line / side;
    const int top = (line - image * side) * 2 - 1, left = (pixel - line * side) * 2 - 1;
    x += (size_t)image * in_side * in_side * chunks + (i - pixel * chunks);
    float largest[WIDTH], value[WIDTH];
    for (int e = 0; e < WIDTH; e++) largest[e] = -INFINITY;
#pragma unroll
    for (int tap = 0; tap < 9; tap++) {
        const int row = top + tap / 3, col = left + tap % 3;
        if (row < 0 || row >= in_side || col < 0 || col >= in_side) continue;
        unpack(value, x[(size_t)(row * in_side + col) * chunks], type);
#pragma unroll
        for (int e = 0; e < WIDTH; e++) {
            if (value[e] > largest[e] || isnan(value[e])) largest[e] = value[e];
        }
    }
    y[i] = pack(largest, type);
}

#define MEAN_CHUNKS 8  /* of 16 bytes: what a block takes of each pixel */
#define MEAN_GROUPS 16 /* the threads that share a chunk, every 16th pixel for each */

/* blockIdx.x is a group of chunks, blockIdx.y the image; the sums of the groups meet in shared
 * memory, and are always added in the same order. */
template <typename E>
__global__ static void mean_kernel(uint4 *y, const uint4 *x, int pixels, int chunks)
{
    enum { WIDTH = WIDTH_OF(E) };
    __shared__ float sums[MEAN_GROUPS][MEAN_CHUNKS][WIDTH];
    const E *type = NULL;
    const int chunk = threadIdx.x % MEAN_CHUNKS, group = threadIdx.x / MEAN_CHUNKS;
    const int at = blockIdx.x * MEAN_CHUNKS + chunk;
    x += (size_t)blockIdx.y * pixels * chunks + at;
    float sum[WIDTH] = {}, value[WIDTH];
    let_next_start();
    wait_for_kernel_before();
    for (int p = group; p < pixels; p += MEAN_GROUPS) {
        unpack(value, x[(size_t)p * chunks], type);
#pragma unroll
        for (int e = 0; e < WIDTH; e++) sum[e] += value[e];
    }
#pragma unroll
    for (int e = 0; e < WIDTH; e++) sums[group][chunk][e] = sum[e];
    __syncthreads(); /* all groups have left their sums */
    if (group != 0) return;
    for (int g = 1; g < MEAN_GROUPS; g++) {
#pragma unroll
        for (int e = 0; e < WIDTH; e++) sum[e] += sums[g][chunk][e];
    }
#pragma unroll
    for (int e = 0; e < WIDTH; e++) sum[e] /= pixels;
    y[(size_t)blockIdx.y * chunks + at] = pack(sum, type);
}

#endif

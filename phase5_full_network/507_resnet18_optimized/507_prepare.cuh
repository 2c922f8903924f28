/*
 * 507_prepare.cuh: images and weights as the tensor cores want them.
 *
 * Images come as NCHW floats. They leave as NHWC with 4 channels, the last one 0, inside a frame of
 * zeros: then a row of conv1's window, 7 pixels and one more whose weights are 0, is one stretch of
 * 32 elements that begins at a multiple of 16 bytes, and nobody has to ask where the image ends.
 *
 * Weights are folded with their batch normalization (309) and turned to [filter][r][s][channel],
 * padded with zeros to whole tiles: filters to a multiple of 128, channels and taps of conv1 as
 * above. This is done once; every forward pass saves the normalization.
 */
#ifndef PREPARE_CUH
#define PREPARE_CUH

#include "507_tensor_core.cuh"

#define STEM_CHANNELS 4 /* of a pixel */
#define STEM_TAPS     8 /* of a row of conv1's window */
#define FILTER_BLOCK  128

/* TODO: to_element: a float as the element of a precision, rounded (about 12 lines). */

/** Pixels a side of an image in its frame: the last window and its 8th tap end there. It is even.
 */
static inline int framed_side(int size)
{
    const int windows = resnet18_out_size(size, 7, 2, 3);
    return 2 * (windows - 1) + STEM_TAPS;
}

/* TODO: frame_kernel: a thread per framed pixel; the image begins at (3, 3) (about 20 lines).
 */

/** The arrays of one layer, and its shape before and after padding. */
typedef struct filters {
    const float *w;                         /* [filters x channels x kernel x kernel] */
    const float *gamma, *beta, *mean, *var; /* [filters]; only beta where nothing is folded */
    int filters, channels, kernel;
    int row, pixel; /* taps of a packed row, elements of a tap */
    int packed;     /* elements of a packed filter */
} filters;

/* TODO: pack_kernel: a block per packed filter (about 25 lines). */

#endif

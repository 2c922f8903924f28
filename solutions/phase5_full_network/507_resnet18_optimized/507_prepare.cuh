/*
 * 507_prepare.cuh: images and weights in the layout that the tensor cores need.
 *
 * Images come as NCHW floats. They leave as NHWC with 4 channels, the last one 0, inside a frame of
 * zeros: then a row of conv1's window, 7 pixels and one more whose weights are 0, is one stretch of
 * 32 elements that begins at a multiple of 16 bytes, and no thread has to test where the image
 * ends.
 *
 * Weights are folded with their batch normalization (309) and turned to [filter][r][s][channel],
 * padded with zeros to whole tiles: filters to a multiple of 128, channels and taps of conv1 as
 * above. This is done once; every forward pass saves the normalization.
 *
 * All but pack_kernel is given.
 */
#ifndef PREPARE_CUH
#define PREPARE_CUH

#include "507_tensor_core.cuh"

#define STEM_CHANNELS 4 /* of a pixel */
#define STEM_TAPS     8 /* of a row of conv1's window */
#define FILTER_BLOCK  128

/* A float as the element of a precision, rounded. */
template <resnet18_precision P>
__device__ static typename element_of<P>::type to_element(float value);

template <> __device__ __half to_element<RESNET18_FP16>(float value)
{
    return __float2half_rn(value);
}
template <> __device__ float to_element<RESNET18_TF32>(float value)
{
    return __uint_as_float(to_tf32(__float_as_uint(value)));
}
template <> __device__ float to_element<RESNET18_FP32>(float value)
{
    return value;
}

/** Pixels a side of an image in its frame: the last window and its 8th tap end there. It is even.
 */
static inline int framed_side(int size)
{
    const int windows = resnet18_out_size(size, 7, 2, 3);
    return 2 * (windows - 1) + STEM_TAPS;
}

/* A thread per framed pixel; the image begins at (3, 3). */
template <resnet18_precision P>
__global__ static void frame_kernel(typename element_of<P>::type *framed, const float *x, int size,
                                    int side, int pixels)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pixels) return;
    const int line = i / side, image = line / side;
    const int row = line - image * side - 3, col = i - line * side - 3;
    const bool inside = row >= 0 && row < size && col >= 0 && col < size;
    const float *from = x + ((size_t)image * 3 * size + row) * size + col;
    alignas(16) typename element_of<P>::type pixel[STEM_CHANNELS];
    for (int c = 0; c < STEM_CHANNELS; c++) {
        pixel[c] = to_element<P>(inside && c < 3 ? from[(size_t)c * size * size] : 0.0f);
    }
    if (sizeof pixel == 16)
        ((uint4 *)framed)[i] = *(const uint4 *)pixel;
    else
        ((uint2 *)framed)[i] = *(const uint2 *)pixel;
}

/** The arrays of one layer, and its shape before and after padding. */
typedef struct filters {
    const float *w;                         /* [filters x channels x kernel x kernel] */
    const float *gamma, *beta, *mean, *var; /* [filters]; only beta where nothing is folded */
    int filters, channels, kernel;
    int row, pixel; /* taps of a packed row, elements of a tap */
    int packed;     /* elements of a packed filter */
} filters;

/** Fold and pack, a block per packed filter, of which those from f.filters on are zeros.
 *  @param packed [blocks x f.packed]: tap after tap, f.pixel elements each, rows of f.row taps
 *  @param bias   [blocks] */
template <resnet18_precision P>
__global__ static void pack_kernel(typename element_of<P>::type *packed, float *bias, filters f)
{
    /* SOLUTION: the normalization of a filter is scale = gamma / sqrt(var + eps) and shift = beta -
       scale mean; without a gamma scale is 1, and beta the bias. Then each element of the filter:
       its channel, and its row r and column s of the window; to_element of the weight times scale,
       or 0 where there is no such channel or tap (about 15 lines). */
    const int n = blockIdx.x;
    const bool real = n < f.filters;
    float scale = 1.0f, shift = real ? f.beta[n] : 0.0f;
    if (real && f.gamma != NULL) {
        scale = f.gamma[n] / sqrtf(f.var[n] + RESNET18_BN_EPS);
        shift -= f.mean[n] * scale;
    }
    if (threadIdx.x == 0) bias[n] = shift;
    for (int i = threadIdx.x; i < f.packed; i += blockDim.x) {
        const int channel = i % f.pixel, tap = i / f.pixel, s = tap % f.row, r = tap / f.row;
        const bool inside = real && channel < f.channels && s < f.kernel && r < f.kernel;
        const size_t from = (((size_t)n * f.channels + channel) * f.kernel + r) * f.kernel + s;
        packed[(size_t)n * f.packed + i] = to_element<P>(inside ? f.w[from] * scale : 0.0f);
    }
    /* END SOLUTION */
}

#endif

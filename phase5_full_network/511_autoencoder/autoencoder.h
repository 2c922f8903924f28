/*
 * autoencoder.h: the contract of exercise 511, the SpectralShapeAutoencoder, and the layout of its
 * parameters. The conventions are in network.h.
 *
 * A frame is SAE_INPUTS numbers of a spectrum, split into SAE_SLICES slices of SAE_SLICE.
 *
 *     x      [320]  each slice layer-normalized, with its own gamma and beta
 *     hidden [160]  dense, GELU (tanh form)
 *     latent [32]   dense, layer-normalized
 *     hidden [160]  dense, GELU
 *     y      [320]  dense
 *
 * A dense layer is x * w^T + bias, w [out x in]. Variances divide by the count, and SAE_EPS is
 * added to them under the root.
 *
 * All parameters are one array of SAE_PARAMS floats; each constant below says where a part begins.
 * Every part begins at a multiple of four floats.
 */
#ifndef COURSE_AUTOENCODER_H
#define COURSE_AUTOENCODER_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#define SAE_INPUTS 320
#define SAE_SLICES 5
#define SAE_SLICE  (SAE_INPUTS / SAE_SLICES)
#define SAE_HIDDEN 160
#define SAE_LATENT 32
#define SAE_EPS    1e-5f

#define SAE_GAMMA1 0                                  /* [SAE_SLICES x SAE_SLICE] */
#define SAE_BETA1  (SAE_GAMMA1 + SAE_INPUTS)          /* [SAE_SLICES x SAE_SLICE] */
#define SAE_W1     (SAE_BETA1 + SAE_INPUTS)           /* [SAE_HIDDEN x SAE_INPUTS] */
#define SAE_BIAS1  (SAE_W1 + SAE_HIDDEN * SAE_INPUTS) /* [SAE_HIDDEN] */
#define SAE_W2     (SAE_BIAS1 + SAE_HIDDEN)           /* [SAE_LATENT x SAE_HIDDEN] */
#define SAE_BIAS2  (SAE_W2 + SAE_LATENT * SAE_HIDDEN) /* [SAE_LATENT] */
#define SAE_GAMMA2 (SAE_BIAS2 + SAE_LATENT)           /* [SAE_LATENT] */
#define SAE_BETA2  (SAE_GAMMA2 + SAE_LATENT)          /* [SAE_LATENT] */
#define SAE_W3     (SAE_BETA2 + SAE_LATENT)           /* [SAE_HIDDEN x SAE_LATENT] */
#define SAE_BIAS3  (SAE_W3 + SAE_HIDDEN * SAE_LATENT) /* [SAE_HIDDEN] */
#define SAE_W4     (SAE_BIAS3 + SAE_HIDDEN)           /* [SAE_INPUTS x SAE_HIDDEN] */
#define SAE_BIAS4  (SAE_W4 + SAE_INPUTS * SAE_HIDDEN) /* [SAE_INPUTS] */
#define SAE_PARAMS (SAE_BIAS4 + SAE_INPUTS)

/** Floats of scratch per frame in the layerwise forward pass. */
#define SAE_SCRATCH (2 * SAE_INPUTS + 2)

/** Optimizations of the fused kernel. Each can be switched off by itself. */
enum sae_option {
    SAE_WARP_SUMS = 1,    /**< layer norms sum by shuffles; off: through shared memory */
    SAE_UNROLL = 2,       /**< the loops of products are unrolled; off: one step per round */
    SAE_VECTORS = 4,      /**< 16 bytes per load; off: 4 */
    SAE_FAST_GELU = 8,    /**< tanh.approx.f32, 11 bits; off: tanhf */
    SAE_MANY_FRAMES = 16, /**< several frames per block if the batch has enough; off: one */
    SAE_PREFETCH = 32,    /**< weights are prefetched, one barrier per tile; off: not, and two */
    SAE_ALL = 63,
};

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The autoencoder, layer by layer: values between two layers go through memory. A frame's numbers
 * depend on no other frame. A batch of 0 does nothing.
 * @param y       [batch x SAE_INPUTS]
 * @param latent  [batch x SAE_LATENT]
 * @param x       [batch x SAE_INPUTS]
 * @param params  [SAE_PARAMS]
 * @param scratch [batch x SAE_SCRATCH], overwritten
 */
cudaError_t sae_forward(float *y, float *latent, const float *x, const float *params,
                        float *scratch, int batch, cudaStream_t stream);
/**
 * The same in one launch, without memory for the values between layers.
 * @param options SAE_ALL without the options that are switched off. Unknown options give
 *                cudaErrorInvalidValue. Without SAE_FAST_GELU the numbers are as accurate as fp32.
 */
cudaError_t sae_forward_fused(float *y, float *latent, const float *x, const float *params,
                              int batch, int options, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif

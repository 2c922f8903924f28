/*
 * The frozen baseline of 511: the layers one by one, each a launch or two, a thread per output.
 * It has memory of its own for what lies between the layers: 64 MB, which its first call allocates.
 */
#include "511_autoencoder/autoencoder.h"

#include <cuda_runtime_api.h>
#include <stddef.h>

/* A thread per row, which begins every `width` floats; gamma and beta come round every `cycle`
 * rows. */
__global__ static void norm_kernel(float *y, const float *x, const float *gamma, const float *beta,
                                   size_t rows, int width, int cycle)
{
    size_t row = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    x += row * width, y += row * width;
    gamma += row % cycle * width, beta += row % cycle * width;
    float mean = 0.0f, squares = 0.0f;
    for (int i = 0; i < width; i++) mean += x[i] / width;
    for (int i = 0; i < width; i++) squares += (x[i] - mean) * (x[i] - mean);
    float rstd = 1.0f / sqrtf(squares / width + SAE_EPS);
    for (int i = 0; i < width; i++) y[i] = (x[i] - mean) * rstd * gamma[i] + beta[i];
}

/* A warp has 32 frames and one output: each weight is one load for all of them. */
__global__ static void dense_kernel(float *y, const float *x, const float *w, const float *bias,
                                    size_t rows, int in, int out)
{
    size_t row = (size_t)blockIdx.x * 32 + threadIdx.x;
    int o = blockIdx.y * 8 + threadIdx.y;
    if (row >= rows || o >= out) return;
    float sum = bias[o];
    for (int i = 0; i < in; i++) sum += x[row * in + i] * w[(size_t)o * in + i];
    y[row * out + o] = sum;
}

__global__ static void gelu_kernel(float *x, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    x[i] = 0.5f * v * (1.0f + tanhf(0.7978845608f * (v + 0.044715f * v * v * v)));
}

static void norm(float *y, const float *x, const float *gamma, const float *beta, size_t rows,
                 int width, int cycle, cudaStream_t stream)
{
    norm_kernel<<<(unsigned)((rows + 127) / 128), 128, 0, stream>>>(y, x, gamma, beta, rows, width,
                                                                    cycle);
}

static void dense(float *y, const float *x, const float *w, const float *bias, size_t rows, int in,
                  int out, cudaStream_t stream)
{
    dim3 grid((unsigned)((rows + 31) / 32), (out + 7) / 8);
    dense_kernel<<<grid, dim3(32, 8), 0, stream>>>(y, x, w, bias, rows, in, out);
}

static void gelu(float *x, size_t n, cudaStream_t stream)
{
    gelu_kernel<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(x, n);
}

#define FRAMES 65536

extern "C" cudaError_t baseline_sae_layers(float *y, float *latent, const float *x,
                                           const float *params, int batch, int options,
                                           cudaStream_t stream)
{
    static float *hidden; /* [FRAMES x SAE_HIDDEN] */
    const float *p = params;
    size_t rows = (size_t)batch;
    (void)options;
    if (batch < 1 || batch > FRAMES) return cudaErrorInvalidValue;
    if (hidden == NULL) {
        cudaError_t error = cudaMalloc((void **)&hidden, sizeof(float) * FRAMES * SAE_HIDDEN);
        if (error != cudaSuccess) return error;
    }
    norm(y, x, p + SAE_GAMMA1, p + SAE_BETA1, rows * SAE_SLICES, SAE_SLICE, SAE_SLICES, stream);
    dense(hidden, y, p + SAE_W1, p + SAE_BIAS1, rows, SAE_INPUTS, SAE_HIDDEN, stream);
    gelu(hidden, rows * SAE_HIDDEN, stream);
    dense(y, hidden, p + SAE_W2, p + SAE_BIAS2, rows, SAE_HIDDEN, SAE_LATENT, stream);
    norm(latent, y, p + SAE_GAMMA2, p + SAE_BETA2, rows, SAE_LATENT, 1, stream);
    dense(hidden, latent, p + SAE_W3, p + SAE_BIAS3, rows, SAE_LATENT, SAE_HIDDEN, stream);
    gelu(hidden, rows * SAE_HIDDEN, stream);
    dense(y, hidden, p + SAE_W4, p + SAE_BIAS4, rows, SAE_HIDDEN, SAE_INPUTS, stream);
    return cudaGetLastError();
}

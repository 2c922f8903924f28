// RIGHT: a thread per output, which walks along its row of weights; slices by cudaMemcpy2DAsync | nvcc
#include "301_activations/activations.h"
#include "303_linear/linear.h"
#include "311_layernorm/layernorm.h"
#include "511_autoencoder/autoencoder.h"

#define MOST    16 /* frames of a block */
#define THREADS 320

static void move(float *to, size_t to_row, const float *from, size_t from_row, int batch,
                 cudaStream_t stream)
{
    cudaMemcpy2DAsync(to, to_row * sizeof(float), from, from_row * sizeof(float),
                      SAE_SLICE * sizeof(float), batch, cudaMemcpyDeviceToDevice, stream);
}

extern "C" cudaError_t sae_forward(float *y, float *latent, const float *x, const float *params,
                                   float *scratch, int batch, cudaStream_t stream)
{
    if (batch == 0) return cudaSuccess;
    const size_t n = batch;
    float *normed = scratch, *slice = normed + n * SAE_INPUTS, *out = slice + n * SAE_SLICE;
    float *mean = scratch + 2 * n * SAE_INPUTS, *rstd = mean + n, *hidden = slice;
    for (int k = 0; k < SAE_INPUTS; k += SAE_SLICE) {
        move(slice, SAE_SLICE, x + k, SAE_INPUTS, batch, stream);
        layernorm_forward(out, mean, rstd, slice, params + SAE_GAMMA1 + k, params + SAE_BETA1 + k,
                          batch, SAE_SLICE, SAE_EPS, stream);
        move(normed + k, SAE_INPUTS, out, SAE_SLICE, batch, stream);
    }
    linear_forward(hidden, normed, params + SAE_W1, params + SAE_BIAS1, batch, SAE_INPUTS,
                   SAE_HIDDEN, stream);
    gelu_forward(hidden, hidden, n * SAE_HIDDEN, stream);
    linear_forward(normed, hidden, params + SAE_W2, params + SAE_BIAS2, batch, SAE_HIDDEN,
                   SAE_LATENT, stream);
    layernorm_forward(latent, mean, rstd, normed, params + SAE_GAMMA2, params + SAE_BETA2, batch,
                      SAE_LATENT, SAE_EPS, stream);
    linear_forward(hidden, latent, params + SAE_W3, params + SAE_BIAS3, batch, SAE_LATENT,
                   SAE_HIDDEN, stream);
    gelu_forward(hidden, hidden, n * SAE_HIDDEN, stream);
    linear_forward(y, hidden, params + SAE_W4, params + SAE_BIAS4, batch, SAE_HIDDEN, SAE_INPUTS,
                   stream);
    return cudaGetLastError();
}

__device__ static float total(float v, int options)
{
    __shared__ float lanes[THREADS];
    if (options & SAE_WARP_SUMS) {
        for (int d = 1; d < 32; d *= 2) v += __shfl_xor_sync(~0u, v, d);
        return v;
    }
    lanes[threadIdx.x] = v;
    __syncwarp();
    float sum = 0;
    for (int i = 0; i < 32; i++) sum += lanes[(threadIdx.x & ~31) + i];
    __syncwarp();
    return sum;
}

/* Rows of 64 or 32 in shared memory, a warp each. Row r has gamma and beta of r % cycle. */
__device__ static void norm(float *rows, int count, int width, const float *gamma,
                            const float *beta, int cycle, int options)
{
    const int lane = threadIdx.x % 32;
    for (int r = threadIdx.x / 32; r < count; r += THREADS / 32) {
        float *row = rows + r * width;
        const int at = r % cycle * width, second = width > 32 ? lane + 32 : lane;
        const float a = row[lane], b = row[second];
        const float m = total(width > 32 ? a + b : a, options) / width;
        const float squares =
            width > 32 ? (a - m) * (a - m) + (b - m) * (b - m) : (a - m) * (a - m);
        const float s = 1 / sqrtf(total(squares, options) / width + SAE_EPS);
        row[lane] = (a - m) * s * gamma[at + lane] + beta[at + lane];
        if (width > 32) row[second] = (b - m) * s * gamma[at + second] + beta[at + second];
    }
}

template <bool VECTORS, bool UNROLL>
__device__ static void dense(float *out, const float *in, const float *w, const float *bias,
                             int frames, int width, int outs, int gelu, int options)
{
    constexpr int TIMES = UNROLL ? 2 : 1;
    const int o = threadIdx.x;
    if (o >= outs) return;
    float sums[MOST];
    for (int f = 0; f < MOST; f++) sums[f] = bias[o];
    w += o * width;
#pragma unroll TIMES
    for (int k = 0; k < width; k += 4) {
        float4 v;
        if constexpr (VECTORS)
            v = *(const float4 *)(w + k);
        else
            v = make_float4(w[k], w[k + 1], w[k + 2], w[k + 3]);
        for (int f = 0; f < MOST; f++) {
            if (f >= frames) break;
            const float *a = in + f * width + k;
            sums[f] += v.x * a[0] + v.y * a[1] + v.z * a[2] + v.w * a[3];
        }
    }
    for (int f = 0; f < MOST; f++) {
        if (f >= frames) break;
        float v = sums[f], t;
        const float u = 0.7978845608f * (v + 0.044715f * v * v * v);
        if (options & SAE_FAST_GELU)
            asm("tanh.approx.f32 %0, %1;" : "=f"(t) : "f"(u));
        else
            t = tanhf(u);
        out[f * outs + o] = gelu ? 0.5f * v * (1 + t) : v;
    }
}

template <bool VECTORS, bool UNROLL>
__global__ static void autoencoder(float *y, float *latent, const float *x, const float *p,
                                   int batch, int most, int options)
{
    __shared__ float a[MOST * SAE_INPUTS], b[MOST * SAE_HIDDEN], c[MOST * SAE_LATENT];
    const size_t first = (size_t)blockIdx.x * most;
    const int frames = batch - first < most ? int(batch - first) : most, t = threadIdx.x;
    for (int i = t; i < frames * SAE_INPUTS; i += THREADS) a[i] = x[first * SAE_INPUTS + i];
    __syncthreads();
    norm(a, frames * SAE_SLICES, SAE_SLICE, p + SAE_GAMMA1, p + SAE_BETA1, SAE_SLICES, options);
    __syncthreads();
    dense<VECTORS, UNROLL>(b, a, p + SAE_W1, p + SAE_BIAS1, frames, SAE_INPUTS, SAE_HIDDEN, 1,
                           options);
    __syncthreads();
    dense<VECTORS, UNROLL>(c, b, p + SAE_W2, p + SAE_BIAS2, frames, SAE_HIDDEN, SAE_LATENT, 0,
                           options);
    __syncthreads();
    norm(c, frames, SAE_LATENT, p + SAE_GAMMA2, p + SAE_BETA2, 1, options);
    __syncthreads();
    for (int i = t; i < frames * SAE_LATENT; i += THREADS) latent[first * SAE_LATENT + i] = c[i];
    dense<VECTORS, UNROLL>(b, c, p + SAE_W3, p + SAE_BIAS3, frames, SAE_LATENT, SAE_HIDDEN, 1,
                           options);
    __syncthreads();
    dense<VECTORS, UNROLL>(a, b, p + SAE_W4, p + SAE_BIAS4, frames, SAE_HIDDEN, SAE_INPUTS, 0,
                           options);
    __syncthreads();
    for (int i = t; i < frames * SAE_INPUTS; i += THREADS) y[first * SAE_INPUTS + i] = a[i];
}

extern "C" cudaError_t sae_forward_fused(float *y, float *latent, const float *x,
                                         const float *params, int batch, int options,
                                         cudaStream_t stream)
{
    if (options < 0 || options > SAE_ALL) return cudaErrorInvalidValue;
    if (batch == 0) return cudaSuccess;
    const int most = options & SAE_MANY_FRAMES ? MOST : 1;
    const bool wide = options & SAE_VECTORS && (size_t)params % 16 == 0;
    const bool unroll = options & SAE_UNROLL;
    (wide     ? unroll ? autoencoder<true, true> : autoencoder<true, false>
         : unroll ? autoencoder<false, true>
              : autoencoder<false, false>)<<<(batch - 1) / most + 1, THREADS, 0, stream>>>(
        y, latent, x, params, batch, most, options);
    return cudaGetLastError();
}

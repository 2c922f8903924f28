// RIGHT: a warp per output, its lanes side by side along a row; slices moved by a kernel per slice
#include "301_activations/activations.h"
#include "303_linear/linear.h"
#include "311_layernorm/layernorm.h"
#include "511_autoencoder/autoencoder.h"

enum { KEPT = 12, WARP_COUNT = 16 };

/* One slice of every frame, out of the frames or into them. */
__global__ static void carry(float *frames, float *slice, bool out_of, size_t numbers)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= numbers) return;
    float *there = &frames[i / SAE_SLICE * SAE_INPUTS + i % SAE_SLICE];
    if (out_of)
        slice[i] = *there;
    else
        *there = slice[i];
}

#define TRY(call)                                                                                  \
    if (cudaError_t e = (call)) return e

extern "C" cudaError_t sae_forward(float *y, float *latent, const float *x, const float *params,
                                   float *scratch, int batch, cudaStream_t stream)
{
    const size_t numbers = (size_t)batch * SAE_SLICE;
    if (numbers == 0) return cudaSuccess;
    const unsigned blocks = (numbers - 1) / 128 + 1;
    float *one = scratch, *two = one + 2 * numbers, *all = scratch + SAE_SLICES * numbers;
    float *mean = scratch + 2 * SAE_SLICES * numbers;
    for (int s = 0; s < SAE_SLICES; s++) {
        const int at = s * SAE_SLICE;
        carry<<<blocks, 128, 0, stream>>>((float *)x + at, one, true, numbers);
        TRY(layernorm_forward(two, mean, mean + batch, one, params + SAE_GAMMA1 + at,
                              params + SAE_BETA1 + at, batch, SAE_SLICE, SAE_EPS, stream));
        carry<<<blocks, 128, 0, stream>>>(all + at, two, false, numbers);
    }
    TRY(linear_forward(one, all, params + SAE_W1, params + SAE_BIAS1, batch, 320, 160, stream));
    TRY(gelu_forward(all, one, (size_t)batch * 160, stream));
    TRY(linear_forward(one, all, params + SAE_W2, params + SAE_BIAS2, batch, 160, 32, stream));
    TRY(layernorm_forward(latent, mean, mean + batch, one, params + SAE_GAMMA2, params + SAE_BETA2,
                          batch, 32, SAE_EPS, stream));
    TRY(linear_forward(one, latent, params + SAE_W3, params + SAE_BIAS3, batch, 32, 160, stream));
    TRY(gelu_forward(all, one, (size_t)batch * 160, stream));
    return linear_forward(y, all, params + SAE_W4, params + SAE_BIAS4, batch, 160, 320, stream);
}

struct block {
    float from[KEPT][SAE_INPUTS], to[KEPT][SAE_INPUTS], parts[WARP_COUNT][32];
    int frames, options;
};

__device__ static float reduce(block *b, float value)
{
    const int lane = threadIdx.x, warp = threadIdx.y;
    if (b->options & SAE_WARP_SUMS) {
        for (int step = 16; step; step >>= 1) value += __shfl_xor_sync(0xffffffff, value, step);
        return value;
    }
    b->parts[warp][lane] = value;
    __syncwarp();
    for (int step = 1; step < 32; step++) value += b->parts[warp][lane ^ step];
    __syncwarp();
    return value;
}

/* from = layer norm of stretches of `width` */
__device__ static void normalize(block *b, int stretches, int width, const float *gamma,
                                 const float *beta)
{
    for (int job = threadIdx.y; job < b->frames * stretches; job += WARP_COUNT) {
        const int begin = job % stretches * width;
        float *v = b->from[job / stretches] + begin, sum = 0, var = 0;
        for (int i = threadIdx.x; i < width; i += 32) sum += v[i];
        sum = reduce(b, sum) / width;
        for (int i = threadIdx.x; i < width; i += 32) var += (v[i] - sum) * (v[i] - sum);
        var = 1.0f / sqrtf(reduce(b, var) / width + SAE_EPS);
        for (int i = threadIdx.x; i < width; i += 32)
            v[i] = (v[i] - sum) * var * gamma[begin + i] + beta[begin + i];
    }
    __syncthreads();
}

__device__ static float gelu_of(float v, int options)
{
    float inside = 0.7978845608f * v * (1 + 0.044715f * v * v), t;
    if (!(options & SAE_FAST_GELU)) return 0.5f * v + 0.5f * v * tanhf(inside);
    asm("tanh.approx.f32 %0, %1;" : "=f"(t) : "f"(inside));
    return 0.5f * v + 0.5f * v * t;
}

/* from = layer of from */
template <bool WIDE, bool LONG>
__device__ static void layer(block *b, const float *w, const float *bias, int in, int out,
                             bool gelu)
{
    constexpr int TIMES = LONG ? 2 : 1;
    for (int o = threadIdx.y; o < out; o += WARP_COUNT) {
        float sums[KEPT] = {0};
        const float *row = w + o * in;
#pragma unroll TIMES
        for (int i = threadIdx.x * (WIDE ? 4 : 1); i < in; i += WIDE ? 128 : 32) {
            if constexpr (WIDE) {
                const float4 four = *(const float4 *)(row + i);
                for (int f = 0; f < KEPT; f++)
                    sums[f] += four.x * b->from[f][i] + four.y * b->from[f][i + 1] +
                               four.z * b->from[f][i + 2] + four.w * b->from[f][i + 3];
            } else {
                for (int f = 0; f < KEPT; f++) sums[f] += row[i] * b->from[f][i];
            }
        }
        for (int f = 0; f < KEPT; f++) {
            for (int step = 16; step; step >>= 1)
                sums[f] += __shfl_xor_sync(0xffffffff, sums[f], step);
            const float v = sums[f] + bias[o];
            if (threadIdx.x == 0) b->to[f][o] = gelu ? gelu_of(v, b->options) : v;
        }
    }
    __syncthreads();
    for (int f = threadIdx.y; f < KEPT; f += WARP_COUNT)
        for (int i = threadIdx.x; i < out; i += 32) b->from[f][i] = b->to[f][i];
    __syncthreads();
}

template <bool WIDE, bool LONG>
__global__ static void whole(float *y, float *latent, const float *x, const float *p, int batch,
                             int kept, int options)
{
    __shared__ block b;
    const size_t first = (size_t)blockIdx.x * kept;
    const int left = batch - (int)first, frames = left < kept ? left : kept;
    if (threadIdx.x == 0 && threadIdx.y == 0) b.frames = frames, b.options = options;
    for (int f = threadIdx.y; f < KEPT; f += WARP_COUNT)
        for (int i = threadIdx.x; i < SAE_INPUTS; i += 32)
            b.from[f][i] = f < frames ? x[(first + f) * SAE_INPUTS + i] : 0;
    __syncthreads();
    normalize(&b, SAE_SLICES, SAE_SLICE, p + SAE_GAMMA1, p + SAE_BETA1);
    layer<WIDE, LONG>(&b, p + SAE_W1, p + SAE_BIAS1, SAE_INPUTS, SAE_HIDDEN, true);
    layer<WIDE, LONG>(&b, p + SAE_W2, p + SAE_BIAS2, SAE_HIDDEN, SAE_LATENT, false);
    normalize(&b, 1, SAE_LATENT, p + SAE_GAMMA2, p + SAE_BETA2);
    for (int f = threadIdx.y; f < frames; f += WARP_COUNT)
        latent[(first + f) * SAE_LATENT + threadIdx.x] = b.from[f][threadIdx.x];
    __syncthreads();
    layer<WIDE, LONG>(&b, p + SAE_W3, p + SAE_BIAS3, SAE_LATENT, SAE_HIDDEN, true);
    layer<WIDE, LONG>(&b, p + SAE_W4, p + SAE_BIAS4, SAE_HIDDEN, SAE_INPUTS, false);
    for (int f = threadIdx.y; f < frames; f += WARP_COUNT)
        for (int i = threadIdx.x; i < SAE_INPUTS; i += 32)
            y[(first + f) * SAE_INPUTS + i] = b.from[f][i];
}

extern "C" cudaError_t sae_forward_fused(float *y, float *latent, const float *x,
                                         const float *params, int batch, int options,
                                         cudaStream_t stream)
{
    if (options & ~SAE_ALL) return cudaErrorInvalidValue;
    if (batch == 0) return cudaSuccess;
    const int kept = options & SAE_MANY_FRAMES ? KEPT : 1, kind = options & SAE_UNROLL ? 1 : 0;
    const bool wide = options & SAE_VECTORS && ((size_t)params & 15) == 0;
    const dim3 grid((batch - 1) / kept + 1), threads(32, WARP_COUNT);
    if (wide && kind)
        whole<true, true><<<grid, threads, 0, stream>>>(y, latent, x, params, batch, kept, options);
    if (wide && !kind)
        whole<true, false>
            <<<grid, threads, 0, stream>>>(y, latent, x, params, batch, kept, options);
    if (!wide && kind)
        whole<false, true>
            <<<grid, threads, 0, stream>>>(y, latent, x, params, batch, kept, options);
    if (!wide && !kind)
        whole<false, false>
            <<<grid, threads, 0, stream>>>(y, latent, x, params, batch, kept, options);
    return cudaGetLastError();
}

// RIGHT: grid-stride, four parameters at a time where all arrays are aligned, formulas rearranged
#include "314_adam/adam.h"
#include <math.h>

typedef struct adam {
    float beta1, beta2, eps, decay, rate, unbias; /* decay = 1 - lr * weight_decay */
} adam;

__device__ static void update(float *p, float *m, float *v, float g, adam a)
{
    *m = fmaf(a.beta1, *m, (1.0f - a.beta1) * g);
    *v = fmaf(a.beta2, *v, (1.0f - a.beta2) * (g * g));
    *p = a.decay * *p - a.rate * *m / (sqrtf(*v) * a.unbias + a.eps);
}

__global__ static void vector_kernel(float4 *param, float4 *m, float4 *v, const float4 *grad,
                                     size_t n, adam a)
{
    size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        float4 pp = param[i], mm = m[i], vv = v[i], g = grad[i];
        update(&pp.x, &mm.x, &vv.x, g.x, a);
        update(&pp.y, &mm.y, &vv.y, g.y, a);
        update(&pp.z, &mm.z, &vv.z, g.z, a);
        update(&pp.w, &mm.w, &vv.w, g.w, a);
        param[i] = pp, m[i] = mm, v[i] = vv;
    }
}

__global__ static void scalar_kernel(float *param, float *m, float *v, const float *grad,
                                     size_t first, size_t n, adam a)
{
    size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = first + (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        update(param + i, m + i, v + i, grad[i], a);
}

static int aligned(const void *p)
{
    return (size_t)p % sizeof(float4) == 0;
}

cudaError_t adam_update(float *param, float *m, float *v, const float *grad, size_t n, float lr,
                        float beta1, float beta2, float eps, float weight_decay, int step,
                        cudaStream_t stream)
{
    double correction1 = 1.0 - pow((double)beta1, step),
           correction2 = 1.0 - pow((double)beta2, step);
    adam a = {beta1,
              beta2,
              eps,
              1.0f - lr * weight_decay,
              (float)(lr / correction1),
              (float)(1.0 / sqrt(correction2))};
    size_t fours = aligned(param) && aligned(m) && aligned(v) && aligned(grad) ? n / 4 : 0;
    if (fours > 0)
        vector_kernel<<<1024, 256, 0, stream>>>((float4 *)param, (float4 *)m, (float4 *)v,
                                                (const float4 *)grad, fours, a);
    if (4 * fours < n) scalar_kernel<<<1024, 256, 0, stream>>>(param, m, v, grad, 4 * fours, n, a);
    return cudaGetLastError();
}

/* ---- all groups in one launch: the grid's y is the group --------------------------------------*/

#define MOST 160

typedef struct pieces {
    unsigned long long begin[MOST], n[MOST];
    float decay[MOST];
} pieces;

__global__ static void pieces_kernel(float *param, float *m, float *v, const float *grad, pieces of,
                                     float lr, adam a)
{
    const int k = blockIdx.y;
    const size_t stride = (size_t)gridDim.x * blockDim.x, end = of.begin[k] + of.n[k];
    a.decay = 1.0f - lr * of.decay[k];
    for (size_t i = of.begin[k] + (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < end;
         i += stride)
        update(param + i, m + i, v + i, grad[i], a);
}

cudaError_t adam_update_groups(float *param, float *m, float *v, const float *grad,
                               const adam_group *groups, int count, float lr, float beta1,
                               float beta2, float eps, int step, cudaStream_t stream)
{
    const double correction1 = 1.0 - pow((double)beta1, step);
    const double correction2 = 1.0 - pow((double)beta2, step);
    const adam a = {
        beta1, beta2, eps, 1.0f, (float)(lr / correction1), (float)(1.0 / sqrt(correction2))};
    unsigned long long begin = 0;
    for (int done = 0; done < count; done += MOST) {
        const int now = count - done < MOST ? count - done : MOST;
        pieces of;
        for (int k = 0; k < MOST; k++) {
            of.begin[k] = begin;
            of.n[k] = k < now ? groups[done + k].n : 0;
            of.decay[k] = k < now ? groups[done + k].weight_decay : 0.0f;
            begin += of.n[k];
        }
        pieces_kernel<<<dim3(16, now), 128, 0, stream>>>(param, m, v, grad, of, lr, a);
    }
    return cudaGetLastError();
}

__global__ static void descent_kernel(float *param, float *velocity, const float *grad, size_t n,
                                      float lr, float momentum, float keep)
{
    const size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        velocity[i] = fmaf(momentum, velocity[i], fmaf(keep, param[i], grad[i]));
        param[i] = fmaf(-lr, velocity[i], param[i]);
    }
}

cudaError_t sgd_momentum(float *param, float *velocity, const float *grad, size_t n, float lr,
                         float momentum, float weight_decay, cudaStream_t stream)
{
    descent_kernel<<<256, 256, 0, stream>>>(param, velocity, grad, n, lr, momentum, weight_decay);
    return cudaGetLastError();
}

/* Each of 32 warps leaves a sum in memory of the stream, and every warp adds the 32 up. */
__global__ static void parts_kernel(double *part, const float *grad, size_t n)
{
    const size_t warp = blockIdx.x, share = (n + 31) / 32, begin = warp * share;
    double sum = 0.0;
    for (size_t i = begin + threadIdx.x; i < begin + share && i < n; i += 32) {
        sum = fma((double)grad[i], (double)grad[i], sum);
    }
    for (int d = 1; d < 32; d *= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (threadIdx.x == 0) part[warp] = sum;
}

__global__ static void clip_kernel(float *norm, float *grad, size_t n, const double *part,
                                   float max_norm)
{
    double sum = part[threadIdx.x % 32];
    for (int d = 1; d < 32; d *= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    const float length = (float)sqrt(sum);
    if (blockIdx.x == 0 && threadIdx.x == 0) *norm = length;
    if (!isfinite(length) || length <= max_norm) return;
    const size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        grad[i] = (float)(grad[i] * (max_norm / sqrt(sum)));
}

cudaError_t global_norm_clip(float *norm, float *grad, size_t n, float max_norm,
                             cudaStream_t stream)
{
    double *part;
    cudaError_t error = cudaMallocAsync((void **)&part, 32 * sizeof *part, stream);
    if (error != cudaSuccess) return error;
    parts_kernel<<<32, 32, 0, stream>>>(part, grad, n);
    clip_kernel<<<64, 128, 0, stream>>>(norm, grad, n, part, max_norm);
    error = cudaGetLastError();
    cudaFreeAsync(part, stream);
    return error;
}
